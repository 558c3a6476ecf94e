#ifndef CFAULTYDISK_H
#define CFAULTYDISK_H

// A disk that fails where a test wants it to: SQLite's own file system with faults (sqlite.org/vfs.html). It is the
// default for the whole process, and lets everything pass that is not in the directory that it watches.

struct sqlite3;

typedef enum {
  CFAULTYDISK_WRITE,
  CFAULTYDISK_SYNC,
  CFAULTYDISK_TRUNCATE,
} cfaultydisk_operation;

typedef enum {
  CFAULTYDISK_EIO,
  CFAULTYDISK_ENOSPC,
} cfaultydisk_error;

// Watches the files of this directory from now on; none fails before `cfaultydisk_arm`. NULL: of no directory.
// Returns 0, or a result code of SQLite.
int cfaultydisk_watch(const char *directory);

// The operation with this number, counted from 1 on and from now on, fails; all after it too, if it is for ever.
void cfaultydisk_arm(cfaultydisk_operation operation, long number, cfaultydisk_error error, int is_for_ever);

// Nothing fails any more.
void cfaultydisk_disarm(void);

// Whether an operation has failed since `cfaultydisk_arm`.
int cfaultydisk_has_failed(void);

// From now on the sector at this offset of the file that has this name now cannot be read, with this result code of
// SQLite: the file keeps it when it is renamed. NULL: all can be read. Holds for files that are opened afterwards.
// Returns 0, or an errno.
int cfaultydisk_break(const char *path, long offset, int code);

// What a power cut now would leave: each watched file as it was when it was last synced is written to this directory,
// under its own name; one that never was synced is left out.
// Returns 0, or an errno.
int cfaultydisk_leave(const char *directory);

// Counts what SQLite does for this connection from now on: about one step for each row that it visits, as many each
// time.
void cfaultydisk_count_steps(struct sqlite3 *connection);

// Ends that, and returns what was counted.
long cfaultydisk_steps(struct sqlite3 *connection);

#endif
