"""One file per case, whose name says what it shows.

Each has a TITLE and run(lab), whose text goes into the result line. A case may also have:
  LIMIT_S         how long it may take
  RESTARTS        how often it kills the service
  SCANS_ACTIVELY  it has the gateway scan actively
  ON_BAD_KERNEL, SHOWN_BY_UNITS, PROVE_ONLY, NEEDS_PACKAGE, NEEDS_PREVIOUS
                  where it runs; see the lab's README
"""
