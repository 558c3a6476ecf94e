"""A cuff as most are: its readings are for bonded gateways alone."""

import subprocess

from labkit.commands import run as command
from labkit.kinds import CUFF, INFORMATION, THERMOMETER
from labkit.pairing import PROGRAM, PairCommand, pair
from labkit.payloads import DateTime, blood_pressure, temperature
from labkit.waiting import expect, expect_equal, wait_until

TITLE = ("a cuff that needs a bond: refused without bluetoothd and outside of pairing mode, paired, read encrypted; "
         "who only asks is read")
LIMIT_S = 240
EXCHANGE_MTU_REQUEST = 0x02
UNAVAILABLE = 69
BLUETOOTHD_LIMIT_S = 60


def run(lab):
    cuff = lab.add("cuff", CUFF, information=INFORMATION, battery=77, bonding={"refuses": "authentication"})
    # Asks for a bond on each link, and gives its readings without one all the same.
    asking = lab.add("asking", THERMOMETER, bonding={"refuses": None, "asks": True})
    lab.gateway.start(cuff, asking)
    # While nobody has anything to give: this switches the adapter off, at which a kernel may lose a connection.
    check_without_bluetoothd(cuff)
    asking.give(temperature(365, -1))
    lab.receiver.wait(asking)
    first, second = (blood_pressure((120 + number, 0), (80, 0), (93, 0), DateTime(2024, 5, 5, 8, number, 0))
                     for number in range(2))
    cuff.give(first)
    lab.journal.wait("read-failed", cuff)
    expect_equal(lab.receiver.records(cuff), [], "records before there is a bond")

    cuff.linger()
    PairCommand(cuff.address).wait_failed("refused")
    lab.journal.wait("pair-failed", cuff)
    cuff.linger(False)

    cuff.pairing_mode()
    pair(cuff.address)
    lab.journal.wait("paired", cuff)
    expect_equal(cuff.bonds, [lab.air.plug()], "gateways that the cuff is bonded to")
    cuff.wait_given(1)
    cuff.give(second)
    cuff.wait_given(2)
    records = lab.receiver.wait(cuff, count=2)
    expect_equal([record["raw"]["hex"] for record in records], [first, second], "readings")
    for number, _ in cuff.given:
        expect_equal(cuff.links[number - 1]["encrypted"], 0, f"PDUs of link {number} before it was encrypted")
    # The ATT channel is the gateway's alone: bluetoothd would begin with this one.
    sent = [pdu for link in lab.capture.links(cuff.address) for pdu in link if pdu.sent]
    expect_equal([pdu for pdu in sent if pdu.bytes[0] == EXCHANGE_MTU_REQUEST], [], "requests of bluetoothd")
    expect_equal(len(lab.journal.events("paired", cuff)), 1, "number of paired")
    expect_equal(lab.journal.events("bond-lost", cuff), [], "lost bonds")


def check_without_bluetoothd(cuff):
    command("systemctl", "mask", "--runtime", "bluetooth.service")
    command("systemctl", "stop", "bluetooth.service")
    refused = subprocess.run([PROGRAM, "pair", cuff.address], capture_output=True, text=True,
                             timeout=BLUETOOTHD_LIMIT_S, check=False)
    expect_equal(refused.returncode, UNAVAILABLE, "exit status of ingestd pair without bluetoothd")
    expect_equal(refused.stderr.count("\n"), 1, "lines of its error")
    expect("systemctl start bluetooth" in refused.stderr, f"the error does not say what to do: {refused.stderr}")
    command("systemctl", "unmask", "--runtime", "bluetooth.service")
    command("systemctl", "start", "bluetooth.service")
    wait_until("bluetoothd has the adapter again", BLUETOOTHD_LIMIT_S,
               lambda: "Powered: yes" in command("bluetoothctl", "show", check=False))
