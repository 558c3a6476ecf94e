/* Harness only: lets the queue be synced as `synchronous = NORMAL` would, by changing the statement on its way to SQLite. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sqlite3.h>

/* The same length, so that the tail that SQLite returns is also the caller's. */
static const char full[] = "PRAGMA synchronous = FULL";
static const char normal[] = "PRAGMA synchronous = 1   ";
_Static_assert(sizeof full == sizeof normal, "one takes the other's place");

int sqlite3_prepare_v3(sqlite3 *db, const char *sql, int size, unsigned int flags, sqlite3_stmt **statement,
                       const char **tail) {
  static int (*next)(sqlite3 *, const char *, int, unsigned int, sqlite3_stmt **, const char **);
  if (!next) next = (int (*)(sqlite3 *, const char *, int, unsigned int, sqlite3_stmt **, const char **))
    dlsym(RTLD_NEXT, "sqlite3_prepare_v3");
  if (strncmp(sql, full, sizeof full - 1) != 0) return next(db, sql, size, flags, statement, tail);
  int result = next(db, normal, -1, flags, statement, tail);
  if (tail) *tail = sql + (*tail - normal);
  return result;
}

int sqlite3_prepare_v2(sqlite3 *db, const char *sql, int size, sqlite3_stmt **statement, const char **tail) {
  return sqlite3_prepare_v3(db, sql, size, 0, statement, tail);
}
