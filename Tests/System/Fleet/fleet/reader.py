"""reader DIRECTORY PORT: takes every record by MQTT 5 with a session that outlives its connection, and keeps one row
for each id. It acknowledges after the commit."""

import json
import random
import sqlite3
import sys
import time
from pathlib import Path

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

SCHEMA = """
CREATE TABLE IF NOT EXISTS reading (id TEXT PRIMARY KEY, gateway TEXT NOT NULL, record TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
INSERT OR IGNORE INTO counter VALUES ('again', 0), ('elsewhere', 0), ('connections', 0);
"""
NEVER = 0xFFFFFFFF
BATCH = 500


class Store:
    def __init__(self, path):
        self.database = sqlite3.connect(path, isolation_level=None)
        self.database.execute("PRAGMA journal_mode = WAL")
        self.database.execute("PRAGMA synchronous = FULL")
        self.database.executescript(SCHEMA)

    def count(self, name, number=1):
        self.database.execute("UPDATE counter SET value = value + ? WHERE name = ?", (number, name))

    def keep(self, payloads):
        self.database.execute("BEGIN IMMEDIATE")
        for payload in payloads:
            record = json.loads(payload)
            new = self.database.execute("INSERT INTO reading VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING",
                                        (record["id"], record["gateway"], payload)).rowcount
            if new == 0:
                first = self.database.execute("SELECT gateway FROM reading WHERE id = ?", (record["id"],)).fetchone()[0]
                self.count("again" if first == record["gateway"] else "elsewhere")
        self.database.execute("COMMIT")


class Reader:
    def __init__(self, directory, port):
        self.port, self.taken = port, []
        self.store = Store(directory / "store.db")
        self.is_subscribed = directory / "subscribed"
        self.client = mqtt.Client(CallbackAPIVersion.VERSION2, "reader", protocol=mqtt.MQTTv5, manual_ack=True)
        tls = directory / "tls"
        self.client.tls_set(tls / "authority.pem", tls / "reader.crt", tls / "reader.key")
        self.client.on_connect = self.connected
        self.client.on_subscribe = lambda *_: self.is_subscribed.touch()
        self.client.on_message = lambda _client, _data, message: self.taken.append(message)

    def connected(self, client, _data, _flags, reason, _properties):
        if reason.is_failure:
            print(f"refused: {reason}", flush=True)
            return
        self.store.count("connections")
        client.subscribe("ingestd/#", qos=1)

    def connect(self):
        properties = Properties(PacketTypes.CONNECT)
        properties.SessionExpiryInterval = NEVER
        properties.ReceiveMaximum = BATCH
        # What was on its way before is sent again by the broker, under other packet identifiers.
        self.taken.clear()
        self.client.connect("localhost", self.port, keepalive=60, clean_start=False, properties=properties)

    def collect(self):
        """Waits for a message, and takes those that have come with it: a pass of the library's loop takes one."""
        result, before = self.client.loop(0.1), 0
        while result == mqtt.MQTT_ERR_SUCCESS and before < len(self.taken) < BATCH:
            before = len(self.taken)
            result = self.client.loop(0)
        return result

    def take(self):
        """Commits what has come, and acknowledges it then."""
        if not self.taken:
            return
        taken, self.taken = self.taken[:], []
        self.store.keep([message.payload.decode() for message in taken])
        for message in taken:
            self.client.ack(message.mid, message.qos)

    def run(self):
        while True:
            try:
                self.connect()
                while self.collect() == mqtt.MQTT_ERR_SUCCESS:
                    self.take()
            except OSError as error:
                print(f"no connection: {error}", flush=True)
            time.sleep(random.uniform(0.2, 2))


if __name__ == "__main__":
    Reader(Path(sys.argv[1]), int(sys.argv[2])).run()
