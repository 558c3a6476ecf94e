"""Runs every case, or those named; one line each, and the sum."""

import sys
import tempfile
from pathlib import Path

from .cases import CASES


def main():
    failed = 0
    names = sys.argv[1:] or CASES
    for name in names:
        with tempfile.TemporaryDirectory(prefix="import-") as directory:
            try:
                CASES[name](Path(directory))
                print(f"ok {name}", flush=True)
            except Exception as error:  # pylint: disable=broad-except  # a case that breaks is one that failed
                failed += 1
                print(f"FAILED {name}: {type(error).__name__}: {error}", flush=True)
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
