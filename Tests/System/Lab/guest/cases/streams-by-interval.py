"""Devices that send for as long as somebody listens."""

from labkit.kinds import OXIMETER, STRAP
from labkit.payloads import heart_rate, pulse_oximetry
from labkit.waiting import expect, expect_equal

SHOWN_BY_UNITS = True
TITLE = "oximeter and heart-rate strap: one record for each interval, and the link ends when it has lasted long enough"
LIMIT_S = 300
INTERVAL_S, LONGEST_S = 5, 15
RECORDS = LONGEST_S // INTERVAL_S
# What the last record, the rest of the reading and a busy host may add.
SLACK_S = 10
# Of a link that the gateway ended, as its peripheral sees it.
REMOTE_USER_TERMINATED = 0x13


def run(lab):
    oximeter = lab.add("oximeter", OXIMETER)
    strap = lab.add("strap", STRAP, battery=55)
    lab.gateway.start(oximeter, strap, passive={
        "stream_interval": f"{INTERVAL_S}s", "stream_max": f"{LONGEST_S}s"})

    oximeter.give(*(pulse_oximetry(90 + number, 60 + number) for number in range(8)))
    held = check(lab, oximeter, "pulse-oximetry", {"spo2", "pulse-rate"})
    oximeter.give()

    strap.linger()
    strap.give(*(heart_rate(70 + number, 830 + number, 840 + number) for number in range(8)))
    also = check(lab, strap, "heart-rate", {"heart-rate", "rr-interval"})
    return f"links of {held:.0f} s and {also:.0f} s"


def check(lab, streamer, kind, types):
    """Returns how long the link lasted."""
    link = streamer.wait_link_ended(1)
    records = lab.receiver.wait(streamer, count=RECORDS)
    sent = [payload for _, payload in streamer.notifications()]
    for record in records:
        expect_equal(record["kind"], kind, "kind")
        expect_equal({entry["type"] for entry in record["measurements"]}, types, "types measured")
        expect(record["raw"]["hex"] in sent, f"{record['raw']['hex']} was never sent")
    moments = {record["time"]["received"] for record in records}
    expect_equal(len(moments), RECORDS, "different times")
    lasted = link["closed"] - link["opened"]
    expect(LONGEST_S <= lasted <= LONGEST_S + SLACK_S, f"the link lasted {lasted:.1f} s")
    expect_equal(link["reason"], REMOTE_USER_TERMINATED, "why the link ended")
    expect_equal(lab.journal.events("read-failed", streamer), [], "failures")
    return lasted
