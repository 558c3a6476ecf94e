"""What two decoders say of one payload, side by side.

An answer is a dictionary of facts: `systolic 1`: (value, unit) for the first measurement of that type, `flag x`: True,
`device_time`, `sequence`, …; or `refused`: the reason alone.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Any, Callable

# What an oracle can say of a number that is none.
ABSENT_AS_FLOAT = {"not-a-number": math.nan, "not-at-this-resolution": math.nan, "positive-infinity": math.inf,
                   "negative-infinity": -math.inf}


class Answer(dict):
    """The facts of one answer; `measure` numbers the measurements of one type in the order of the payload."""

    def measure(self, type_, value, unit):
        if value is None:
            return
        n = 1
        while f"{type_} {n}" in self:
            n += 1
        self[f"{type_} {n}"] = (value, unit)

    def flag(self, name, is_set=True):
        if is_set:
            self[f"flag {name}"] = True

    def time(self, time):
        if time is not None:
            self["device_time"] = time.strftime("%Y-%m-%dT%H:%M:%S").zfill(19)

    def further(self, n, record):
        """The facts of another record in the same payload."""
        self.update({f"record {n} {name}": value for name, value in record.items()})

    def fact(self, name, value):
        if value is not None:
            self[name] = value


def ours(answer):
    """The facts of what `ingestd decode` printed."""
    facts = Answer()
    if not answer["ok"]:
        facts["refused"] = answer["error"]
        return facts
    for measurement in answer["measurements"]:
        value = measurement["value"]
        facts.measure(measurement["type"], measurement["absent"] if value is None else value, measurement["unit"])
    for name in ("device_time", "time_offset_minutes", "sequence", "user"):
        facts.fact(name, answer.get(name))
    for name in answer.get("flags", []):
        facts.flag(name)
    for n, record in enumerate(answer.get("further", []), 2):
        facts.further(n, ours(record))
    return facts


def same_number(our, their):
    """Whether an exact number, or the reason for none, is what a floating-point number says."""
    if isinstance(our, str):
        expected = ABSENT_AS_FLOAT.get(our)
        if expected is None or not isinstance(their, (int, float)):
            return False
        return math.isnan(their) if math.isnan(expected) else their == expected
    if isinstance(their, bool) or not isinstance(their, (int, float, Decimal)):
        return False
    return math.isclose(float(our), float(their), rel_tol=1e-9, abs_tol=1e-200)


def same(our, their):
    if isinstance(our, tuple) and isinstance(their, tuple):
        return same_number(our[0], their[0]) and our[1] == their[1]
    return our == their


def differences(our, their):
    """The names of the facts that differ; `refused` alone when only one of the two has an answer."""
    if "refused" in our or "refused" in their:
        return [] if "refused" in our and "refused" in their else ["refused"]
    return [name for name in {**our, **their}
            if name not in our or name not in their or not same(our[name], their[name])]


@dataclass
class Difference:
    """A known difference, and why it is one."""

    about: str
    """In our words."""
    facts: str
    """The facts that differ: patterns of their names, with | between."""
    when: Callable[[Any], bool]
    """The condition on the payload."""
    wrong: str
    """The package that errs, `ingestd`, or `neither`."""
    source: str
    """The specification and the place in it."""
    says: str
    """Its words, in quotation marks, or else what it has there."""
    how: Callable[[Any, Any], bool] = lambda our, their: True
    """What else holds of the two values; None for a fact that one of them lacks."""

    def explains(self, fact, payload, our, their):
        matches = any(fnmatchcase(fact, pattern) for pattern in self.facts.split("|"))
        return matches and self.when(payload) and self.how(our.get(fact), their.get(fact))


@dataclass
class Mend:
    """A fault of an oracle that spoils every answer, and is therefore mended before it is asked."""

    about: str
    source: str
    says: str
    is_there: Callable[[], bool]
    """Whether the fault is still there."""
    apply: Callable[[], None]


@dataclass
class Case:
    """One characteristic, or one format of adverts."""

    name: str
    arguments: list
    """Of `ingestd decode`."""
    generate: Callable[[Any], Any]
    theirs: Callable[[Any], Answer]
    known: list
    count: int | None = None
    """How many payloads, where the default is not right."""
