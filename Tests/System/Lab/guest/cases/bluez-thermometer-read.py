"""A thermometer whose host is bluetoothd, on BlueZ's controller emulator."""

from contextlib import closing

from labkit.bluez_host import EXTENDED, LEGACY, Btvirt, Thermometer, adapters, listed
from labkit.kinds import THERMOMETER
from labkit.payloads import temperature
from labkit.waiting import expect, expect_equal

TITLE = "a thermometer on bluetoothd is read while bluetoothd asks the gateway in turn, and again after its handles moved"
LIMIT_S = 400
EMULATORS = {"extended": EXTENDED, "legacy": LEGACY}
IN_SHORT = ("extended",)
# Of a client: Exchange MTU, Find Information, Find By Type Value, Read By Type, Read, Read By Group Type.
REQUESTS = (0x02, 0x04, 0x06, 0x08, 0x0A, 0x10)
INDICATION = 0x1D


def run(lab):
    return "; ".join(check(lab, name, EMULATORS[name]) for name in (IN_SHORT if lab.is_quick else EMULATORS))


def check(lab, name, options):
    with closing(Btvirt(lab, options)):
        gateway, peripheral = adapters()
        with closing(Thermometer(peripheral)) as host:
            thermometer = listed(peripheral, f"thermometer-{name}", THERMOMETER)
            lab.capture.mark()
            lab.receiver.mark()
            lab.gateway.start(thermometer, sections={"bluetooth": {"adapter": gateway}})
            # At first all is unknown; then the handles are remembered; then they are others; then these are remembered.
            payloads = [temperature(365 + number, -1) for number in range(4)]
            for count, payload in enumerate(payloads, start=1):
                if count == 3:
                    host.order(grow=True)
                    host.wait("grown")
                host.order(give=payload)
                host.wait("confirmed", count=count)
                lab.journal.wait("submitted", thermometer, count=count)
            records = lab.receiver.wait(thermometer, count=len(payloads))
            expect_equal([record["raw"]["hex"] for record in records], payloads, "readings")
            lab.gateway.stop()
    links = lab.capture.links(thermometer.address)
    asked = [sum(not pdu.sent and pdu.bytes[0] in REQUESTS for pdu in link) for link in links]
    expect(asked[0] > 0, "bluetoothd asked the gateway nothing")
    handles = {pdu.bytes[1:3] for link in links for pdu in link if not pdu.sent and pdu.bytes[0] == INDICATION
               and pdu.bytes[3:].hex() in payloads}
    expect_equal(len(handles), 2, "handles of the thermometer")
    return f"{name}: {asked[0]} requests of bluetoothd on the first of {len(links)} links"
