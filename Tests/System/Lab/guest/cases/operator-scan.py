"""An installer looks for devices."""

import signal

from labkit.capture import ACTIVE, PASSIVE
from labkit.commands import run as run_program
from labkit.gateway import UNIT
from labkit.kinds import CUFF, THERMOMETER
from labkit.operator import OperatorCommand
from labkit.payloads import temperature
from labkit.waiting import expect, expect_equal, wait_until

TITLE = ("ingestd scan: names of scan responses, entries, nothing in the journal; passive reading goes on after its end, "
         "its client's, the service's; without a service it scans itself")
LIMIT_S = 400
SCANS_ACTIVELY = True
NO_PERMISSION = 77
# The kernel ends a discovery after 10.24 s, and the service an order that nobody asks for after 25 s.
PASSIVE_AGAIN_LIMIT_S = 60


def run(lab):
    listed = lab.add("listed", THERMOMETER)
    strange = lab.add("strange", CUFF, answers_name=True)
    hidden = lab.add("hidden", CUFF, bonding={"private": True})
    lab.gateway.start(listed)
    for peripheral in (strange, hidden):
        peripheral.linger()

    # A busy machine may miss a device in a short scan.
    for seconds in (12, 60):
        scan = OperatorCommand("scan", "--seconds", seconds)
        scan.wait_told("to go")
        # Heard by the scan, and read when it has ended.
        listed.give(temperature(366 + len(listed.given), -1))
        found = scan.end()
        if {listed.address, strange.address} <= {device["address"] for device in found}:
            break
    check_devices(found, listed, strange)
    expect(ACTIVE in lab.capture.scan_types(), "the scan was not active")
    lab.receiver.wait(listed)
    expect_equal(strange.links, [], "links of a device that is not listed")

    for end in (kill_client, stop_client, restart_service):
        scan = OperatorCommand("scan", "--seconds", 120)
        scan.wait_told("to go")
        wait_until("it scans actively", PASSIVE_AGAIN_LIMIT_S, lambda: lab.capture.scan_types()[-1] == ACTIVE)
        end(lab, scan)
        wait_until("it listens passively", PASSIVE_AGAIN_LIMIT_S, lambda: lab.capture.scan_types()[-1] == PASSIVE)
        count = len(listed.given)
        listed.give(temperature(370 + count, -1))
        listed.wait_given(count + 1)
    lab.receiver.wait(listed, count=len(listed.given))

    lab.journal.catch_up()
    told = "".join(str(entry) for entry in lab.journal.entries)
    expect(strange.address not in told and "strange" not in told, "the journal names a device that is not listed")

    lab.gateway.stop()
    found = OperatorCommand("scan", "--seconds", 5).end()
    expect(any(device["address"] == strange.address for device in found), f"without a service: {found}")
    refused = OperatorCommand("scan", user="ingestd")
    refused.end(NO_PERMISSION)
    expect("systemctl start ingestd" in refused.told and refused.told.count("\n") == 1, f"refusal: {refused.told!r}")
    return f"{len(found)} devices"


def check_devices(devices, listed, strange):
    by_address = {device["address"]: device for device in devices}
    expect(listed.address in by_address and strange.address in by_address, f"found: {list(by_address)}")
    expect_equal(by_address[strange.address]["name"], "strange", "name that the answer to a scan request has")
    entries = [match.get("entry") for match in by_address[strange.address]["matches"]]
    expect_equal(entries[0], f'- {{id: {CUFF.model}, address: "{strange.address}"}}', "entry for the allow-list")
    expect_equal(by_address[listed.address]["listed"], {"id": THERMOMETER.model, "alias": "listed"}, "listed as")
    private = [device for device in devices if device["address_type"] == "resolvable"]
    expect_equal([device["matches"][0]["entry"] for device in private], [f"- {{id: {CUFF.model}}}"],
                 "entry of the device with a private address")
    signals = [device["signal"] for device in devices]
    expect_equal(signals, sorted(signals, reverse=True), "order of the signals")


def kill_client(_lab, scan):
    scan.process.kill()
    scan.end(-signal.SIGKILL)


def stop_client(_lab, scan):
    scan.process.send_signal(signal.SIGINT)
    scan.end(130)


def restart_service(lab, scan):
    ready = len(lab.journal.events("adapter-ready"))
    run_program("systemctl", "restart", UNIT)
    scan.end(75)
    lab.journal.wait("adapter-ready", count=ready + 1)
