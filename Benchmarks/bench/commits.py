"""What a commit to the queue takes: of one record beside a bare sync, of a hundred beside Python's sqlite3."""

import os
import sqlite3
import statistics
import subprocess
import time

from bench.measuring import QUEUE_BENCHMARK, Row, beside, undisturbed, workspace

COMMITS = 500
GROUPS = 40
GROUP = 100
# What the gateway sets for its queue.
PRAGMAS = ["auto_vacuum = INCREMENTAL", "journal_mode = WAL", "synchronous = FULL", "mmap_size = 0",
           "cache_size = -1024", "journal_size_limit = 16777216"]


def ours(commits, size, keep=None):
    """Microseconds a commit, the median and the mean, and how many bytes one adds to the log."""
    with workspace() as directory:
        done = subprocess.run([QUEUE_BENCHMARK, "commit", directory, str(commits), str(size)],
                              stdout=subprocess.PIPE, check=True, text=True)
        if keep:
            keep(directory / "queue.db")
        return [float(word) for word in done.stdout.split()]


def bare(size):
    """Microseconds that a write of so many bytes into a file that has them already and its sync take, the median."""
    data = os.urandom(size)
    times = []
    with workspace() as directory:
        file = os.open(directory / "bare", os.O_RDWR | os.O_CREAT)
        for number in range(COMMITS):
            os.pwrite(file, data, number * size)
        os.fsync(file)
        for number in range(COMMITS):
            began = time.perf_counter_ns()
            os.pwrite(file, data, number * size)
            os.fdatasync(file)
            times.append(time.perf_counter_ns() - began)
        os.close(file)
    return statistics.median(times) / 1000


class Rows:
    """What the gateway wrote, in the groups in which it did."""

    def __init__(self, path, size):
        database = sqlite3.connect(path)
        self.schema = [text for text, in database.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL")
                       if "sqlite_sequence" not in text]
        cursor = database.execute("SELECT * FROM record ORDER BY seq")
        self.columns = [column[0] for column in cursor.description][1:]
        records = [row[1:] for row in cursor]
        events = database.execute("SELECT sequence, entry FROM outbox ORDER BY sequence").fetchall()
        database.close()
        self.groups = [(records[first:first + size], events[first:first + size])
                       for first in range(0, len(records), size)]


def written(commits, size):
    found = []
    ours(commits, size, keep=lambda path: found.append(Rows(path, size)))
    return found[0]


def python(rows):
    """Microseconds a commit, the median and the mean."""
    times = []
    with workspace() as directory:
        database = sqlite3.connect(directory / "other.db", isolation_level=None)
        for pragma in PRAGMAS:
            database.execute(f"PRAGMA {pragma}")
        for statement in rows.schema:
            database.execute(statement)
        database.execute("INSERT INTO counter VALUES ('event', 0), ('position', 0)")
        insert = f"INSERT INTO record ({', '.join(rows.columns)}) VALUES ({', '.join('?' * len(rows.columns))})"
        for records, events in rows.groups:
            began = time.perf_counter_ns()
            database.execute("BEGIN IMMEDIATE")
            database.executemany(insert, records)
            database.executemany("INSERT INTO outbox VALUES (?, ?)", events)
            database.execute("UPDATE counter SET value = value + ? WHERE name = 'event'", [len(events)])
            database.execute("COMMIT")
            times.append(time.perf_counter_ns() - began)
        return statistics.median(times) / 1000, statistics.mean(times) / 1000


def rows():
    with undisturbed():
        yield from undisturbed_rows()


def undisturbed_rows():
    # Few enough that the log does not begin anew.
    size = int(ours(50, 1)[2])
    single, hundreds = written(COMMITS, 1), written(GROUPS, GROUP)
    medians = beside(lambda: ours(COMMITS, 1)[0], {"bare": lambda: bare(size), "python": lambda: python(single)[0]})
    yield Row("one committed record, µs", medians["ours"], "at most 1.3", medians["bare"],
              f"a write and fdatasync of {size:,} bytes")
    yield Row("one committed record, µs", medians["ours"], "", medians["python"], "Python's sqlite3")
    medians = beside(lambda: ours(GROUPS, GROUP)[1], {"python": lambda: python(hundreds)[1]})
    yield Row("100 records a commit, µs", medians["ours"], "at most 1", medians["python"], "Python's sqlite3")
