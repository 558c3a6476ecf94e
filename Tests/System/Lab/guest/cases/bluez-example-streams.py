"""BlueZ's own example of a GATT server, on bluetoothd and on BlueZ's controller emulator."""

from contextlib import closing

from labkit.bluez_host import EXTENDED, LEGACY, Btvirt, Example, adapter_with, listed, other
from labkit.kinds import STRAP
from labkit.waiting import expect, expect_equal, wait_until

PROVE_ONLY = True
TITLE = "BlueZ's heart-rate example is read, with legacy and with extended advertising"
LIMIT_S = 360
INTERVAL_S, LONGEST_S, RECORDS = 5, 15, 3
HEART_RATE = "180d"
NOTIFICATION = 0x1B


def run(lab):
    for name, options in (("extended", EXTENDED), ("legacy", LEGACY)):
        with closing(Btvirt(lab, options)):
            check(lab, name)
            lab.gateway.stop()


def check(lab, name):
    with closing(Example("example-gatt-server")), closing(Example("example-advertisement")):
        adapter = wait_until("the example offers its services", 60, lambda: adapter_with(HEART_RATE))
        strap = listed(adapter, f"strap-{name}", STRAP)
        lab.capture.mark()
        lab.receiver.mark()
        lab.gateway.start(strap, sections={"bluetooth": {"adapter": other(adapter)}},
                          passive={"stream_interval": f"{INTERVAL_S}s", "stream_max": f"{LONGEST_S}s"})
        wait_until("the records of a link arrive", 90, lambda: len(lab.receiver.records(strap)) >= RECORDS)
        records = lab.receiver.records(strap)
    sent = {pdu.bytes[3:].hex() for link in lab.capture.links(strap.address) for pdu in link
            if not pdu.sent and pdu.bytes[0] == NOTIFICATION}
    for record in records:
        raw = record["raw"]["hex"]
        expect(raw in sent, f"{raw} was never sent")
        rate = next(entry["value"] for entry in record["measurements"] if entry["type"] == "heart-rate")
        expect_equal(str(rate), str(bytes.fromhex(raw)[1]), "heart rate")
