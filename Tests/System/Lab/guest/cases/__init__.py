"""One file per case, whose name says what it shows.

Each has a TITLE and run(lab), whose text goes into the result line. A case may also have:
  LIMIT_S         how long it may take
  RESTARTS        how often it kills the service
  SCANS_ACTIVELY  it has the gateway scan actively
  NEEDS_PACKAGE   it installs the Debian package
  SHOWN_BY_UNITS  unit tests show the same
`make test` leaves out cases with one of the last two.
"""
