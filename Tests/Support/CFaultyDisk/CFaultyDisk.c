#include "CFaultyDisk.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { OPERATIONS = 3, FILES = 16 };

// A file of the watched directory, by its name, for as long as the directory is watched.
struct image {
  char *path;
  // What the last sync has left on the disk; NULL before the first.
  unsigned char *bytes;
  sqlite3_int64 size;
};

struct file {
  sqlite3_file base;
  struct image *image;  // NULL where the file is not watched
  sqlite3_file *real;   // in the same allocation, behind this
  int is_broken;        // whether it has the sector that cannot be read
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sqlite3_vfs *real_vfs;
static sqlite3_vfs vfs;
static char *watched;
static struct image images[FILES];
static long counts[OPERATIONS];
static struct {
  int is_armed, is_for_ever, has_failed, result;
  cfaultydisk_operation operation;
  long number;
} fault;
static struct {
  int is_set, code;
  ino_t inode;
  sqlite3_int64 offset;
} broken;

static sqlite3_file *real(sqlite3_file *file) { return ((struct file *)file)->real; }

// The result of an operation that is about to be carried out: SQLITE_OK, or the fault.
static int next(sqlite3_file *file, cfaultydisk_operation operation, int result) {
  if (((struct file *)file)->image == NULL) return SQLITE_OK;
  pthread_mutex_lock(&mutex);
  long count = ++counts[operation];
  int fails = fault.is_armed && fault.operation == operation &&
              (count == fault.number || (fault.is_for_ever && count > fault.number));
  if (fails) fault.has_failed = 1;
  // As SQLite's own file system does it: a full disk has a result of its own where something is written alone.
  int is_full = fault.result == SQLITE_FULL && operation == CFAULTYDISK_WRITE;
  int code = fails ? (is_full ? SQLITE_FULL : result) : SQLITE_OK;
  pthread_mutex_unlock(&mutex);
  return code;
}

static int keep(struct file *file) {
  sqlite3_int64 size = 0;
  int code = file->real->pMethods->xFileSize(file->real, &size);
  if (code != SQLITE_OK) return code;
  unsigned char *bytes = malloc(size > 0 ? size : 1);
  if (bytes == NULL) return SQLITE_NOMEM;
  code = size > 0 ? file->real->pMethods->xRead(file->real, bytes, (int)size, 0) : SQLITE_OK;
  if (code != SQLITE_OK) {
    free(bytes);
    return code;
  }
  pthread_mutex_lock(&mutex);
  free(file->image->bytes);
  file->image->bytes = bytes;
  file->image->size = size;
  pthread_mutex_unlock(&mutex);
  return SQLITE_OK;
}

// MARK: Methods of files

static int file_close(sqlite3_file *file) { return real(file)->pMethods->xClose(real(file)); }

static int file_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
  if (((struct file *)file)->is_broken && offset <= broken.offset && broken.offset < offset + count) return broken.code;
  return real(file)->pMethods->xRead(real(file), bytes, count, offset);
}

static int file_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  int code = next(file, CFAULTYDISK_WRITE, SQLITE_IOERR_WRITE);
  if (code != SQLITE_OK) {
    // As much as fits, or as was written before the error.
    real(file)->pMethods->xWrite(real(file), bytes, count / 2, offset);
    return code;
  }
  return real(file)->pMethods->xWrite(real(file), bytes, count, offset);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
  int code = next(file, CFAULTYDISK_TRUNCATE, SQLITE_IOERR_TRUNCATE);
  return code != SQLITE_OK ? code : real(file)->pMethods->xTruncate(real(file), size);
}

static int file_sync(sqlite3_file *file, int flags) {
  int code = next(file, CFAULTYDISK_SYNC, SQLITE_IOERR_FSYNC);
  if (code == SQLITE_OK) code = real(file)->pMethods->xSync(real(file), flags);
  return code == SQLITE_OK && ((struct file *)file)->image != NULL ? keep((struct file *)file) : code;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
  return real(file)->pMethods->xFileSize(real(file), size);
}

static int file_lock(sqlite3_file *file, int level) { return real(file)->pMethods->xLock(real(file), level); }

static int file_unlock(sqlite3_file *file, int level) { return real(file)->pMethods->xUnlock(real(file), level); }

static int file_check_lock(sqlite3_file *file, int *result) {
  return real(file)->pMethods->xCheckReservedLock(real(file), result);
}

static int file_control(sqlite3_file *file, int operation, void *argument) {
  return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int file_sector_size(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }

// Promises nothing of what the disk does beyond syncing.
static int file_characteristics(sqlite3_file *file) { return 0; }

static int file_shm_map(sqlite3_file *file, int region, int size, int extend, void volatile **address) {
  return real(file)->pMethods->xShmMap(real(file), region, size, extend, address);
}

static int file_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
  return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}

static void file_shm_barrier(sqlite3_file *file) { real(file)->pMethods->xShmBarrier(real(file)); }

static int file_shm_unmap(sqlite3_file *file, int removes) {
  return real(file)->pMethods->xShmUnmap(real(file), removes);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

// MARK: Methods of the file system

static int is_watched(const char *path) {
  return path != NULL && watched != NULL && strncmp(path, watched, strlen(watched)) == 0 &&
         path[strlen(watched)] == '/';
}

// The image of this file; NULL where it is not watched.
static struct image *image_of(const char *path) {
  struct image *image = NULL;
  pthread_mutex_lock(&mutex);
  for (int index = 0; is_watched(path) && index < FILES; index++) {
    if (images[index].path == NULL) images[index].path = strdup(path);
    if (images[index].path != NULL && strcmp(images[index].path, path) == 0) {
      image = &images[index];
      break;
    }
  }
  pthread_mutex_unlock(&mutex);
  return image;
}

static int vfs_open(sqlite3_vfs *self, sqlite3_filename path, sqlite3_file *file, int flags, int *out) {
  struct file *mine = (struct file *)file;
  mine->real = (sqlite3_file *)(mine + 1);
  mine->image = image_of(path);
  int code = real_vfs->xOpen(real_vfs, path, mine->real, flags, out);
  mine->base.pMethods = mine->real->pMethods != NULL ? &methods : NULL;
  struct stat status;
  mine->is_broken = broken.is_set && path != NULL && stat(path, &status) == 0 && status.st_ino == broken.inode;
  // What is there before the directory is watched is on the disk.
  if (code == SQLITE_OK && mine->image != NULL && mine->image->bytes == NULL && (flags & SQLITE_OPEN_MAIN_DB)) {
    sqlite3_int64 size = 0;
    code = mine->real->pMethods->xFileSize(mine->real, &size);
    if (code == SQLITE_OK && size > 0) code = keep(mine);
  }
  return code;
}

// A file that is removed is gone: SQLite asks for that to be synced where it matters.
static int vfs_delete(sqlite3_vfs *self, const char *path, int syncs) {
  int code = real_vfs->xDelete(real_vfs, path, syncs);
  struct image *image = image_of(path);
  if (code == SQLITE_OK && image != NULL) {
    pthread_mutex_lock(&mutex);
    free(image->bytes);
    image->bytes = NULL;
    pthread_mutex_unlock(&mutex);
  }
  return code;
}

static int install(void) {
  if (real_vfs != NULL) return SQLITE_OK;
  real_vfs = sqlite3_vfs_find(NULL);
  vfs = *real_vfs;
  vfs.zName = "faulty";
  vfs.pNext = NULL;
  vfs.szOsFile = (int)sizeof(struct file) + real_vfs->szOsFile;
  vfs.xOpen = vfs_open;
  vfs.xDelete = vfs_delete;
  return sqlite3_vfs_register(&vfs, 1);
}

// MARK: What tests call

int cfaultydisk_watch(const char *directory) {
  pthread_mutex_lock(&mutex);
  int code = install();
  free(watched);
  watched = directory != NULL ? strdup(directory) : NULL;
  for (int index = 0; index < FILES; index++) {
    free(images[index].path);
    free(images[index].bytes);
    images[index] = (struct image){0};
  }
  fault.is_armed = 0;
  pthread_mutex_unlock(&mutex);
  return code;
}

void cfaultydisk_arm(cfaultydisk_operation operation, long number, cfaultydisk_error error, int is_for_ever) {
  pthread_mutex_lock(&mutex);
  memset(counts, 0, sizeof counts);
  fault.is_armed = 1;
  fault.is_for_ever = is_for_ever;
  fault.has_failed = 0;
  fault.operation = operation;
  fault.number = number;
  fault.result = error == CFAULTYDISK_ENOSPC ? SQLITE_FULL : SQLITE_IOERR;
  pthread_mutex_unlock(&mutex);
}

void cfaultydisk_disarm(void) {
  pthread_mutex_lock(&mutex);
  fault.is_armed = 0;
  pthread_mutex_unlock(&mutex);
}

int cfaultydisk_has_failed(void) {
  pthread_mutex_lock(&mutex);
  int result = fault.has_failed;
  pthread_mutex_unlock(&mutex);
  return result;
}

int cfaultydisk_break(const char *path, long offset, int code) {
  struct stat status;
  broken.is_set = 0;
  if (path == NULL) return 0;
  if (stat(path, &status) != 0) return errno;
  broken.inode = status.st_ino;
  broken.offset = offset;
  broken.code = code;
  broken.is_set = 1;
  return 0;
}

int cfaultydisk_leave(const char *directory) {
  int error = 0;
  pthread_mutex_lock(&mutex);
  for (int index = 0; index < FILES && error == 0; index++) {
    if (images[index].bytes == NULL) continue;
    char path[4096];
    snprintf(path, sizeof path, "%s%s", directory, images[index].path + strlen(watched));
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(images[index].bytes, 1, images[index].size, file) != (size_t)images[index].size)
      error = errno;
    if (file != NULL && fclose(file) != 0) error = errno;
  }
  pthread_mutex_unlock(&mutex);
  return error;
}
