"""Short, or whole: one line a check, then the sum."""

import os
import sys
import time
from pathlib import Path

from kit.results import Results

from .fleet import Fleet, Numbers
from . import cases


def main():
    is_whole = os.environ["FLEET"] == "whole"
    numbers = Numbers(gateways=20, connections=2000, acknowledged=10_000) if is_whole else \
        Numbers(gateways=3, connections=50, acknowledged=1000)
    results = Results()
    began = time.monotonic()
    fleet = Fleet(Path(os.environ["FLEET_WORK"]), numbers)
    for name, body in (cases.WHOLE if is_whole else cases.SHORT).items():
        results.run(name, body, fleet)
    print(f"{time.monotonic() - began:.0f} s")
    return results.end()


sys.exit(main())
