"""How much is said on the air for one reading, counted by btmon."""

from labkit.capture import pdus_to_confirmation
from labkit.kinds import INFORMATION, THERMOMETER
from labkit.payloads import temperature
from labkit.waiting import expect, expect_equal

TITLE = "ATT PDUs from the connection to the confirmation"
FIRST_READING, SECOND_READING = 10, 4
EXCHANGE_MTU_REQUEST = 0x02


def run(lab):
    thermometer = lab.add("thermometer", THERMOMETER, information=INFORMATION, battery=64)
    lab.gateway.start(thermometer)
    for count in (1, 2):
        thermometer.give(temperature(370 + count, -1))
        lab.journal.wait("submitted", thermometer, count=count)
        thermometer.wait_link_ended(count)
    links = lab.capture.links(thermometer.address)
    expect_equal(len(links), 2, "links in btmon's capture")
    first, second = (pdus_to_confirmation(link) for link in links)
    expect(first and second, "a reading was not confirmed")
    expect(first <= FIRST_READING, f"{first} PDUs for the first reading, at most {FIRST_READING} wanted")
    expect(second <= SECOND_READING, f"{second} PDUs for the second reading, at most {SECOND_READING} wanted")
    exchanges = [pdu for link in links for pdu in link if pdu.sent and pdu.bytes[0] == EXCHANGE_MTU_REQUEST]
    expect_equal(exchanges, [], "MTU exchanges that no payload needed")
    return f"{first} at the first reading, {second} at the second"
