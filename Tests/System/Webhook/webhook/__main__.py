"""Runs every case, or those named; one line each, and the sum."""

import sys

from kit.results import Results

from . import annotated, documents, openapi, schema
from .requests import Requests


def main():
    results = Results()
    results.run_wanted({**schema.CASES, **documents.CASES, **annotated.CASES, **openapi.CASES})
    results.run_on(Requests, "webhook-")
    return results.end()


sys.exit(main())
