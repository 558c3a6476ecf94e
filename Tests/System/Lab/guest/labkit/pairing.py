"""`ingestd pair` at the operator's terminal."""

import json
import subprocess
import tempfile
import threading

from .commands import run
from .waiting import BUSY_FACTOR, Failure, expect, wait_until

PROGRAM = "/usr/bin/ingestd"
# A device that does not say that it is in pairing mode is waited for 15 s; a pairing takes a few under emulation.
PAIR_LIMIT_S = 60
OUTPUT_LIMIT_S = 10
# Steps of --json.
PASSKEY_WANTED, CONFIRM_NUMBER, PAIRED, FAILED = "passkey-wanted", "confirm-number", "paired", "failed"


class PairCommand:
    """One run of the command, from its start; `steps` are what it has said so far."""

    def __init__(self, target):
        self.steps = []
        self.errors = tempfile.TemporaryFile("w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [PROGRAM, "pair", str(target), "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.errors, text=True)
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        for line in self.process.stdout:
            self.steps.append(json.loads(line))

    def wait(self, kind, seconds=PAIR_LIMIT_S):
        """Waits for a step of this kind, and returns it."""
        def found():
            return next((step for step in self.steps if step["step"] == kind), None)
        try:
            return wait_until("there", seconds, found)
        except Failure:
            said = " ".join(step["step"] for step in self.steps) or "nothing"
            raise Failure(f"ingestd pair did not say {kind} within {seconds} s; it said: {said}") from None

    def type(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def wait_paired(self):
        """Returns the last step of a command that has paired."""
        status = self.end()
        last = self.wait(PAIRED, seconds=0)
        expect(status == 0, f"ingestd pair ended with {status}")
        return last

    def wait_failed(self, reason):
        """Waits until the command ends for this reason, and not well."""
        status = self.end()
        last = self.wait(FAILED, seconds=0)
        expect(last["reason"] == reason, f"ingestd pair failed for {last['reason']} instead of {reason}")
        expect(status != 0, "ingestd pair failed, and ended with 0")

    def end(self):
        try:
            status = self.process.wait(PAIR_LIMIT_S * BUSY_FACTOR)
        except subprocess.TimeoutExpired:
            self.process.kill()
            said = " ".join(step["step"] for step in self.steps) or "nothing"
            raise Failure(f"ingestd pair goes on; it said: {said}") from None
        self.process.stdin.close()
        try:
            wait_until("the command's output is read", OUTPUT_LIMIT_S,
                       lambda: self.steps and self.steps[-1]["step"] in (PAIRED, FAILED))
        except Failure as failure:
            self.errors.seek(0)
            raise Failure(f"{failure}; it ended with {status}: {self.errors.read().strip()}") from None
        return status


def pair(target):
    """Pairs with a device in pairing mode that asks for nothing, and returns the command's last step."""
    return PairCommand(target).wait_paired()


def unpair(target):
    run(PROGRAM, "unpair", str(target))


def remove_bond(address):
    """Deletes the gateway's side of a bond behind the service's back."""
    run("bluetoothctl", "remove", address)


def forget_all_bonds():
    """Deletes what bluetoothd keeps of all devices."""
    for line in run("bluetoothctl", "devices", "Paired").splitlines():
        run("bluetoothctl", "remove", line.split()[1], check=False)
