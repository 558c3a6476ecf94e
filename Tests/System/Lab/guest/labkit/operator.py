"""`ingestd scan` and `ingestd read` at the operator's terminal."""

import json
import os
import pty
import subprocess
import threading

from .waiting import BUSY_FACTOR, Failure, expect, wait_until

PROGRAM = "/usr/bin/ingestd"
# A scan of the cases, or a device's wake-up and link, with the room that emulation needs.
COMMAND_LIMIT_S = 120


class OperatorCommand:
    """One run of a command with --json; standard error is a terminal, so that it tells how far it is."""

    def __init__(self, *arguments, user=None):
        self.arguments = [str(argument) for argument in arguments]
        terminal, its_side = pty.openpty()
        start = ["runuser", "-u", user, "--"] if user else []
        self.process = subprocess.Popen(
            [*start, PROGRAM, *self.arguments, "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=its_side, text=True)
        os.close(its_side)
        self.told = ""
        self.follower = threading.Thread(target=self.follow, args=(terminal,), daemon=True)
        self.follower.start()

    def follow(self, terminal):
        while True:
            try:
                told = os.read(terminal, 4096)
            except OSError:  # The other side is closed.
                told = b""
            if not told:
                os.close(terminal)
                return
            self.told += told.decode(errors="replace")

    def wait_told(self, text, seconds=COMMAND_LIMIT_S):
        try:
            wait_until("told", seconds, lambda: text in self.told)
        except Failure:
            raise Failure(f"ingestd {' '.join(self.arguments)} did not tell {text!r}; it told: {self.told!r}") from None

    def end(self, status=0):
        """Waits for its end with this status, and returns the objects that it printed."""
        try:
            output, _ = self.process.communicate(timeout=COMMAND_LIMIT_S * BUSY_FACTOR)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failure(f"ingestd {' '.join(self.arguments)} goes on; it told: {self.told!r}") from None
        self.follower.join(COMMAND_LIMIT_S)
        expect(self.process.returncode == status,
               f"ingestd {' '.join(self.arguments)} ended with {self.process.returncode}: {self.told!r}")
        return [json.loads(line) for line in output.splitlines()]
