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
# The short form breaks at each PDU to the confirmation and the one after it, and at every sixth of those that follow.
IN_SHORT = 6
# Awake until it is its turn; asleep for longer than the gateway's quiet_period and cooldown, however busy it is.
TIMES = {"awake_s": 40, "asleep_s": 7}
# For breaks that a busy machine kept from happening: they are made again, each with a peripheral of its own.
SPARES = 6
ADAPTER_OFF = "the adapter is gone or off"
NO_CONNECTION = "no connection: it stopped advertising or is out of range"


class Disturbed(Exception):
    """The link that was broken was none of the gateway's reads, an attempt failed before it had a link, or the gateway had
    to switch the adapter off and on."""


def run(lab):
    reference = add(lab, "reference")
    lab.gateway.start(reference)
    reference.give(temperature(365, -1))
    pdus = [(direction, pdu) for _, direction, pdu in reference.wait_link_ended(1)["pdus"]]
    lab.gateway.stop()
    indication = next(number for number, (_, pdu) in enumerate(pdus, start=1) if pdu.startswith("1d"))

    breaks = [("drop_after", number) for number in range(1, len(pdus) + 1)]
    breaks += [("lose", number) for number, (direction, _) in enumerate(pdus, start=1) if direction == ">"]
    if lab.is_quick:
        breaks = [(fault, number) for fault, number in breaks if number <= indication + 2 or number % IN_SHORT == 0]
    trials = [(add(lab, f"{fault.replace('_', '-')}-{number}"), fault, number) for fault, number in breaks]
    spares = [add(lab, f"again-{number}") for number in range(1, SPARES + 1)]
    lab.gateway.start(*(peripheral for peripheral, _, _ in trials), *spares)
    failures = []
    while trials:
        wave, trials = trials[:SIDE_BY_SIDE], trials[SIDE_BY_SIDE:]
        losses = len(lab.journal.events("adapter-lost"))
        for peripheral, fault, number in wave:
            peripheral.fault(**{fault: number})
            peripheral.give(temperature(3600 + len(trials) + number, -2))
        for peripheral, fault, number in wave:
            try:
                check(lab, peripheral, fault, number, indication, pdus[0], losses)
            except Disturbed as reason:
                if spares:
                    trials.append((spares.pop(0), fault, number))
                else:
                    failures.append(f"{fault} {number}: {reason}, and all {SPARES} spare peripherals are used")
            except Failure as failure:
                failures.append(f"{peripheral.name}, {fault} {number}: {failure}")
    expect(not failures, "; ".join(failures))
    again = f", {SPARES - len(spares)} of them made again" if len(spares) < SPARES else ""
    return f"{len(breaks)} breaks of a link of {len(pdus)} PDUs{again}"


def add(lab, name):
    return lab.add(name, THERMOMETER, information=INFORMATION, battery=77, **TIMES)


def check(lab, peripheral, fault, number, indication, first, losses):
    """Fails if the reading is not one record or the journal tells of another break; `losses` is how often the adapter had
    been lost before."""
    confirmation = indication + 1
    wait_until("the reading is confirmed", TRIAL_LIMIT_S, lambda: peripheral.report()["given"])
    record, = lab.receiver.wait(peripheral, seconds=TRIAL_LIMIT_S)
    lab.journal.wait("submitted", peripheral, record_id=tag(record["id"]))
    expect_equal([entry["INGEST_RECORD_ID"] for entry in lab.journal.events("read", peripheral)], [tag(record["id"])],
                 "records read")
    # An attempt that is given up at the moment of the link leaves the link to bluetoothd, whose first PDU is another one, or
    # the link ends without a PDU.
    pdus = [(direction, pdu) for _, direction, pdu in peripheral.links[0]["pdus"]]
    if not pdus or pdus[0] != first:
        raise Disturbed("the broken link was not the gateway's")
    adapter_off = lab.journal.events("read-failed", peripheral, error=ADAPTER_OFF)
    if adapter_off and len(lab.journal.events("adapter-lost")) > losses:
        raise Disturbed("the adapter was switched off and on")
    events = [name for name in lab.journal.names(peripheral)
              if name in ("read", "read-failed", "duplicate-ignored", "submitted")]
    attempts = len(events) - events.count("submitted")
    errors = [entry["INGEST_ERROR"] for entry in lab.journal.events("read-failed", peripheral)]
    if len(peripheral.links) < attempts and (ADAPTER_OFF in errors or NO_CONNECTION in errors):
        raise Disturbed("an attempt failed before it had a link")
    told = f"events of {len(peripheral.links)} links, read-failed: {errors}"
    not_committed = ["read-failed", "read", "submitted"]
    repeated = ["duplicate-ignored", "read", "submitted"]
    if number < indication:
        expect_equal(sorted(events), sorted(not_committed), told)
    elif (fault, number) == ("drop_after", indication):
        # The indication has arrived, and the gateway may see it or the end of the link first.
        expect(sorted(events) in (sorted(not_committed), sorted(repeated)), f"{told}: {events}")
    elif (fault, number) == ("lose", confirmation):
        expect_equal(sorted(events), sorted(repeated), told)
    else:
        expect_equal(sorted(events), ["read", "submitted"], told)
        expect_equal(len(peripheral.given), 1, "times given")
