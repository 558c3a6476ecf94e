"""An advert of a device that is not allow-listed, from the management event's bytes to the decision."""

import re
import subprocess
import sys
import tempfile

from bench.measuring import BUILD, HERE, Row, beside, number

WHAT = "an advert that is not allow-listed, CPU ns"


def allocations(program, *words):
    """How often a program asks for memory."""
    with tempfile.TemporaryDirectory() as directory:
        # Without debug information, which valgrind of Debian 12 cannot read.
        stripped = f"{directory}/{program.name}"
        subprocess.run(["strip", "--strip-debug", "-o", stripped, program], check=True)
        done = subprocess.run(["valgrind", stripped, *map(str, words)], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, check=True, text=True)
    return int(re.search(r"total heap usage: ([\d,]+) allocs", done.stderr).group(1).replace(",", ""))


def rows():
    program = BUILD / "advert-benchmark"
    medians = beside(lambda: number(program, "ours", 10_000_000), {
        "sum": lambda: number(program, "sum", 10_000_000),
        "search": lambda: number(program, "search", 10_000_000),
        "bleak": lambda: number(sys.executable, HERE / "bleak_adverts.py", 10_000)})
    yield Row(WHAT, medians["ours"], "at most 5", medians["sum"], "a sum over the bytes, sixteen at a time")
    yield Row(WHAT, medians["ours"], "at most 5", medians["search"], "a search through the bytes")
    yield Row(WHAT, medians["ours"], "at most 0.01", medians["bleak"], "bleak's callback")
    # The start allocates, and it is the same for both.
    allocated = allocations(program, "ours", 20_000) - allocations(program, "ours", 10_000)
    yield Row("allocations for 10,000 such adverts", allocated, "0")
