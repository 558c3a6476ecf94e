"""Delivery of a backlog over loopback HTTP, beside the same client without a queue and beside syslog-ng."""

import shutil
import subprocess
import time
from contextlib import contextmanager

from bench import gateway
from bench.measuring import QUEUE_BENCHMARK, Row, beside, undisturbed, workspace
from bench.receiver import rate, receiver, wait_for

RECORDS = 100_000
# What the gateway sends in a request if nothing else is configured.
BATCH = 100
REQUESTS = RECORDS // BATCH

SYSLOG_NG = """@version: 3.38
options {{ stats-freq(0); time-reopen(1); log-fifo-size(1000000); use-dns(no); }};
source messages {{ file("{directory}/messages" flags(no-parse) follow-freq(0.1) log-fetch-limit(10000)); }};
destination receiver {{
  http(
    url("http://127.0.0.1:{port}/") method("POST") headers("Content-Type: application/json") workers(4)
    body("${{MESSAGE}}") delimiter(",") body-prefix("[") body-suffix("]") batch-lines({batch}) batch-timeout(1000)
    disk-buffer(reliable(yes) disk-buf-size(4294967296) dir("{directory}")));
}};
log {{ source(messages); destination(receiver); flags(flow-control); }};
"""


def ours(filled, port):
    """Records a second."""
    with workspace() as directory:
        shutil.copyfile(filled / "queue.db", directory / "queue.db")
        gateway.configure(directory, port)
        with receiver(directory, port) as requests:
            process = gateway.start(directory)
            try:
                return rate(wait_for(requests, REQUESTS), BATCH)
            finally:
                gateway.stop(process)


def bare(filled, port):
    with workspace() as directory, receiver(directory, port) as requests:
        url = f"http://127.0.0.1:{port}/"
        subprocess.run([QUEUE_BENCHMARK, "post", url, filled / "batch", str(REQUESTS)], check=True)
        return rate(wait_for(requests, REQUESTS), BATCH)


def syslog_ng(filled, port):
    """Fills the disk buffer while nobody listens; another start delivers it, as the gateway's does."""
    with workspace() as directory:
        shutil.copyfile(filled / "messages", directory / "messages")
        (directory / "syslog-ng.conf").write_text(SYSLOG_NG.format(directory=directory, port=port, batch=BATCH))
        with running_syslog_ng(directory):
            while queued(directory) < RECORDS:
                time.sleep(0.1)
        with receiver(directory, port) as requests, running_syslog_ng(directory):
            return rate(wait_for(requests, REQUESTS), BATCH)


@contextmanager
def running_syslog_ng(directory):
    process = subprocess.Popen(
        ["/usr/sbin/syslog-ng", "-F", "--no-caps", "-f", directory / "syslog-ng.conf", "-R", directory / "persist",
         "-p", directory / "pid", "-c", directory / "control"], stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def queued(directory):
    """How many messages its destination holds."""
    done = subprocess.run(["/usr/sbin/syslog-ng-ctl", "stats", "-c", directory / "control"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    return sum(int(line.split(";")[-1]) for line in done.stdout.splitlines()
               if line.startswith("dst.http;") and ";queued;" in line)


def rows():
    port = gateway.free_port()
    with workspace() as filled:
        gateway.configure(filled, port)
        bodies = gateway.fill(filled, RECORDS)
        (filled / "batch").write_text("\n".join(bodies[:BATCH]))
        (filled / "messages").write_text("".join(body + "\n" for body in (bodies * (RECORDS // len(bodies)))))
        with undisturbed():
            medians = beside(lambda: ours(filled, port), {
                "bare": lambda: bare(filled, port), "syslog-ng": lambda: syslog_ng(filled, port)})
    yield Row("delivery of a backlog, records a second", medians["ours"], "at least 0.67", medians["bare"],
              "a loop that posts one body")
    yield Row("delivery of a backlog, records a second", medians["ours"], "at least 1", medians["syslog-ng"],
              "syslog-ng with a reliable disk buffer")
