"""A queue with records that wait."""

import hashlib
import json
import sqlite3
import uuid


def fill(path, count):
    """Writes records into the queue as a gateway that was offline for long would have left them; their ids."""
    ids = [str(uuid.uuid5(uuid.NAMESPACE_URL, f"backlog-{number}")) for number in range(count)]
    payload = bytes.fromhex("006c0100ff")
    database = sqlite3.connect(path)
    with database:
        first = database.execute("SELECT value FROM counter WHERE name = 'position'").fetchone()[0] + 1
        for position, name in enumerate(ids, first):
            body = json.dumps({
                "version": 1, "id": name, "kind": "body-temperature", "stage": "live",
                "time": {"value": "2026-11-20T09:15:00+00:00", "source": "device", "received": "2026-11-20T09:15:04Z"},
                "measurements": [{"type": "body-temperature", "value": 36.4, "unit": "Cel"}],
                "device": {"peripheral_id": 1002, "address": "C0:00:00:00:00:01"}, "gateway": "delivery-box"})
            text = [name.encode(), b"body-temperature", payload, body.encode()]
            checksum = hashlib.sha256(b"\0".join(text)).digest()
            database.execute(
                "INSERT INTO record (id, kind, peripheral_id, address, characteristic, payload, body, frozen, "
                "position, available_ns, committed_ns, checksum) VALUES (?, ?, 1002, ?, '2A1C', ?, ?, 1, ?, 0, 0, ?)",
                (name, "body-temperature", "C0:00:00:00:00:01", payload, body, position, checksum[:16]))
        database.execute("UPDATE counter SET value = ? WHERE name = 'position'", (first + count - 1,))
    database.close()
    return ids
