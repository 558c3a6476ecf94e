"""Peripherals that say what they should not, when they should not, or hardly anything."""

from labkit.kinds import CUFF, THERMOMETER
from labkit.payloads import DateTime, blood_pressure, temperature
from labkit.tags import tag
from labkit.waiting import expect, expect_equal

SHOWN_BY_UNITS = True
TITLE = "undecodable payloads, requests from the peripheral, slow answers, silence"
LIMIT_S = 300
# ATT: Read By Group Type Request for primary services, and Exchange MTU Request for 247 bytes.
READ_BY_GROUP_TYPE = "100100ffff0028"
EXCHANGE_MTU = "02f700"
TOO_SHORT = "046e01"
MEASURED = DateTime(2024, 5, 3, 7, 30, 0)
SLOW_S = 5
# The answers to discovery and subscription, and the indication.
SLOW_PDUS = 5
# ATT gives an answer 30 s (Vol 3 Part F 3.3.3); the rest is for a busy host.
SILENCE_LIMIT_S = 60


def run(lab):
    malformed = lab.add("malformed", THERMOMETER)
    curious = lab.add("curious", CUFF)
    greedy = lab.add("greedy", THERMOMETER)
    slow = lab.add("slow", THERMOMETER, awake_s=90)
    silent = lab.add("silent", THERMOMETER, awake_s=120)
    curious.fault(ask=READ_BY_GROUP_TYPE, ask_at=3)
    greedy.fault(ask=EXCHANGE_MTU, ask_at=3)
    slow.fault(delay=SLOW_S, delay_count=SLOW_PDUS)
    silent.fault(silent_after=4)
    lab.gateway.start(malformed, curious, greedy, slow, silent)

    good = temperature(369, -1)
    malformed.give(TOO_SHORT, good)
    check_malformed(lab, malformed, good)

    curious.give(blood_pressure((118, 0), (76, 0), (90, 0), MEASURED))
    answer = answer_of(lab, curious)
    # Error Response to that request: Request Not Supported, or Attribute Not Found, as we have no services.
    expect(answer.startswith("0110") and answer[-2:] in ("06", "0a"), f"answer to Read By Group Type: {answer}")
    greedy.give(temperature(365, -1))
    answer = answer_of(lab, greedy)
    expect(answer.startswith("03") or answer == "0102000006", f"answer to Exchange MTU: {answer}")

    silent.give(temperature(363, -1))
    silent.wait_links(1)
    ended = silent.wait_link_ended(1, seconds=SILENCE_LIMIT_S)
    lab.journal.wait("read-failed", silent)
    lab.journal.wait("submitted", silent)
    expect_equal(len(lab.journal.events("read-failed", silent)), 1, "number of read-failed")

    slow.give(temperature(364, -1))
    lab.receiver.wait(slow, seconds=SLOW_S * SLOW_PDUS + 60)
    expect_equal(lab.journal.events("read-failed", slow), [], "failures of the slow peripheral")
    return f"silence ended after {ended['closed'] - ended['opened']:.0f} s"


def check_malformed(lab, malformed, good):
    malformed.wait_given(2)
    record, = lab.receiver.wait(malformed)
    expect_equal(record["raw"]["hex"], good, "the record delivered")
    lab.journal.wait("submitted", malformed)
    undecoded, = lab.journal.wait("decode-error", malformed)
    expect(undecoded["INGEST_RECORD_ID"] != tag(record["id"]), "the undecodable reading has no record of its own")
    expect_equal(lab.journal.events("submitted", malformed, record_id=undecoded["INGEST_RECORD_ID"]), [],
                 "deliveries of the undecodable reading")
    expect_equal(len(malformed.links), 1, "number of links")


def answer_of(lab, peripheral):
    """What the gateway answered to the peripheral's own request, once the reading has arrived all the same."""
    lab.receiver.wait(peripheral)
    link, = peripheral.links
    expect(link["asked"] is not None, f"{peripheral.name} has asked nothing")
    expect(link["answer"] is not None, f"the request of {peripheral.name} was not answered")
    return link["answer"]
