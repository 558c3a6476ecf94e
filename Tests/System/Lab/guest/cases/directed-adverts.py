"""A cuff that advertises to the gateway alone once it is bonded, which no scan shows."""

from dataclasses import replace

from labkit.kinds import CUFF, THERMOMETER
from labkit.pairing import PairCommand
from labkit.payloads import DateTime, blood_pressure, temperature
from labkit.waiting import expect_equal

TITLE = "a bonded cuff with directed adverts is read by a standing attempt, and starves nobody"
LIMIT_S = 300
# Attempts and ordinary reads take turns, with the debounce between them.
TURN_LIMIT_S = 120
DIRECTED = {
    "id": 10001, "name": "Directed cuff", "type": "blood-pressure-monitor", "profile": "blood-pressure",
    "recognised": [{"service": "1810"}], "bonding": "required", "quirks": ["directed-advertising"],
    "instructions": {"pairing": "Hold the button.", "before": "Rest.", "during": "Keep still."},
}


def run(lab):
    cuff = lab.add("directed-cuff", replace(CUFF, model=DIRECTED["id"]), bonding={"directed": True})
    thermometer = lab.add("thermometer", THERMOMETER)
    lab.gateway.start(cuff, thermometer, models=[DIRECTED])
    # The command first: a listed device that nobody waits for is read.
    command = PairCommand(cuff.address)
    command.wait("waiting")
    cuff.pairing_mode()
    command.wait_paired()
    for number in range(1, 4):
        thermometer.give(temperature(365 + number, -1))
        cuff.give(blood_pressure((115 + number, 0), (77, 0), (90, 0), DateTime(2024, 5, 11, 8, number, 0)))
        cuff.wait_given(number, seconds=TURN_LIMIT_S)
        thermometer.wait_given(number, seconds=TURN_LIMIT_S)
    lab.receiver.wait(cuff, 3)
    lab.receiver.wait(thermometer, 3)
    for number, _ in cuff.given:
        expect_equal(cuff.links[number - 1]["encrypted"], 0, f"PDUs of link {number} before it was encrypted")
    expect_equal(lab.journal.events("read-failed"), [], "failed reads")
