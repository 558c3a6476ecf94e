"""Nothing is asked on the air: passive scanning, and connections to allow-listed peripherals alone."""

from labkit.capture import PASSIVE
from labkit.kinds import THERMOMETER
from labkit.payloads import temperature
from labkit.waiting import expect_equal

TITLE = "only passive scans, and no connection to a peripheral that is not allow-listed"


def run(lab):
    thermometer = lab.add("thermometer", THERMOMETER)
    stranger = lab.add("stranger", THERMOMETER)
    stranger.linger()
    stranger.give(temperature(399, -1))
    lab.gateway.start(thermometer)
    thermometer.give(temperature(368, -1))
    lab.receiver.wait(thermometer)
    lab.journal.wait("submitted", thermometer)
    expect_equal(stranger.links, [], "links of the stranger")
    expect_equal(lab.receiver.records(stranger), [], "records of the stranger")
    expect_equal(set(lab.capture.connection_attempts()), {thermometer.address}, "addresses connected to")
    expect_equal(set(lab.capture.scan_types()), {PASSIVE}, "types of scans")
