"""A bonded client whose server has other services than at its last visit, between two hosts that are both bluetoothd."""

from contextlib import closing

from labkit.bluez_host import EXTENDED, Btvirt, Thermometer, adapters, listed, visit
from labkit.kinds import THERMOMETER
from labkit.pairing import PairCommand, unpair
from labkit.payloads import temperature
from labkit.waiting import expect, expect_equal

PROVE_ONLY = True
TITLE = ("a bonded thermometer on bluetoothd, which takes the gateway for a client with robust caching, is read after its "
         "handles moved")
LIMIT_S = 400
INDICATION, ERROR, OUT_OF_SYNC = 0x1D, 0x01, 0x12
# Of Service Changed: a first and a last handle (Core Specification, volume 3, part G, section 7.1).
RANGE_SIZE = 4


def run(lab):
    with closing(Btvirt(lab, EXTENDED)):
        gateway, peripheral = adapters()
        with closing(Thermometer(peripheral, "encrypt")) as host:
            thermometer = listed(peripheral, "changing", THERMOMETER)
            settings = {"bluetooth": {"adapter": gateway}}
            lab.receiver.mark()
            lab.gateway.start(thermometer, sections=settings)
            payloads = [temperature(365 + number, -1) for number in range(3)]
            host.order(give=payloads[0])
            lab.journal.wait("read-failed", thermometer)
            PairCommand(thermometer.address).wait_paired()
            host.wait("confirmed")
            lab.journal.wait("submitted", thermometer)
            failures = len(lab.journal.events("read-failed", thermometer))
            lab.gateway.stop()

            # As an operator's bluetoothctl does. The server remembers of the bonded client, which is the gateway too, that
            # it wants to hear of changes and refuses to be answered out of a database that it does not know.
            host.order(show=True)
            visit(gateway, thermometer.address)
            host.order(show=False)
            host.order(grow=True)
            host.wait("grown")
            lab.capture.mark()
            lab.gateway.start(thermometer, sections=settings)
            for count, payload in enumerate(payloads[1:], start=2):
                host.order(give=payload)
                host.wait("confirmed", count=count)
                lab.journal.wait("submitted", thermometer, count=count)
            records = lab.receiver.wait(thermometer, count=len(payloads))
            expect_equal([record["raw"]["hex"] for record in records], payloads, "readings")
            expect_equal(lab.journal.events("bond-lost", thermometer), [], "lost bonds")
            expect_equal(len(lab.journal.events("read-failed", thermometer)), failures, "failures after the change")
            # The next thermometer has the same address.
            unpair(thermometer.address)
            lab.gateway.stop()
    came = [pdu.bytes for link in lab.capture.links(thermometer.address) for pdu in link if not pdu.sent]
    changed = sum(pdu[0] == INDICATION and len(pdu) == 3 + RANGE_SIZE for pdu in came)
    refused = sum(pdu[0] == ERROR and pdu[4] == OUT_OF_SYNC for pdu in came)
    expect(changed + refused, "the server said nothing of the change")
    return f"{changed} Service Changed, {refused} refusals as out of sync"
