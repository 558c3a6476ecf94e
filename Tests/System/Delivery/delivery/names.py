"""A name that cannot be looked up for a while: in a mount namespace of the gateway's own."""

from kit.gateway import Gateway, expect_equal

from . import behaviours
from .cases import READINGS
from .proof import nothing_lost, read_tags, state


def run(world):
    hosts = world.file("hosts", "127.0.0.1 box.example\n", mode=0o644)
    # Nothing listens there: every question fails at once.
    resolver = world.file("resolv.conf", "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n", mode=0o644)
    script = f'mount --bind {hosts} /etc/hosts && mount --bind {resolver} /etc/resolv.conf && exec "$@"'
    prefix = ["unshare", "--mount", "sh", "-c", script, "sh"]
    trusted = {"ca_file": str(world.certificates.authority.path)}
    server = behaviours.Backend(behaviours.takes)
    gateway = Gateway(world.directory, "names", {
        "counted": {"url": f"http://localhost:{server.port}/"},
        "direct": {"url": world.url("good"), **trusted},
        "by-proxy": {"url": world.url("good"), **trusted, "proxy": f"http://localhost:{world.ports['proxy']}"},
    }, prefix)
    try:
        for name, words in [("counted", "the host's name was not found"), ("direct", "the host's name was not found"),
                            ("by-proxy", "the host name in proxy was not found")]:
            event = gateway.wait(name, "destination-down")[0]
            expect_equal(event.get("INGEST_ERROR"), words, "the error")
            expect_equal(state(gateway, name), "down", "the state")
        world.file("hosts", "127.0.0.1 localhost\n", mode=0o644)
        for name in ["counted", "direct", "by-proxy"]:
            gateway.wait(name, "submitted", count=READINGS)
            expect_equal(len(gateway.of(name, "destination-up")), 1, "destination-up")
            expect_equal(state(gateway, name), "up", "the state")
        submitted = [event["INGEST_RECORD_ID"] for event in gateway.of("counted", "submitted")]
        nothing_lost(gateway, server, submitted, read_tags(gateway))
    finally:
        status = gateway.stop()
    expect_equal(status, 0, "the exit status")
