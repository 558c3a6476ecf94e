"""A generic health sensor, whose observations are longer than a packet."""

import datetime

from labkit.gateway import local_time
from labkit.kinds import HEALTH_SENSOR
from labkit.payloads import health_observation
from labkit.waiting import expect_equal

SHOWN_BY_UNITS = True
TITLE = "a generic health sensor's observation in two segments is one record"
SATURATION = 97


def run(lab):
    sensor = lab.add("health-sensor", HEALTH_SENSOR)
    lab.gateway.start(sensor)
    measured = local_time(minutes=1).replace(microsecond=0).astimezone(datetime.timezone.utc)
    segments = health_observation(measured, SATURATION, patient=1)
    expect_equal(len(segments), 2, "segments")
    sensor.give(*segments)
    sensor.wait_given(2)
    record, = lab.receiver.wait(sensor)
    values = [str(entry["value"]) for entry in record["measurements"]]
    expect_equal(values, [str(SATURATION)], "values")
    expect_equal(datetime.datetime.fromisoformat(record["time"]["value"]), measured, "time")
    lab.journal.wait("submitted", sensor)
    for name in ("decode-error", "read-failed"):
        expect_equal(lab.journal.events(name), [], f"events {name}")
    expect_equal(len(sensor.links), 1, "number of links")
