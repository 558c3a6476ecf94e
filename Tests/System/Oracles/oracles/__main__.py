"""Compares every case, or those named; one line each, and the sum.

With --print it prints the payloads instead, with --speed how many a second both decode.
"""

import json
import os
import subprocess
import sys
import time
import zlib
from collections import Counter
from decimal import Decimal

from . import cases
from .comparison import differences, ours
from .payload import Random

SEED = int(os.environ.get("SEED", "1"))
PAYLOADS = int(os.environ.get("PAYLOADS", "2000"))
EXAMPLES = 3
SPEED_PAYLOADS = 200_000


def decode(case, payloads):
    """What `ingestd decode` answers to all payloads, by one process."""
    lines = "".join(payload.bytes.hex() + "\n" for payload in payloads)
    result = subprocess.run([os.environ["INGESTD"], "decode", *case.arguments, "-"], input=lines, text=True,
                            capture_output=True, timeout=600)
    answers = [json.loads(line, parse_float=Decimal, parse_int=Decimal) for line in result.stdout.splitlines()]
    if result.returncode != 0 or len(answers) != len(payloads):
        raise ChildProcessError(f"ingestd ended with {result.returncode} after {len(answers)} of {len(payloads)} "
                                f"answers: {result.stderr.strip()}")
    return answers


def payloads_of(case):
    random = Random(SEED << 32 | zlib.crc32(case.name.encode()))
    return [case.generate(random) for _ in range(min(case.count or PAYLOADS, PAYLOADS))]


def run(case):
    """Whether every difference is known, and every known one occurs; and what to print."""
    payloads = payloads_of(case)
    occurred = Counter()
    unknown = []
    different = 0
    try:
        answers = decode(case, payloads)
    except ChildProcessError as error:
        return False, f"FAILED {case.name}: {error}"
    for payload, answer in zip(payloads, answers):
        our, their = ours(answer), case.theirs(payload)
        facts = differences(our, their)
        different += bool(facts)
        for fact in facts:
            reasons = [known.about for known in case.known if known.explains(fact, payload, our, their)]
            occurred.update(reasons)
            if not reasons:
                unknown.append(f"  {payload.bytes.hex()}: {fact}: ingestd {our.get(fact)!s}, oracle {their.get(fact)!s}"
                               + (f" ({their['refused']})" if "refused" in their else ""))
    gone = [f"  no longer occurs: {known.about}" for known in case.known if not occurred[known.about]]
    if unknown or gone:
        more = [f"  and {len(unknown) - EXAMPLES} more"] if len(unknown) > EXAMPLES else []
        return False, "\n".join([f"FAILED {case.name}: {len(unknown)} unknown differences", *unknown[:EXAMPLES], *more,
                                 *gone])
    return True, f"ok {case.name} {len(payloads)} payloads, {different} known differences"


def speed(case):
    """How many payloads a second both decode: ours as a process, with its start and its text; theirs as calls."""
    payloads = payloads_of(case)
    many = payloads * (SPEED_PAYLOADS // len(payloads))
    lines = "".join(payload.bytes.hex() + "\n" for payload in many)
    start = time.perf_counter()
    subprocess.run([os.environ["INGESTD"], "decode", *case.arguments, "-"], input=lines, text=True,
                   stdout=subprocess.DEVNULL, check=True)
    our = len(many) / (time.perf_counter() - start)
    start = time.perf_counter()
    for payload in payloads:
        case.theirs(payload)
    their = len(payloads) / (time.perf_counter() - start)
    return f"{case.name}: ingestd {our:,.0f} a second, oracle {their:,.0f}, {our / their:.0f} times as many"


def main():
    names = [name for name in sys.argv[1:] if name not in ("--print", "--speed")]
    chosen = [case for case in cases.ALL if not names or case.name in names]
    if len(chosen) < len(names):
        sys.exit(f"oracles: expected some of {', '.join(case.name for case in cases.ALL)}")
    if "--print" in sys.argv:
        for case in chosen:
            print("\n".join(bytes(payload.bytes).hex() for payload in payloads_of(case)))
        return
    if "--speed" in sys.argv:
        for case in chosen:
            print(speed(case))
        return
    passed = failed = 0
    for mend in cases.MENDS:
        if not mend.is_there():
            print(f"FAILED the mend is needed no longer: {mend.about}")
            failed += 1
        mend.apply()
    for case in chosen:
        is_same, text = run(case)
        print(text, flush=True)
        passed, failed = passed + is_same, failed + (not is_same)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)


main()
