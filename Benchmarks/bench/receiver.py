"""nginx, that answers each request at once and notes when."""

import subprocess
import time
from contextlib import contextmanager

CONFIGURATION = """daemon off;
worker_processes 1;
pid {directory}/nginx.pid;
error_log {directory}/error.log;
events {{ worker_connections 64; }}
http {{
  log_format times '$msec $request_length $status';
  access_log {directory}/access.log times;
  keepalive_requests 1000000000;
  client_max_body_size 0;
  client_body_temp_path {directory};
  proxy_temp_path {directory};
  fastcgi_temp_path {directory};
  uwsgi_temp_path {directory};
  scgi_temp_path {directory};
  server {{ listen 127.0.0.1:{port}; location / {{ return 200; }} }}
}}
"""


@contextmanager
def receiver(directory, port):
    """Listens; gives a function that says what came."""
    # It takes the directory for its own.
    directory = directory / "receiver"
    directory.mkdir(exist_ok=True)
    log = directory / "access.log"
    log.unlink(missing_ok=True)
    path = directory / "nginx.conf"
    path.write_text(CONFIGURATION.format(directory=directory, port=port))
    process = subprocess.Popen(["/usr/sbin/nginx", "-c", path], stderr=subprocess.DEVNULL)

    def requests():
        """The moments of the requests, in seconds, and the bytes of each."""
        lines = log.read_text().splitlines() if log.exists() else []
        fields = [line.split() for line in lines]
        if any(status != "200" for _, _, status in fields):
            raise SystemExit("benchmarks: the receiver refused a request")
        return [(float(moment), int(length)) for moment, length, _ in fields]

    try:
        yield requests
    finally:
        process.terminate()
        process.wait()


def wait_for(requests, count, limit_s=600):
    """Waits until so many requests have come."""
    end = time.monotonic() + limit_s
    while len(found := requests()) < count:
        if time.monotonic() > end:
            raise SystemExit(f"benchmarks: {len(found)} requests instead of {count} after {limit_s} s")
        time.sleep(0.1)
    return found


def rate(found, per_request):
    """Records a second, from the first request to the last, of which the longest had so many records."""
    # One that was not filled counts for what it had.
    full = max(length for _, length in found)
    requests = sum(length for _, length in found[1:]) / full
    return requests * per_request / (found[-1][0] - found[0][0])
