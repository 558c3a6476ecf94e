"""A controller that hears nothing for a while after each link: what it misses is no silence."""

from labkit.kinds import THERMOMETER
from labkit.payloads import temperature
from labkit.waiting import expect_equal, hold_for, wait_until

TITLE = "a controller is deaf for 10 s after each link: who goes on advertising is read once, and who wakes is read"
SHOWN_BY_UNITS = True
LIMIT_S = 300
# Longer than the quiet period, and shorter than three of it.
DEAFNESS_S = 10
QUIET_PERIOD = "5s"
WATCH_S = 30


def run(lab):
    lab.air.deafness(DEAFNESS_S)
    wakeful = [lab.add(f"wakeful-{number}", THERMOMETER) for number in range(1, 4)]
    thermometer = lab.add("thermometer", THERMOMETER, awake_s=40, asleep_s=30)
    lab.gateway.start(*wakeful, thermometer, passive={"quiet_period": QUIET_PERIOD})
    for number, other in enumerate(wakeful):
        other.linger()
        other.give(temperature(360 + number, -1))
    for other in wakeful:
        other.wait_given()
        other.wait_link_ended(1)
    wait_until("all advertise again", 30, lambda: all(other.report()["advertising"] for other in wakeful))
    for round_number in (1, 2):
        thermometer.give(temperature(370 + round_number, -1))
        lab.journal.wait("read", thermometer, count=round_number)
        hold_for("one link for each", WATCH_S, lambda: all(len(other.links) == 1 for other in wakeful))
    expect_equal(len(thermometer.links), 2, "links of the one that wakes")
