"""Pairing between two hosts that are both bluetoothd."""

from contextlib import closing

from labkit.bluez_host import EXTENDED, LEGACY, Btvirt, Thermometer, adapters, listed
from labkit.kinds import THERMOMETER
from labkit.pairing import PairCommand, unpair
from labkit.payloads import temperature
from labkit.waiting import expect_equal

PROVE_ONLY = True
TITLE = "a thermometer on bluetoothd that gives its readings over encrypted links alone is paired and read"
LIMIT_S = 400


def run(lab):
    for name, options in (("extended", EXTENDED), ("legacy", LEGACY)):
        check(lab, name, options)


def check(lab, name, options):
    with closing(Btvirt(lab, options)):
        gateway, peripheral = adapters()
        with closing(Thermometer(peripheral, "encrypt")) as host:
            thermometer = listed(peripheral, f"thermometer-{name}", THERMOMETER)
            lab.receiver.mark()
            lab.gateway.start(thermometer, sections={"bluetooth": {"adapter": gateway}})
            payloads = [temperature(365 + number, -1) for number in range(3)]
            host.order(give=payloads[0])
            lab.journal.wait("read-failed", thermometer)
            expect_equal(lab.receiver.records(thermometer), [], "records before there is a bond")
            PairCommand(thermometer.address).wait_paired()
            lab.journal.wait("paired", thermometer)
            host.wait("confirmed")
            for count, payload in enumerate(payloads[1:], start=2):
                # Over a link of its own.
                lab.journal.wait("submitted", thermometer, count=count - 1)
                host.order(give=payload)
                host.wait("confirmed", count=count)
            records = lab.receiver.wait(thermometer, count=len(payloads))
            expect_equal([record["raw"]["hex"] for record in records], payloads, "readings")
            expect_equal(lab.journal.events("bond-lost", thermometer), [], "lost bonds")
            # The next thermometer has the same address.
            unpair(thermometer.address)
            lab.gateway.stop()
