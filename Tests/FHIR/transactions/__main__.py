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
    from . import documents, samples  # pylint: disable=import-outside-toplevel
    from .requests import Requests  # pylint: disable=import-outside-toplevel

    results = {}

    def note(name, body):
        if sys.argv[1:] and name not in sys.argv[1:]:
            return
        try:
            body()
            results[name] = None
        except Exception as error:  # pylint: disable=broad-except  # a case that breaks is one that failed
            results[name] = f"{type(error).__name__}: {error}"
        print(f"ok {name}" if results[name] is None else f"FAILED {name}: {results[name]}", flush=True)

    for name, body in {**samples.CASES, **documents.CASES}.items():
        note(name, body)
    if not sys.argv[1:] or len(results) < len(sys.argv[1:]):
        with tempfile.TemporaryDirectory(prefix="fhir-") as temporary:
            requests = Requests(Path(temporary))
            for name, body in requests.cases().items():
                note(name, body)
            requests.stop()
    failed = sum(result is not None for result in results.values())
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed or not results else 0


if sys.argv[1:2] == ["--server"] and len(sys.argv) == 3:
    try:
        serve(int(sys.argv[2]))
    except KeyboardInterrupt:
        sys.exit(0)
sys.exit(main())
