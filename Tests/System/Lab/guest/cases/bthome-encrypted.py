"""Encrypted broadcasts: read without a connection, each reading once, and no replays."""

from labkit.kinds import BTHOME
from labkit.payloads import bthome_advert
from labkit.waiting import expect_equal, hold_for

SHOWN_BY_UNITS = True
TITLE = "an encrypted BTHome sensor: one record for each change, none for replays; a wrong key is one decode-error"
KEY, OTHER_KEY = "231d39c1d7cc1ab1aee224cd096db932", "00112233445566778899aabbccddeeff"
REPEATS = 20
COUNTER = 0x1000
WATCH_S = 4


def run(lab):
    sensor = lab.add("sensor", BTHOME)
    locked = lab.add("locked-sensor", BTHOME)
    path = lab.gateway.keep_key("sensor", KEY)
    lab.gateway.start(sensor, locked, settings={sensor: {"key": path}, locked: {"key": path}})

    first = bthome_advert(sensor.address, KEY, COUNTER, 2134)
    # Many sensors count, and encrypt anew, what they have said before.
    again = bthome_advert(sensor.address, KEY, COUNTER + 1, 2134)
    sensor.broadcast([first, REPEATS], [again, REPEATS])
    sensor.wait_broadcast(2)
    expect_equal(temperatures(lab, sensor, 1), ["21.34"], "temperatures of the first value")
    sensor.broadcast([bthome_advert(sensor.address, KEY, COUNTER + 2, 2150), REPEATS])
    sensor.wait_broadcast(3)
    expect_equal(temperatures(lab, sensor, 2), ["21.34", "21.50"], "temperatures of both values")
    lab.journal.wait("submitted", sensor, count=2)

    sensor.broadcast([first, REPEATS], [bthome_advert(sensor.address, KEY, COUNTER - 1, 2222), REPEATS])
    locked.broadcast([bthome_advert(locked.address, OTHER_KEY, COUNTER, 2000), REPEATS],
                     [bthome_advert(locked.address, OTHER_KEY, COUNTER + 1, 2010), REPEATS])
    sensor.wait_broadcast(5)
    locked.wait_broadcast(2)
    lab.journal.wait("decode-error", locked)
    hold_for("no record of a replay, one decode-error", WATCH_S, lambda: (
        len(lab.receiver.records(sensor)) == 2 and len(lab.journal.events("decode-error", locked)) == 1))
    expect_equal(lab.journal.events("decode-error", sensor), [], "decode errors of the sensor with the right key")
    expect_equal(lab.receiver.records(locked), [], "records of the sensor with the wrong key")
    expect_equal(lab.capture.connection_attempts(), [], "connection attempts")


def temperatures(lab, sensor, count):
    records = lab.receiver.wait(sensor, count=count)
    for record in records:
        expect_equal((record["kind"], record["raw"]["characteristic"]), ("bthome", "ADV"), "kind and characteristic")
    return [str(entry["value"]) for record in records for entry in record["measurements"]
            if entry["type"] == "temperature"]
