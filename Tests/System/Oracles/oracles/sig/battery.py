"""Battery Service: 2A19."""

from ..payload import Payload
from .common import case


def level(random):
    payload = Payload()
    payload.put("level", random.choice((random.randint(0, 100), random.uint8())), 1)
    return payload


CASES = [case("2A19", level, lambda result, answer: answer.measure("battery", result, "%"), [], count=500)]
