#define _GNU_SOURCE
#include "CArchive.h"

#include <locale.h>

int CArchive_next_header(struct archive *archive, struct archive_entry **entry)
{
    locale_t names = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    locale_t before = names ? uselocale(names) : (locale_t)0;
    int result = archive_read_next_header(archive, entry);
    if (names) {
        uselocale(before);
        freelocale(names);
    }
    return result;
}
