"""Dates far ahead: 2038, where 32 bits end, 2100, which is no leap year, and 2262, where nanoseconds since 1970 end in 64
bits: there the gateway's clock stands.
"""

import tempfile
from pathlib import Path

from kit.gateway import Failure, Gateway

from .service import Receiver

# The gateway starts then; its peripherals give their readings in the seconds after it. And what records may say.
DATES = {
    "2038-01-19 03:14:04": ["2038-01-19T03:14"],
    "2100-02-28 23:59:57": ["2100-02-28T23:59", "2100-03-01T00:00"],
    "2262-04-11 23:47:13": ["2262-04-11T23:47"],
    "2300-07-01 12:00:00": ["2262-04-11T23:47"],
}


def live(date, minutes, directory):
    receiver = Receiver()
    gateway = Gateway(
        directory, "dates", {"clinic": {"url": f"http://127.0.0.1:{receiver.server_port}/", "batch": {"max_wait": "0s"}}},
        # faketime hands on no signal: the gateway is told to stop when faketime has ended.
        prefix=("env", "TZ=UTC", "faketime", "--exclude-monotonic", "-f", f"@{date}", "setpriv", "--pdeathsig", "TERM"))
    try:
        gateway.wait("clinic", "submitted", count=3, seconds=120)
    finally:
        gateway.stop()
        for left in Path("/dev/shm").glob(f"*faketime_*_{gateway.process.pid}"):
            left.unlink()
    received = [record["time"]["received"] for record in receiver.records]
    print(f"{date}: {', '.join(received)}", flush=True)
    if not gateway.of(None, "stopping") or not all(time[:16] in minutes for time in received):
        raise Failure(f"{date}: records of {', '.join(received)}, last event {gateway.events[-1]['INGEST_EVENT']}")


def dates():
    for date, minutes in DATES.items():
        with tempfile.TemporaryDirectory(prefix="ingestd-dates-") as temporary:
            live(date, minutes, Path(temporary))
