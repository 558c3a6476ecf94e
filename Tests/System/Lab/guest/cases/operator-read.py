"""An operator reads a device now, or looks at what it would give."""

from labkit.capture import HANDLE_VALUE_CONFIRMATION
from labkit.kinds import CUFF, GLUCOSE_METER
from labkit.operator import OperatorCommand
from labkit.payloads import DateTime, blood_pressure, glucose_record
from labkit.waiting import expect, expect_equal

TITLE = ("ingestd read: --dry-run confirms, queues and marks nothing; read shows the reading and queues it, also in the "
         "debounce; who does not come is not seen")
LIMIT_S = 400
UNAVAILABLE = 69


def run(lab):
    cuff = lab.add("cuff", CUFF)
    meter = lab.add("meter", GLUCOSE_METER)
    # Long enough that what follows a read falls into its debounce.
    lab.gateway.start(cuff, meter, passive={"quiet_period": "60s", "cooldown": "1s"})

    dry = OperatorCommand("read", CUFF.model, "--dry-run")
    dry.wait_told("Waiting for the device")
    cuff.give(reading(1))
    records = dry.end()
    expect_equal([record["raw"]["hex"] for record in records], [reading(1)], "what the dry run showed")
    link = lab.capture.links(cuff.address)[0]
    expect_equal([pdu for pdu in link if pdu.sent and pdu.bytes[0] == HANDLE_VALUE_CONFIRMATION], [],
                 "confirmations of the dry run")
    # The device gives it again, and passive reading takes it.
    cuff.wait_given(1)
    expect(cuff.given[0][0] > 1, "the reading counts as given on the link of the dry run")
    expect_equal(lab.receiver.wait(cuff)[0]["id"], records[0]["id"], "id")
    expect_equal(len(lab.journal.events("read", cuff)), 1, "number of read")

    read = OperatorCommand("read", cuff.address)
    read.wait_told("Waiting for the device")
    cuff.give(reading(2))
    expect_equal([record["raw"]["hex"] for record in read.end()], [reading(2)], "what was shown in the debounce")
    lab.receiver.wait(cuff, count=2)

    check_meter(lab, meter)
    absent = OperatorCommand("read", cuff.address, "--timeout", 5)
    absent.end(UNAVAILABLE)
    expect("did not show itself" in absent.told, f"not seen: {absent.told!r}")


def check_meter(lab, meter):
    dry = OperatorCommand("read", GLUCOSE_METER.model, "--dry-run")
    dry.wait_told("Waiting for the device")
    meter.store(*(glucose_record(number, DateTime(2026, 5, 5, 8, number, 0), 100 + number) for number in range(1, 4)))
    expect_equal(len(dry.end()), 3, "stored readings that the dry run showed")
    expect_equal(len(lab.receiver.wait(meter, count=3)), 3, "readings that came afterwards")


def reading(number):
    return blood_pressure((120 + number, 0), (80, 0), (93, 0), DateTime(2024, 5, 5, 8, number, 0))
