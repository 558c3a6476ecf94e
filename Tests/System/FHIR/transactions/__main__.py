"""Runs every case, or those named; one line each, and the sum. `--server PORT` is the server alone."""

import sys
import threading


def serve(port):
    from .server import Server  # pylint: disable=import-outside-toplevel  # it needs none of the cases

    server = Server(port, say=lambda line: print(line, flush=True))
    print(f"listening on {server.url}", flush=True)
    threading.Event().wait()


def main():
    from kit.results import Results  # pylint: disable=import-outside-toplevel

    from . import documents, samples  # pylint: disable=import-outside-toplevel
    from .requests import Requests  # pylint: disable=import-outside-toplevel

    results = Results()
    results.run_wanted({**samples.CASES, **documents.CASES})
    results.run_on(Requests, "fhir-")
    return results.end()


if sys.argv[1:2] == ["--server"] and len(sys.argv) == 3:
    try:
        serve(int(sys.argv[2]))
    except KeyboardInterrupt:
        sys.exit(0)
sys.exit(main())
