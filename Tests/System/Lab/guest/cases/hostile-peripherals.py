"""Strangers who take what they can get: attributes, values and addresses without end."""

from labkit.gateway import local_time
from labkit.kinds import CROWD, CUFF, FLOODER, INVENTOR
from labkit.payloads import DateTime, blood_pressure, temperature
from labkit.waiting import expect, expect_equal, wait_until

TITLE = "strangers with 20,000 attributes, values without end and invented addresses stop no reading and take no memory"
LIMIT_S = 300
# A debug build under emulation takes a tenth of a second for a record.
FLOOD_LIMIT_S = 180
READ_LIMIT_S = 60
ADDRESSES = 8
# Two PDUs for three of 256 characteristics, and what else goes over a link.
MOST_PDUS = 2 * 86 + 40
MEBIBYTE = 1 << 20
MEMORY_HIGH = 64 * MEBIBYTE
STRANGERS = {"address": None}


def run(lab):
    cuff = lab.add("cuff", CUFF)
    crowd, flooder = lab.add("crowd", CROWD), lab.add("flooder", FLOODER)
    lab.gateway.start(cuff, crowd, flooder, settings={crowd: STRANGERS, flooder: STRANGERS},
                      sections={"queue": {"max_size": "16MiB"}})
    pid = lab.gateway.pid

    # Attributes: so many are looked at, and no more, on the next link neither.
    crowd.give(temperature(366, -1))
    looked_at = len(crowd.wait_link_ended(1)["pdus"])
    lab.journal.wait("read-failed", crowd)
    expect(looked_at <= MOST_PDUS, f"{looked_at} PDUs went over the link of the one with many attributes")
    lab.air.remove(crowd)

    # Addresses: each is another device of the entry that the one with many attributes came by.
    before = len(lab.journal.events("read", crowd))
    inventor = lab.air.add("inventor", lab.address(), INVENTOR)
    inventor.give(*(temperature(360 + number, -1, DateTime.of(local_time())) for number in range(ADDRESSES)))
    inventor.wait_given(ADDRESSES, seconds=FLOOD_LIMIT_S)
    lab.air.remove(inventor)
    lab.journal.wait("read", crowd, count=before + ADDRESSES)

    # Values.
    flooder.wake()
    own = []

    def ended():
        own.append(own_memory(lab))
        return lab.journal.events_so_far("disconnected", flooder)
    wait_until("the flood has ended", FLOOD_LIMIT_S, ended)
    sent = flooder.report()["sent"]
    lab.air.remove(flooder)

    cuff.give(blood_pressure((128, 0), (82, 0), (97, 0), DateTime.of(local_time())))
    lab.journal.wait("read", cuff, seconds=READ_LIMIT_S)
    lab.journal.wait("submitted", cuff, seconds=READ_LIMIT_S)

    expect_equal(lab.gateway.pid, pid, "the process")
    memory = dict(line.split() for line in lab.gateway.cgroup("memory.events").splitlines())
    expect_equal((memory["max"], memory["oom"], memory["oom_kill"]), ("0", "0", "0"), "times at the limit of memory")
    most = max(own)
    expect(most < MEMORY_HIGH, f"it took {most // MEBIBYTE} MiB of its own")
    peak = int(lab.gateway.cgroup("memory.peak")) // MEBIBYTE
    return (f"{looked_at} PDUs for 20,000 attributes; {sent} values on a link; {most // MEBIBYTE} MiB of its own, "
            f"{peak} MiB at most with files")


def own_memory(lab):
    """What the service has taken, without files that the kernel could drop, in bytes."""
    return int(dict(line.split() for line in lab.gateway.cgroup("memory.stat").splitlines())["anon"])
