"""From the first advert to the committed record, and what goes over the air for it, beside bleak on bluetoothd."""

import statistics

from benchmarks import air, figures
from benchmarks.programs import Program
from labkit import commands
from labkit.kinds import GLUCOSE_METER, INFORMATION, THERMOMETER
from labkit.payloads import DateTime, glucose_record, temperature
from labkit.waiting import expect_equal, wait_until

TITLE = "reads beside bleak's"
LIMIT_S = 900
# Of each kind; each is read twice.
DEVICES, CONTACTS = 3, 2
DEVICE = {"information": INFORMATION, "battery": 64, "asleep_s": 0.2}
RECORDS = 50
# What the kernel asks for: 30 ms to 50 ms.
CONNECTION_INTERVAL_S = 0.03
MEASURED = DateTime(2026, 6, 15, 7, 0, 0)
SCANS_ACTIVELY = True


def run_side(lab, name, begin, commit_times):
    """Has one side read each device twice; `commit_times` gives when its readings were committed."""
    thermometers = [lab.add(f"thermometer-{number}", THERMOMETER, **DEVICE) for number in range(DEVICES)]
    meters = [lab.add(f"meter-{number}", GLUCOSE_METER, **DEVICE) for number in range(DEVICES)]
    for meter in meters:
        # As fast as it can.
        meter.script(pause_s=0.0)
    lab.capture.mark()
    lab.journal.mark()
    end = begin(thermometers, meters)
    for contact in range(CONTACTS):
        for peripheral in thermometers + meters:
            # bluetoothd tells its clients of an advert like the last one only if it is heard 8 dB better or worse.
            lab.air.signal(1, peripheral, (-50, -65)[contact])
        for thermometer, meter in zip(thermometers, meters, strict=True):
            thermometer.give(temperature(370 + contact, -1))
            thermometer.wait_link_ended(contact + 1)
            first = contact * RECORDS + 1
            meter.store(*(glucose_record(number, MEASURED, 90) for number in range(first, first + RECORDS)))
            meter.wait_asleep()
            meter.wait_link_ended(contact + 1)
    describe(lab, f"thermometer, {name}", thermometers, commit_times)
    describe(lab, f"meter, {name}", meters, commit_times)
    end()
    for peripheral in thermometers + meters:
        lab.air.remove(peripheral)


def describe(lab, name, peripherals, commit_times):
    contacts = [list(contact_figures(lab, peripheral, commit_times(peripheral))) for peripheral in peripherals]
    for contact, which in enumerate(("first", "second")):
        seconds, pdus, link_pdus = zip(*(figures_of[contact] for figures_of in contacts), strict=True)
        figures.note(f"{which} contact, {name}", seconds=statistics.median(seconds), pdus=statistics.median(pdus),
                     link_pdus=statistics.median(link_pdus), all_seconds=[round(value, 3) for value in seconds])


def contact_figures(lab, peripheral, commits):
    """Of each contact: seconds from the first advert to the commit, PDUs until then, PDUs on the whole link."""
    wakings = air.wakings(peripheral.address)
    links = peripheral.report()["links"]
    expect_equal([len(link) for link in lab.capture.links(peripheral.address)], [len(link["pdus"]) for link in links],
                 f"PDUs in btmon's capture of the links of {peripheral.name}")
    last_end = 0
    for link, committed in zip(links, commits, strict=True):
        # Where nobody connected at first, it slept and woke up again.
        began = min(waking for waking in wakings if last_end < waking < link["opened"])
        last_end = link["closed"]
        yield committed - began, sum(moment <= committed for moment, _, _ in link["pdus"]), len(link["pdus"])


def run_ours(lab):
    def begin(thermometers, meters):
        lab.gateway.start(*thermometers, *meters)
        return lab.gateway.stop

    def commit_times(peripheral):
        """When the last record of each contact was told to be in the queue."""
        records = 1 if peripheral.kind is THERMOMETER else RECORDS
        times = [int(entry["_SOURCE_REALTIME_TIMESTAMP"]) / 1e6 for entry in lab.journal.events("read", peripheral)]
        expect_equal(len(times), CONTACTS * records, "events of records")
        return times[records - 1::records]

    run_side(lab, "ours", begin, commit_times)


def run_other(lab):
    program = None

    def begin(thermometers, meters):
        nonlocal program
        program = Program(
            "bleak", "/usr/bin/python3", "/lab/guest/benchmarks/bleak_reader.py", "/var/lib/ingestd/bleak.sqlite",
            "active", *(f"{one.address}=temperature" for one in thermometers),
            *(f"{one.address}=glucose" for one in meters))
        program.wait_for("bleak scans", lambda line: line["what"] == "scanning")
        return program.stop

    def commit_times(peripheral):
        def told():
            reads = [line for line in program.lines() if line["what"] == "read" and line["address"] == peripheral.address]
            return reads if len(reads) == CONTACTS else None
        reads = wait_until("bleak has told of all its reads", 10, told)
        # The second report begins at the newest record that is known.
        expected = [1, 1] if peripheral.kind is THERMOMETER else [RECORDS, RECORDS + 1]
        expect_equal([read["records"] for read in reads], expected, "records")
        return [read["committed"] for read in reads]

    run_side(lab, "bleak", begin, commit_times)
    for line in program.lines():
        if line["what"] == "failed":
            print(f"figure note bleak: {line}", flush=True)
    commands.run("bash", "-c", "rm -f /var/lib/ingestd/bleak.sqlite*")


def run(lab):
    lab.air.connection_interval(CONNECTION_INTERVAL_S)
    try:
        run_ours(lab)
        run_other(lab)
    finally:
        lab.air.connection_interval(0)
