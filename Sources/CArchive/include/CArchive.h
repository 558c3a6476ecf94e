#ifndef CARCHIVE_H
#define CARCHIVE_H

#include <archive.h>
#include <archive_entry.h>

/*
 * archive_read_next_header(3) with names in UTF-8, whatever the locale: the library has none for a member whose name does
 * not fit into the locale, not even as archive_entry_pathname_utf8. The locale is the calling thread's, for this call.
 */
int CArchive_next_header(struct archive *archive, struct archive_entry **entry);

#endif
