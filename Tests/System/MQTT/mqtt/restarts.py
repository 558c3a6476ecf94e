"""mosquitto is stopped, killed and frozen in the middle of a delivery; the status that it keeps of the gateway."""

import json
import time

from kit.backlog import fill
from kit.gateway import NOBODY, Failure, Gateway, expect_equal, wait_until
from kit.ports import free_ports

from .brokers import Mosquitto, Watcher
from .fake import Behaviour, FakeBroker, silent

CUFF = {"id": 1001, "address": "C0:00:00:00:00:02"}
RECORDS = 2000


class Broker:
    """A mosquitto of its own, with a watcher and the keys of a destination there."""

    def __init__(self, directory, name, **keys):
        self.port = free_ports(1)[0]
        self.mosquitto = Mosquitto(directory, name, f"listener {self.port} 127.0.0.1", "allow_anonymous true")
        self.mosquitto.start()
        self.watcher = Watcher(self.port, "watcher", "#")
        self.watcher.is_there(self.mosquitto)
        self.destinations = {"broker": {"type": "mqtt", "url": f"mqtt://localhost:{self.port}", **keys}}

    def stop(self):
        self.watcher.stop()
        self.mosquitto.stop()


def restarted(world, name="restarted", **keys):
    """Stopped and started again and again while a backlog goes out: all of it arrives, and is told once."""
    # A commit for each, so that the backlog lasts for longer than five restarts.
    broker = Broker(world.directory, name, batch={"max_records": 1, "max_wait": "0s"}, **keys)
    first = Gateway(world.directory, f"{name}-gateway", broker.destinations, peripherals=[NOBODY])
    first.wait(None, "started")
    first.stop()
    backlog = fill(first.state / "queue.db", RECORDS)
    gateway = Gateway(world.directory, f"{name}-gateway", broker.destinations, peripherals=[NOBODY])
    prefix = "ingestd/"
    try:
        for share in range(1, 6):
            # What it got, and not what is told: that may come when all is sent.
            part = share * RECORDS // 8
            wait_until(lambda: len(set(broker.watcher.ids(prefix))) >= part, f"the watcher has {part}", 60)
            broker.mosquitto.stop()
            gateway.wait("broker", "destination-down", count=share)
            broker.mosquitto.start()
            broker.watcher.is_there(broker.mosquitto)
            gateway.reload()
        gateway.wait("broker", "submitted", 60, count=RECORDS)
        submitted = [event["INGEST_RECORD_ID"] for event in gateway.of("broker", "submitted")]
        expect_equal(submitted, gateway.tags(backlog), "what was submitted, in its order")
        wait_until(lambda: len(set(broker.watcher.ids(prefix))) == RECORDS, "the watcher has everything")
        expect_equal(set(broker.watcher.ids(prefix)), set(backlog), "what the watcher got")
        print(f"# {len(broker.watcher.ids(prefix)) - RECORDS} of {RECORDS} messages came twice", flush=True)
        if not 1 <= len(gateway.of("broker", "destination-up")) <= 5:
            raise Failure("destination-up was not told")
    finally:
        expect_equal(gateway.stop(), 0, "the exit status")
        broker.stop()


def frozen(world):
    """Frozen with a message under way, then killed: the message is kept, and goes to the next one."""
    broker = Broker(world.directory, "frozen")
    gateway = Gateway(world.directory, "freezes", broker.destinations)
    try:
        gateway.wait("broker", "submitted", count=3)
        broker.mosquitto.freeze()
        gateway.also_reads(CUFF)
        gateway.until(lambda: len(world.read_tags(gateway)) == 6, "the cuff is read")
        time.sleep(2)
        expect_equal(len(gateway.of("broker", "submitted")), 3, "submitted while nobody answers")
        broker.mosquitto.stop(is_killed=True)
        event = gateway.wait("broker", "destination-down")[0]
        expect_equal(event["INGEST_ERROR"], "the connection was closed without an answer", "the error")
        broker.mosquitto.start()
        broker.watcher.is_there(broker.mosquitto)
        gateway.wait("broker", "submitted", 60, count=6)
        wait_until(lambda: set(gateway.tags(broker.watcher.ids("ingestd/"))) == set(world.read_tags(gateway)),
                   "all are there")
    finally:
        expect_equal(gateway.stop(), 0, "the exit status")
        broker.stop()


def restarted_3(world):
    """The same by MQTT 3.1.1: what was under way at a stop is sent again, and nothing is set aside."""
    restarted(world, "restarted-3.1.1", protocol="3.1.1")


def status(world, name="status", **keys):
    """online with the connection and in the status document, offline at a stop and by the will at a kill."""
    broker = Broker(world.directory, name, status_topic="status/{gateway}", **keys)

    def told():
        """What changed in it."""
        found = [json.loads(payload)["status"] for _, _, payload in broker.watcher.of("status/")]
        return [word for word, before in zip(found, [None, *found]) if word != before]

    def documents():
        found = [json.loads(payload) for _, _, payload in broker.watcher.of("status/")]
        return [document for document in found if "software" in document]

    try:
        expected = []
        for is_killed in (False, True):
            gateway = Gateway(world.directory, f"{name}-{is_killed}", broker.destinations)
            gateway.wait("broker", "submitted", count=3)
            expected.append("online")
            wait_until(lambda: told() == expected, f"{expected}, then {told()}")
            wait_until(lambda: len(documents()) >= len(expected) // 2 + 1, "a document after the start")
            if is_killed:
                gateway.kill()
            else:
                expect_equal(gateway.stop(), 0, "the exit status")
            expected.append("offline")
            wait_until(lambda: told() == expected, f"{expected}, then {told()}")
        # Kept for those who come later.
        late = Watcher(broker.port, "late", "status/#")
        wait_until(lambda: late.got, "what was retained")
        offline = '{"version":1,"gateway":"delivery-box","status":"offline"}'
        expect_equal(late.got, [("status/delivery-box", True, offline)], "what a late watcher gets")
        late.stop()
        for document in documents():
            expect_equal((document["gateway"], [device["address"] for device in document["devices"]]),
                         ("delivery-box", ["C0:00:00:00:00:01"]), "gateway and devices")
    finally:
        broker.stop()


def status_alone(world):
    """Without any record a document comes too, kept for those who come later, and with what the destination may get."""
    broker = Broker(world.directory, "status-alone", status_topic="status/{gateway}", redact=["address"])
    gateway = Gateway(world.directory, "status-alone-gateway", broker.destinations, peripherals=[NOBODY])
    try:
        wait_until(lambda: len(broker.watcher.of("status/")) >= 2, "online, and a document")
        late = Watcher(broker.port, "late", "status/#")
        wait_until(lambda: late.got, "what was retained")
        document = json.loads(late.got[0][2])
        late.stop()
        expect_equal((document["status"], document["devices"][0]["state"], "address" in document["devices"][0]),
                     ("online", "unheard", False), "what is kept")
    finally:
        expect_equal(gateway.stop(), 0, "the exit status")
        broker.stop()


def status_3(world):
    """The same by MQTT 3.1.1, whose DISCONNECT would take the will back."""
    status(world, "status-3.1.1", protocol="3.1.1")


def idle(world):
    """A connection that nobody uses for some keep-alives stands."""
    broker = Broker(world.directory, "idle")
    gateway = Gateway(world.directory, "idles", broker.destinations)
    try:
        gateway.wait("broker", "submitted", count=3)
        before = broker.mosquitto.connections()
        time.sleep(100)
        gateway.also_reads(CUFF)
        gateway.wait("broker", "submitted", 60, count=6)
        expect_equal(broker.mosquitto.connections(), before, "connections of the gateway")
    finally:
        expect_equal(gateway.stop(), 0, "the exit status")
        broker.stop()


def stops(world):
    """A gateway whose broker does not answer ends in time."""
    hangs = FakeBroker(Behaviour(answer=silent))
    gateway = Gateway(world.directory, "stops", {"hangs": {"type": "mqtt", "url": f"mqtt://localhost:{hangs.port}"}})
    gateway.until(lambda: hangs.connects, "a connection")
    gateway.wait(None, "read", count=3)
    start = time.monotonic()
    expect_equal(gateway.stop(), 0, "the exit status")
    if time.monotonic() - start > 8:
        raise Failure(f"took {time.monotonic() - start:.0f} s to end")


CASES = {"restarted": restarted, "restarted-3.1.1": restarted_3, "frozen": frozen, "status": status,
         "status-3.1.1": status_3, "status-alone": status_alone, "idle": idle, "stops": stops}
