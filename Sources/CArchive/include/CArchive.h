#ifndef CARCHIVE_H
#define CARCHIVE_H

#include <archive.h>
#include <archive_entry.h>

// A file that an archive is read from.
struct CArchive_file;

// archive_read_open_filename(3) with a bound. libarchive reads a zip's whole list of members before it returns the
// first. Until CArchive_lift_bound is called it may read at most `most` bytes; CArchive_is_exhausted tells whether it
// wanted more. Returns NULL with errno. The file is closed and freed with the archive.
struct CArchive_file *CArchive_open(struct archive *archive, const char *path, long long most);

// Lets the archive read as much as it wants from now on.
void CArchive_lift_bound(struct CArchive_file *file);
int CArchive_is_exhausted(const struct CArchive_file *file);

/*
 * archive_read_next_header(3) with names in UTF-8, whatever the locale: the library has none for a member whose name does
 * not fit into the locale, not even as archive_entry_pathname_utf8. The locale is the calling thread's, for this call.
 */
int CArchive_next_header(struct archive *archive, struct archive_entry **entry);

#endif
