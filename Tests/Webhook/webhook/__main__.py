"""Runs every case, or those named; one line each, and the sum."""

import sys
import tempfile
from pathlib import Path

from . import documents, schema
from .requests import Requests


def main():
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

    for name, body in {**schema.CASES, **documents.CASES}.items():
        note(name, body)
    if not sys.argv[1:] or len(results) < len(sys.argv[1:]):
        with tempfile.TemporaryDirectory(prefix="webhook-") as temporary:
            requests = Requests(Path(temporary))
            for name, body in requests.cases().items():
                note(name, body)
            requests.stop()
    failed = sum(result is not None for result in results.values())
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed or not results else 0


sys.exit(main())
