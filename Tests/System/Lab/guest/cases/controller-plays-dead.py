"""A controller that answers nothing any more: the gateway switches the adapter off and on, and says when that is no help."""

import json

from labkit import commands
from labkit.kinds import CUFF
from labkit.payloads import DateTime, blood_pressure
from labkit.waiting import expect, expect_equal, wait_until

TITLE = "a controller that plays dead until it is reset"
PROVE_ONLY = True
LIMIT_S = 800
# A silence is noticed after 150 s; then come three tries, a minute apart, each with time-outs of the kernel.
RESET_LIMIT_S = 250
HELP_LIMIT_S = 500
READ_LIMIT_S = 120


def run(lab):
    cuff = lab.add("cuff", CUFF, awake_s=20, asleep_s=2)
    lab.gateway.start(cuff)
    give(lab, cuff, 1)
    # With the link up, the cuff would still be the one that was read when the adapter comes back.
    cuff.wait_link_ended(1)
    lab.air.play_dead()
    reset, = lab.journal.wait("adapter-reset", seconds=RESET_LIMIT_S)[:1]
    expect_equal(reset["PRIORITY"], "4", "priority")
    expect("hci" in reset["MESSAGE"], f"the message names the adapter: {reset['MESSAGE']}")

    # Some kernels switch a dead controller off and on, which resets it; others cannot (docs/notes/bluez.md).
    def outcome():
        if adapter()["beyond_help"]:
            return "beyond help"
        return "revived" if adapter()["listening"] and not lab.air.adapter_state()["dead"] else None
    found = wait_until("the adapter works again or is told to be beyond help", HELP_LIMIT_S, outcome)
    resets = len(lab.journal.events("adapter-reset"))
    if found == "beyond help":
        expect(resets >= 3, f"it was tried {resets} times")
        told = " ".join(commands.run("ingestd", "status", check=False).split())
        expect("unplug it and plug it in again" in told, f"the status says what to do: {told}")
        lab.air.unplug()
        lab.air.plug()
    give(lab, cuff, 2)
    expect_equal(adapter()["beyond_help"], False, "beyond help at the end")
    return f"{found} after {resets} resets"


def give(lab, cuff, number):
    cuff.give(blood_pressure((120 + number, 0), (80, 0), (93, 0), DateTime(2026, 6, 15, 7, number, 0)))
    lab.journal.wait("read", cuff, count=number, seconds=READ_LIMIT_S)


def adapter():
    found, = json.loads(commands.run("ingestd", "status", "--json", check=False))["adapters"]
    return found
