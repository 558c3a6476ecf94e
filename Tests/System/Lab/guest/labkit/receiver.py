"""`ingestd receive` as the backend, and what it was given."""

import contextlib
import json
import subprocess
import urllib.error
import urllib.request
from decimal import Decimal

from .waiting import expect_equal, wait_until

PORT = 8099
URL = f"http://127.0.0.1:{PORT}"
START_LIMIT_S = 60
RECORD_LIMIT_S = 60


class Receiver:
    """A receiver that runs for all cases; `mark` sets the place from which the next questions count."""

    def __init__(self, output_path, error_path):
        self.output_path = output_path
        self.error_path = error_path
        self.start = 0
        self.begin()

    def begin(self):
        with open(self.output_path, "ab") as output, open(self.error_path, "ab") as errors:
            self.process = subprocess.Popen(
                ["/usr/bin/ingestd", "receive", "--json", "--port", str(PORT)], stdout=output, stderr=errors)
        wait_until("the receiver listens", START_LIMIT_S, self.listens)

    @contextlib.contextmanager
    def paused(self):
        """Leaves its port to another one."""
        self.close()
        try:
            yield
        finally:
            self.begin()

    def listens(self):
        try:
            self.answer(200)
            return True
        except urllib.error.URLError:
            return False

    def control(self, path, body):
        request = urllib.request.Request(f"{URL}/control/{path}", data=body.encode(), method="POST")
        with urllib.request.urlopen(request, timeout=10):
            pass

    def answer(self, status):
        """Sets the status of all its answers from now on."""
        self.control("answer", str(status))

    def refuse(self, text):
        """Makes it answer 400 to bodies that hold this text; an empty text ends that."""
        self.control("refuse", text)

    def accepted(self):
        """All records that it answered 2xx to, in their order, numbers as decimals with the digits sent."""
        records = []
        with open(self.output_path, encoding="utf-8") as output:
            for line in output:
                if line.endswith("\n") and line.strip():
                    records += accepted_records(json.loads(line, parse_float=Decimal))
        return records

    def mark(self):
        self.start = len(self.accepted())

    def records(self, peripheral=None):
        """The records accepted since the mark, of one peripheral or all."""
        return [record for record in self.accepted()[self.start:]
                if peripheral is None or record["device"]["address"] == peripheral.address]

    def wait(self, peripheral, count=1, seconds=RECORD_LIMIT_S):
        """Waits for that many records of a peripheral, and returns them; more than that fails."""
        wait_until(f"{count} records of {peripheral.name} at the receiver", seconds,
                   lambda: len(self.records(peripheral)) >= count)
        records = self.records(peripheral)
        expect_equal(len(records), count, f"records of {peripheral.name} at the receiver")
        return records

    def wait_different(self, peripheral, count, seconds=RECORD_LIMIT_S):
        """Waits for that many different records of a peripheral, of different payloads, and returns them by those.

        A request whose answer a gateway that stops does not hear comes again as it was, under its Idempotency-Key.
        """
        def ids():
            return {record["id"] for record in self.records(peripheral)}
        wait_until(f"{count} different records of {peripheral.name} at the receiver", seconds,
                   lambda: len(ids()) >= count)
        expect_equal(len(ids()), count, f"different records of {peripheral.name}")
        payloads = {record["raw"]["hex"]: record for record in self.records(peripheral)}
        expect_equal(len(payloads), count, f"different payloads of {peripheral.name}")
        return payloads

    def close(self):
        self.process.terminate()
        self.process.wait()


def accepted_records(line):
    """The record in one line of output, in a list of its own; none if the request was refused."""
    # A status document is no record.
    return [line["record"]] if "record" in line and 200 <= line["status"] < 300 else []
