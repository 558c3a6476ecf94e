"""The link breaks at every PDU in turn. Each break has a peripheral of its own, so that several run side by side."""

from labkit.kinds import INFORMATION, THERMOMETER
from labkit.payloads import temperature
from labkit.tags import tag
from labkit.waiting import Failure, expect, expect_equal, wait_until

ON_BAD_KERNEL = True
TITLE = "the link breaks at each PDU in turn: one record in the end, every time"
LIMIT_S = 400
# How many peripherals are on the air at a time: the emulated radio is a Python program under emulation.
SIDE_BY_SIDE = 6
TRIAL_LIMIT_S = 90
# Awake until it is its turn; asleep for longer than the gateway's quiet_period and cooldown, however busy it is.
TIMES = {"awake_s": 40, "asleep_s": 7}


def run(lab):
    reference = add(lab, "reference")
    lab.gateway.start(reference)
    reference.give(temperature(365, -1))
    pdus = [(direction, pdu) for _, direction, pdu in reference.wait_link_ended(1)["pdus"]]
    lab.gateway.stop()
    indication = next(number for number, (_, pdu) in enumerate(pdus, start=1) if pdu.startswith("1d"))

    breaks = [("drop_after", number) for number in range(1, len(pdus) + 1)]
    breaks += [("lose", number) for number, (direction, _) in enumerate(pdus, start=1) if direction == ">"]
    trials = {}
    for fault, number in breaks:
        peripheral = add(lab, f"{fault.replace('_', '-')}-{number}")
        peripheral.fault(**{fault: number})
        trials[peripheral] = (fault, number)
    lab.gateway.start(*trials)
    failures = []
    peripherals = list(trials)
    for start in range(0, len(peripherals), SIDE_BY_SIDE):
        wave = peripherals[start:start + SIDE_BY_SIDE]
        for peripheral in wave:
            peripheral.give(temperature(3600 + len(peripheral.name) + start, -2))
        for peripheral in wave:
            try:
                check(lab, peripheral, *trials[peripheral], indication, pdus[0])
            except Failure as failure:
                failures.append(f"{peripheral.name}: {failure}")
    expect(not failures, "; ".join(failures))
    return f"{len(breaks)} breaks of a link of {len(pdus)} PDUs"


def add(lab, name):
    return lab.add(name, THERMOMETER, information=INFORMATION, battery=77, **TIMES)


def check(lab, peripheral, fault, number, indication, first):
    confirmation = indication + 1
    wait_until("the reading is confirmed", TRIAL_LIMIT_S, lambda: peripheral.report()["given"])
    record, = lab.receiver.wait(peripheral, seconds=TRIAL_LIMIT_S)
    lab.journal.wait("submitted", peripheral, record_id=tag(record["id"]))
    events = [name for name in lab.journal.names(peripheral)
              if name in ("read", "read-failed", "duplicate-ignored", "submitted")]
    not_committed = ["read-failed", "read", "submitted"]
    repeated = ["duplicate-ignored", "read", "submitted"]
    # An attempt that is given up at the moment of the link, on a busy machine, leaves the link to bluetoothd, whose first
    # PDU is another one. The break was that link's; the attempt may be told as a read that failed.
    pdus = [(direction, pdu) for _, direction, pdu in peripheral.links[0]["pdus"]]
    if not pdus:
        # It was given up as the link came, and nothing was sent: the break did not happen.
        expect_equal(sorted(set(events) - {"read-failed"}), ["read", "submitted"], "events after a link without a PDU")
    elif pdus[0] != first:
        expect_equal(sorted(set(events) - {"read-failed"}), ["read", "submitted"], "events after a link of bluetoothd's")
    elif number < indication:
        expect_equal(sorted(events), sorted(not_committed), "events")
    elif (fault, number) == ("drop_after", indication):
        # The indication has arrived, and the gateway may see it or the end of the link first.
        expect(sorted(events) in (sorted(not_committed), sorted(repeated)), f"events {events}")
    elif (fault, number) == ("lose", confirmation):
        expect_equal(sorted(events), sorted(repeated), "events")
    else:
        expect_equal(sorted(events), ["read", "submitted"], "events")
        expect_equal(len(peripheral.given), 1, "times given")
    expect_equal([entry["INGEST_RECORD_ID"] for entry in lab.journal.events("read", peripheral)], [tag(record["id"])],
                 "records read")
