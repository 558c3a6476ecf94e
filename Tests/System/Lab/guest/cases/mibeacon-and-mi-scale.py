"""Xiaomi's broadcasts: a sensor that encrypts, and a scale that shows what it weighs while it weighs."""

from labkit.gateway import local_time
from labkit.kinds import MI_SCALE, MIBEACON
from labkit.payloads import DateTime, mi_scale_advert, mibeacon_advert
from labkit.waiting import expect_equal, hold_for

SHOWN_BY_UNITS = True
TITLE = "a MiBeacon sensor, encrypted, and a Mi scale: one record for each change, one for a weighing"
KEY = "e9efaa6873f9f9c87a5e75a5f814801c"
REPEATS = 15
COUNTER = 0x0002_0040
WATCH_S = 3


def run(lab):
    sensor = lab.add("mibeacon-sensor", MIBEACON)
    scale = lab.add("mi-scale", MI_SCALE)
    lab.gateway.start(sensor, scale, settings={sensor: {"key": lab.gateway.keep_key("mibeacon", KEY)}})

    first = mibeacon_advert(sensor.address, KEY, COUNTER, 213)
    sensor.broadcast([first, REPEATS], [mibeacon_advert(sensor.address, KEY, COUNTER + 1, 215), REPEATS],
                     [first, REPEATS])
    when = DateTime.of(local_time())
    scale.broadcast([mi_scale_advert(40.2, when, settled=False), REPEATS],
                    [mi_scale_advert(71.3, when, settled=False), REPEATS],
                    [mi_scale_advert(72.5, when, settled=True), REPEATS],
                    [mi_scale_advert(72.5, when, settled=True, stepped_off=True), REPEATS])
    sensor.wait_broadcast(3)
    scale.wait_broadcast(4)
    expect_equal(values(lab.receiver.wait(sensor, count=2)), [{"temperature": "21.3"}, {"temperature": "21.5"}],
                 "measurements of the sensor")
    record, = lab.receiver.wait(scale)
    expect_equal(values([record]), [{"weight": "72.500"}], "measurements of the scale")
    expect_equal(record["time"]["device"], when.text, "device time")
    lab.journal.wait("submitted", count=3)
    hold_for("no more records", WATCH_S, lambda: len(lab.receiver.records()) == 3)
    expect_equal(lab.journal.events("decode-error"), [], "decode errors")
    expect_equal(lab.capture.connection_attempts(), [], "connection attempts")


def values(records):
    return [{entry["type"]: str(entry["value"]) for entry in record["measurements"]} for record in records]
