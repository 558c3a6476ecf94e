"""Runs every case, or those named; one line each, and the sum."""

import sys
import tempfile
from pathlib import Path

from kit.results import Results

from . import app_cases, cases


def main():
    results = Results()
    for name, body in {**cases.CASES, **app_cases.CASES}.items():
        if results.wants(name):
            with tempfile.TemporaryDirectory(prefix="import-") as directory:
                results.run(name, body, Path(directory))
    return results.end()


sys.exit(main())
