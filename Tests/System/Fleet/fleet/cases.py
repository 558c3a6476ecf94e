"""What happens to the fleet, and what has to hold."""

import statistics
import time

from kit.gateway import Failure, expect_equal, wait_until

from .fleet import say
from .mosquitto import mosquitto_forgets

READY_S = 1200
NO_SUBSCRIBERS = "PUBACK 0x10"
# The most that a node may take for a connection, in KiB: many times what was measured.
CONNECTION_KIB = 500
# How long nothing may reach the store after a node is gone, or parted: Erlang notices the latter within 75 s.
GAP_S = 600


def nobody_subscribed(fleet):
    """Without a subscription the broker says so, and the messages are kept; a reader gets them."""
    fleet.crowd.connect(1)
    fleet.crowd.order(burst=1)
    wait_until(lambda: NO_SUBSCRIBERS in fleet.crowd.state()["reasons"], "an answer", 120)
    state = fleet.crowd.order(burst=0)
    expect_equal(state["acknowledged"], 0, "messages that count as delivered")
    fleet.reader.start()
    fleet.settle()
    wait_until(lambda: fleet.crowd.state()["waiting"] == 0, "the messages are delivered", 120)


def memory_per_connection(fleet):
    """The nodes' memory with one of the connections, a quarter, half and all of them."""
    before = {}
    for count in (1, fleet.numbers.connections // 4, fleet.numbers.connections // 2, fleet.numbers.connections):
        fleet.crowd.connect(count)
        time.sleep(10)
        samples = []
        for _ in range(5):
            samples.append(sum(fleet.memory()))
            time.sleep(2)
        before[count] = statistics.median(samples)
        say(f"{count} connections: {before[count] / 1024:.0f} MiB in three nodes")
    each = (before[fleet.numbers.connections] - before[1]) / (fleet.numbers.connections - 1)
    say(f"{each:.0f} KiB for each connection")
    if each > CONNECTION_KIB:
        raise Failure(f"{each:.0f} KiB for each connection")


def deliver(fleet):
    """All gateways and all connections deliver."""
    fleet.crowd.connect(fleet.numbers.connections)
    fleet.begin_gateways()
    fleet.crowd.order(rate=fleet.rate)
    wait_until(lambda: all(gateway.told("submitted") >= 6 for gateway in fleet.gateways), "each gateway delivers", 900)
    # A handshake that takes too long on a busy machine is no refusal.
    refused = [reason for reason in fleet.crowd.state()["reasons"] if reason.startswith(("Refused", "PUBACK"))]
    expect_equal(set(refused) - {NO_SUBSCRIBERS}, set(), "what was refused")
    fleet.rows_grow()


def restart_killed(node):
    node.start()
    wait_until(node.is_ready, f"{node.name} takes connections", READY_S)


def watched(fleet, what, body):
    """Says how long nothing reached the store at the longest while `body` ran, and what became of the connections."""
    before = fleet.crowd.state()
    with fleet.watching() as watch:
        body()
    after = fleet.crowd.state()
    attempts, lost = (after[name] - before[name] for name in ("attempts", "lost"))
    say(f"{what}: {watch.rows} rows meanwhile, none for {watch.gap:.0f} s at the longest; of {before['connected']} "
        f"connections {lost} broke, {attempts} attempts, {after['connected']} there at the end")
    if watch.gap > GAP_S:
        raise Failure(f"nothing came for {watch.gap:.0f} s")


def node_killed(fleet):
    """SIGKILL to one node: records flow through the others, and the node comes back."""
    node = fleet.cluster.nodes[0]

    def body():
        node.kill()
        fleet.rows_grow(GAP_S)
        time.sleep(10)
        restart_killed(node)
        fleet.rows_grow(GAP_S)
        fleet.all_connected()

    watched(fleet, "a node killed", body)


def node_parted(fleet):
    """A node that clients reach and the other nodes do not, for longer than Erlang takes to notice; then it is back."""
    node, *others = fleet.cluster.nodes[1:] + fleet.cluster.nodes[:1]

    def body():
        node.part_from(others)
        for other in others:
            other.part_from([node])
        time.sleep(120)
        for each in fleet.cluster.nodes:
            each.join()
        fleet.rows_grow(GAP_S)
        wait_until(node.is_ready, f"{node.name} takes connections again", READY_S)
        fleet.all_connected()

    watched(fleet, "a node parted for 120 s", body)
    fleet.cluster.await_all()


def restarted_in_turn(fleet):
    """Each node is stopped in order and started again, as for an upgrade."""
    def body():
        for node in fleet.cluster.nodes:
            node.stop()
            restart_killed(node)
            fleet.cluster.await_all()
            fleet.rows_grow(GAP_S)
        fleet.all_connected()

    watched(fleet, "all restarted in turn", body)


def storm(fleet):
    """The balancer dies, and with it every connection; all of them come back at random moments."""
    count = fleet.crowd.state()["connected"]
    before = fleet.crowd.state()
    fleet.cluster.balancer.kill()
    time.sleep(20)
    middle = fleet.crowd.state()
    began, rows = time.monotonic(), fleet.reader.rows()
    fleet.cluster.balancer.start()
    half = None
    while (connected := fleet.crowd.state()["connected"]) < count:
        if half is None and connected >= count / 2:
            half = time.monotonic() - began
        if time.monotonic() - began > 300:
            raise Failure(f"{connected} of {count} connections are back after 300 s")
        time.sleep(0.2)
    took = time.monotonic() - began
    after = fleet.crowd.state()
    fleet.rows_grow()
    say(f"storm: {after['lost'] - before['lost']} connections broke; {middle['attempts'] - before['attempts']} "
        f"attempts in 20 s without a balancer; then half of them were back after {half or took:.0f} s, all {count} "
        f"after {took:.0f} s, with {after['attempts'] - middle['attempts']} attempts, of which "
        f"{after['failures'] - middle['failures']} failed; {fleet.reader.rows() - rows} rows meanwhile")


def acknowledged_survives(fleet):
    """What PUBACK stands for. While nobody reads, so many messages are acknowledged and more are under way; then all
    disks lose their power at once."""
    fleet.reader.kill()
    state = fleet.crowd.state()
    goal = state["acknowledged"] + fleet.numbers.acknowledged
    fleet.crowd.order(burst=min(200, fleet.numbers.connections))
    wait_until(lambda: fleet.crowd.state()["acknowledged"] >= goal, f"{fleet.numbers.acknowledged} acknowledged", 600)
    controls = [node.disk.mount_point / "unsynced" for node in fleet.cluster.nodes]
    for control in controls:
        control.write_bytes(b"x" * 100_000)
    fleet.cluster.cut_power()
    fleet.crowd.order(burst=0)
    fleet.crowd.state()
    acknowledged = set(fleet.crowd.ids("acknowledged"))
    fleet.cluster.power_again()
    expect_equal([control.exists() and control.stat().st_size for control in controls], [0] * len(controls),
                 "what stands in a file that was not synced: if it is there, nothing was cut")
    rows, began = fleet.reader.rows(), time.monotonic()
    fleet.reader.start()
    say(f"power cut: {len(acknowledged)} messages acknowledged in all, {len(acknowledged - fleet.reader.ids())} of "
        f"them not in the store yet")
    await_rows(fleet, acknowledged)
    took = time.monotonic() - began
    lost = acknowledged - fleet.reader.ids()
    say(f"catching up: {fleet.reader.rows() - rows} rows in {took:.0f} s, {fleet.rate} new ones a second meanwhile")
    expect_equal(len(lost), 0, "acknowledged and lost by the power cut")


def await_rows(fleet, ids, quiet=300):
    """Waits until all of these are in the store, or none of them has come for so long."""
    missing, since = None, time.monotonic()
    while left := len(ids - fleet.reader.ids()):
        if left != missing:
            missing, since = left, time.monotonic()
        elif time.monotonic() - since > quiet:
            return
        time.sleep(0.5)


def every_confirmed_once(fleet):
    """The store has one row for each id: all that was confirmed to a peripheral or acknowledged to the crowd, and
    nothing that nobody made."""
    fleet.rest()
    acknowledged, offered = set(fleet.crowd.ids("acknowledged")), set(fleet.crowd.ids("offered"))
    queued = set()
    count = confirmed = 0
    for gateway in fleet.gateways:
        readings = gateway.readings()
        missing = gateway.confirmed() - readings.keys()
        if missing:
            raise Failure(f"{gateway.name} confirmed and does not have {sorted(missing)[:3]}")
        twice = [key for key, ids in readings.items() if len(ids) > 1]
        if twice:
            raise Failure(f"{gateway.name} has under two ids {twice[:3]}")
        count += len(readings)
        confirmed += len(gateway.confirmed())
        queued |= {name for ids in readings.values() for name in ids}
    await_rows(fleet, acknowledged | queued)
    rows = fleet.reader.ids()
    expect_equal(sorted((acknowledged | queued) - rows)[:3], [], "delivered and not in the store")
    expect_equal(sorted(rows - queued - offered)[:3], [], "rows that nobody made")
    expect_equal(fleet.reader.rows(), len(rows), "rows and ids")
    say(f"{count} readings of {len(fleet.gateways)} gateways, {confirmed} confirmed to a peripheral; "
        f"{len(acknowledged)} messages acknowledged to the crowd; {len(rows)} rows; "
        f"{fleet.reader.counted('again')} came again, {fleet.reader.counted('elsewhere')} from another gateway too")


SHORT = {"nobody-subscribed": nobody_subscribed, "deliver": deliver, "node-killed": node_killed,
         "acknowledged-survives-a-power-cut": acknowledged_survives, "every-confirmed-once": every_confirmed_once}
WHOLE = {"nobody-subscribed": nobody_subscribed, "memory-per-connection": memory_per_connection, "deliver": deliver,
         "storm": storm, "acknowledged-survives-a-power-cut": acknowledged_survives, "node-killed": node_killed,
         "node-parted": node_parted, "restarted-in-turn": restarted_in_turn,
         "every-confirmed-once": every_confirmed_once, "mosquitto-forgets": mosquitto_forgets}
