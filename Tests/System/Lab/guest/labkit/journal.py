"""The journal as the operator would read it, followed while the cases run."""

import json
import socket
import subprocess
import threading
import time
import uuid

from .waiting import Failure, wait_until

JOURNAL_SOCKET = "/run/systemd/journal/socket"
UNIT = "ingestd.service"
EVENT_LIMIT_S = 60
# How long the journal may take to hand on an entry.
JOURNAL_LIMIT_S = 30


class Journal:
    """Follows ingestd's entries; `mark` sets the place from which the next questions count."""

    def __init__(self, copy_path):
        self.entries = []
        self.start = 0
        self.copy = open(copy_path, "a", encoding="utf-8")
        self.reader = None
        self.last_marker = None
        self.read("--no-tail")

    def read(self, beginning):
        self.reader = subprocess.Popen(
            ["journalctl", "--follow", beginning, "--boot", "--output=json"], stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.follow, args=[self.reader.stdout], daemon=True).start()

    def pause(self):
        """Reads no more, for a case with more entries than fit into the memory."""
        self.close()

    def resume(self):
        """Reads on from now. What came before is forgotten, because it has a gap."""
        self.entries.clear()
        self.start = 0
        self.read(f"--since=@{time.time():.6f}")
        self.catch_up()

    def follow(self, lines):
        for line in lines:
            entry = json.loads(line)
            if "LAB_MARKER" in entry:
                self.last_marker = entry["LAB_MARKER"]
            elif entry.get("_SYSTEMD_UNIT") == UNIT:
                self.copy.write(line)
                self.copy.flush()
                self.entries.append(entry)

    def catch_up(self):
        """Returns when all that was written before is among `entries`: when an entry of our own is through."""
        marker = str(uuid.uuid4())
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as journal:
            journal.sendto(f"MESSAGE=marker\nPRIORITY=7\nLAB_MARKER={marker}\n".encode(), JOURNAL_SOCKET)
        wait_until("the journal is read to its end", JOURNAL_LIMIT_S, lambda: self.last_marker == marker)

    def mark(self):
        self.catch_up()
        self.start = len(self.entries)

    def events(self, name=None, peripheral=None, since_mark=True, **fields):
        """What `events_so_far` finds in all that was written up to now."""
        self.catch_up()
        return self.events_so_far(name, peripheral, since_mark, **fields)

    def events_so_far(self, name=None, peripheral=None, since_mark=True, **fields):
        """Entries that are events; `fields` in lower case without the prefix, as in record_id=…"""
        wanted = {f"INGEST_{key.upper()}": str(value) for key, value in fields.items()}
        if name is not None:
            wanted["INGEST_EVENT"] = name
        if peripheral is not None:
            wanted["INGEST_PERIPHERAL"] = peripheral.name
        return [entry for entry in self.entries[self.start if since_mark else 0:]
                if "INGEST_EVENT" in entry and all(entry.get(key) == value for key, value in wanted.items())]

    def names(self, peripheral):
        """The names of a peripheral's events since the mark, in their order."""
        return [entry["INGEST_EVENT"] for entry in self.events(peripheral=peripheral)]

    def wait(self, name, peripheral=None, count=1, seconds=EVENT_LIMIT_S, **fields):
        """Waits for that many events and returns them."""
        def enough():
            found = self.events_so_far(name, peripheral, **fields)
            return len(found) >= count and found
        try:
            return wait_until("there", seconds, enough)
        except Failure:
            of_whom = f" of {peripheral.name}" if peripheral else ""
            seen = [entry["INGEST_EVENT"] for entry in self.events(peripheral=peripheral)]
            raise Failure(f"no {count} × {name}{of_whom} within {seconds} s; events: {' '.join(seen) or 'none'}") \
                from None

    def close(self):
        self.reader.terminate()
        self.reader.wait()
