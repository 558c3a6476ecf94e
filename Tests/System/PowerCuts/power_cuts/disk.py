"""The disk as a cut has left it, looked at in a copy."""

import sqlite3
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

# e2fsck: nothing was wrong, or it was put right; a journal that is replayed is neither.
SOUND = (0, 1)


@dataclass(frozen=True)
class Findings:
    # What SQLite's quick_check says: ok.
    database: str
    # The readings that are in the database, by address and payload.
    held: frozenset


def copy(image: Path, to: Path):
    subprocess.run(["cp", "--sparse=always", image, to], check=True)


def look(image: Path) -> Findings:
    """Replays the file system's journal in this copy, then the database's log, and says what is there."""
    checked = subprocess.run(["e2fsck", "-fp", image], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if checked.returncode not in SOUND:
        return Findings(f"no file system: {checked.stdout.strip()}", frozenset())
    with tempfile.TemporaryDirectory(dir=image.parent) as directory:
        subprocess.run(["debugfs", "-R", f"rdump / {directory}", image], check=True, capture_output=True)
        database, = Path(directory).glob("queue.db")
        return look_at_database(database)


def look_at_database(path: Path) -> Findings:
    connection = sqlite3.connect(path)
    try:
        words = "; ".join(row[0] for row in connection.execute("PRAGMA quick_check"))
        # Without the sync the first start's tables can be lost too.
        if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'record'").fetchall():
            return Findings(words, frozenset())
        held = connection.execute("SELECT address, lower(hex(payload)) FROM record").fetchall()
        return Findings(words, frozenset(held))
    except sqlite3.DatabaseError as error:
        return Findings(f"no database: {error}", frozenset())
    finally:
        connection.close()
