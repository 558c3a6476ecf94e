#include "CFaultyDisk.h"

#include <pthread.h>
#include <sqlite3.h>

enum { CONNECTIONS = 64 };

struct counter {
  sqlite3 *connection;  // NULL where it is free
  long steps;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct counter counters[CONNECTIONS];

// Of a connection, or one that is free; NULL where there is none.
static struct counter *counter_of(sqlite3 *connection) {
  struct counter *found = NULL;
  pthread_mutex_lock(&mutex);
  for (int index = 0; index < CONNECTIONS && found == NULL; index++)
    if (counters[index].connection == connection) found = &counters[index];
  for (int index = 0; index < CONNECTIONS && found == NULL; index++)
    if (counters[index].connection == NULL) found = &counters[index];
  if (found != NULL) found->connection = connection;
  pthread_mutex_unlock(&mutex);
  return found;
}

static int count(void *counter) {
  ((struct counter *)counter)->steps++;
  return 0;
}

void cfaultydisk_count_steps(sqlite3 *connection) {
  struct counter *counter = counter_of(connection);
  if (counter == NULL) return;
  counter->steps = 0;
  sqlite3_progress_handler(connection, 1, count, counter);
}

long cfaultydisk_steps(sqlite3 *connection) {
  struct counter *counter = counter_of(connection);
  if (counter == NULL) return -1;
  sqlite3_progress_handler(connection, 0, NULL, NULL);
  pthread_mutex_lock(&mutex);
  counter->connection = NULL;
  pthread_mutex_unlock(&mutex);
  return counter->steps;
}
