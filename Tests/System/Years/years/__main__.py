"""What years bring, in an hour. One line a case, and the sum."""

import sys
import tempfile
from pathlib import Path

from kit.results import Results

from .burst import burst
from .dates import dates
from .delivered import delivered
from .living import clients, links, reloads
from .waiting import waiting


def main():
    results = Results()
    with tempfile.TemporaryDirectory(prefix="ingestd-years-") as temporary:
        results.run_wanted({"burst": lambda: burst(Path(temporary)), "delivered": lambda: delivered(Path(temporary)),
                            "links": links, "reloads": reloads, "clients": clients, "waiting": waiting, "dates": dates})
    return results.end()


sys.exit(main())
