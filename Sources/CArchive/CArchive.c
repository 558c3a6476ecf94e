#define _GNU_SOURCE
#include "CArchive.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <unistd.h>

struct CArchive_file {
    int descriptor, is_exhausted;
    long long left;
    char block[64 << 10];
};

static la_ssize_t read_block(struct archive *archive, void *context, const void **block)
{
    struct CArchive_file *file = context;
    if (file->left <= 0) {
        file->is_exhausted = 1;
        archive_set_error(archive, EFBIG, "too many members");
        return ARCHIVE_FATAL;
    }
    ssize_t count;
    do count = read(file->descriptor, file->block, sizeof file->block);
    while (count < 0 && errno == EINTR);
    if (count < 0) {
        archive_set_error(archive, errno, "read");
        return ARCHIVE_FATAL;
    }
    file->left -= count;
    *block = file->block;
    return count;
}

static la_int64_t seek(struct archive *archive, void *context, la_int64_t offset, int whence)
{
    struct CArchive_file *file = context;
    const off_t position = lseek(file->descriptor, offset, whence);
    if (position >= 0) return position;
    archive_set_error(archive, errno, "lseek");
    return ARCHIVE_FATAL;
}

static int close_file(struct archive *archive, void *context)
{
    (void)archive;
    struct CArchive_file *file = context;
    close(file->descriptor);
    free(file);
    return ARCHIVE_OK;
}

struct CArchive_file *CArchive_open(struct archive *archive, const char *path, long long most)
{
    struct CArchive_file *file = malloc(sizeof *file);
    if (!file) return NULL;
    file->descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (file->descriptor < 0) {
        free(file);
        return NULL;
    }
    file->is_exhausted = 0;
    file->left = most;
    archive_read_set_read_callback(archive, read_block);
    archive_read_set_seek_callback(archive, seek);
    archive_read_set_close_callback(archive, close_file);
    archive_read_set_callback_data(archive, file);
    if (archive_read_open1(archive) == ARCHIVE_OK) return file;
    // The archive closes the file, or has.
    errno = archive_errno(archive);
    return NULL;
}

void CArchive_lift_bound(struct CArchive_file *file)
{
    file->left = LLONG_MAX;
}

int CArchive_is_exhausted(const struct CArchive_file *file)
{
    return file->is_exhausted;
}

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
