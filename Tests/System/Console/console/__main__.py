"""Runs every case, or those named; one line each, and the sum."""

import sys

from kit.results import Results

from .attacks import Attacks
from .page import Page
from .work import Work


def main():
    results = Results()
    results.run_on(Attacks, "console-")
    results.run_on(Page, "console-")
    results.run_on(Work, "console-")
    return results.end()


sys.exit(main())
