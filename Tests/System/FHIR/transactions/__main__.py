"""Runs every case, or those named; one line each, and the sum. `--server PORT` is the server alone."""

import sys
import tempfile
import threading
from pathlib import Path


def serve(port):
    from .server import Server  # pylint: disable=import-outside-toplevel  # it needs none of the cases

    server = Server(port, say=lambda line: print(line, flush=True))
    print(f"listening on {server.url}", flush=True)
    threading.Event().wait()


def main():
    from delivery.results import Results  # pylint: disable=import-outside-toplevel

    from . import documents, samples  # pylint: disable=import-outside-toplevel
    from .requests import Requests  # pylint: disable=import-outside-toplevel

    results = Results()
    results.run_wanted({**samples.CASES, **documents.CASES})
    if not results.named or len(results.outcomes) < len(results.named):
        with tempfile.TemporaryDirectory(prefix="fhir-") as temporary:
            requests = Requests(Path(temporary))
            results.run_wanted(requests.cases())
            requests.stop()
    return results.end()


if sys.argv[1:2] == ["--server"] and len(sys.argv) == 3:
    try:
        serve(int(sys.argv[2]))
    except KeyboardInterrupt:
        sys.exit(0)
sys.exit(main())
