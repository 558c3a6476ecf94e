"""What each destination has to come to, all of one run of the gateway: mosquitto in every setting, and bad brokers."""

from dataclasses import dataclass

from kit.gateway import Failure, expect_equal

from . import fake, packets
from .brokers import PASSWORD, USER
from .fake import Behaviour, FakeBroker

READINGS = 3
CLOSED = "the connection was closed without an answer"
CLOSES = "closes the connection at this message, and MQTT 3.1.1 has it give no reason"
UNTRUSTED = ("the broker's certificate is not valid now, or from an authority that is not trusted; "
             "ca_file names those to trust")
NO_CERTIFICATE = "the broker refused the client certificate, or wants one; see client_certificate and client_key"


@dataclass
class Case:
    name: str
    keys: dict
    # The event that tells of it and its error; None where all is well from the start.
    event: str | None = None
    error: str | None = None
    # A fake, which is told to recover; or what else makes it well.
    broker: FakeBroker | None = None
    recover: object = None
    # Acknowledged, and given to nobody.
    is_thrown_away: bool = False
    # Nothing makes it well, and nothing is set aside.
    is_kept: bool = False
    # How many of the readings are set aside.
    failed: int = 0
    # Until the event has come.
    seconds: float = 30


def on_mosquitto(world):
    """On listeners of the one mosquitto that all goes to."""
    def case(name, listener, event=None, error=None, topic="taken", **keys):
        scheme = "mqtt" if listener in world.plain else "mqtts"
        return Case(name, {"url": f"{scheme}://localhost:{world.ports[listener]}",
                           "topic": f"{topic}/{name}/{{gateway}}/{{kind}}", **keys}, event, error)

    made = world.certificates
    trusts = {"ca_file": str(made.authority.path)}
    shows = {"client_certificate": str(made.client[0]), "client_key": str(made.client[1])}
    strange = {"client_certificate": str(made.strange_client[0]), "client_key": str(made.strange_client[1])}
    login = {"user": USER, "credential": world.file("password", PASSWORD)}
    yield case("plain", "plain")
    yield case("tls", "tls", **trusts)
    old = {"protocol": "3.1.1"}
    yield case("plain-3.1.1", "plain", **old)
    yield case("tls-3.1.1", "tls", **trusts, **old)
    yield case("password-3.1.1", "password", **login, **old)
    yield case("client-certificate", "mutual", **trusts, **shows)
    yield case("password", "password", **login)
    for name, listener, keys, error in [
            ("expired", "expired", trusts, UNTRUSTED), ("unknown", "unknown", trusts, UNTRUSTED),
            ("system-authorities", "tls", {}, UNTRUSTED),
            ("elsewhere", "elsewhere", trusts, "the broker's certificate is for another host than the one in url"),
            ("no-client-certificate", "mutual", trusts, NO_CERTIFICATE),
            ("strange-client-certificate", "mutual", {**trusts, **strange}, NO_CERTIFICATE)]:
        yield case(name, listener, "destination-down", error, **keys)
    yield case("tls-at-plain", "plain", "destination-down", "the connection was closed during the TLS handshake",
               url=f"mqtts://localhost:{world.ports['plain']}")
    yield case("plain-at-tls", "tls", "destination-down", CLOSED, url=f"mqtt://localhost:{world.ports['tls']}")
    wrong = case("wrong-password", "password", "auth-rejected", "is not allowed", user=USER,
                 credential=world.file("wrong-password", "s3cret-and-wrong"))
    wrong.error = "does not allow this user to connect, or to publish under this topic (reason 0x87)"
    wrong.recover = lambda: world.file("wrong-password", PASSWORD)
    yield wrong
    wrong_3 = case("wrong-password-3.1.1", "password", "auth-rejected", user=USER,
                   credential=world.file("wrong-password-3.1.1", "s3cret-and-wrong"), **old)
    wrong_3.error = wrong.error.replace("reason 0x87", "return code 5")
    wrong_3.recover = lambda: world.file("wrong-password-3.1.1", PASSWORD)
    yield wrong_3
    # It cannot say that it does not allow the topic: it acknowledges what it throws away (section 3.3.5).
    denied_3 = case("acl-3.1.1", "acl", topic="dropped", **login, **old)
    denied_3.is_thrown_away = True
    yield denied_3
    denied = case("acl", "acl", "auth-rejected", wrong.error, topic="denied", **login)
    denied.recover = world.allow_all
    yield denied
    nobody = case("no-subscriber", "plain", "destination-down", "has no subscriber for the topic (reason 0x10)",
                  topic="nobody")
    nobody.recover = lambda: world.watch("nobody", "nobody/#")
    yield nobody
    # Of brokers of their own: their limits are the whole broker's.
    for name, port in [("max-packet-size", "packets"), ("message-size-limit", "payloads")]:
        yield Case(name, {"url": f"mqtt://127.0.0.1:{world.ports[port]}"}, "failed", "too large", failed=READINGS)
    yield Case("max-packet-size-3.1.1", {"url": f"mqtt://127.0.0.1:{world.ports['packets']}", **old},
               "destination-down", CLOSES, is_kept=True)


def bad(name, behaviour, event="destination-down", error=CLOSED, keys=None, **options):
    broker = FakeBroker(behaviour, 4 if (keys or {}).get("protocol") else 5)
    return Case(name, {"url": f"mqtt://localhost:{broker.port}", **(keys or {})}, event, error, broker, **options)


def on_fakes(world):
    together = {"batch": {"max_wait": "5s"}}
    for code, event, error in [
            (0x82, "destination-down", "calls what it was sent a breach of the protocol"),
            (0x84, "destination-misconfigured", "does not speak MQTT 5; see protocol"),
            (0x85, "destination-misconfigured", "does not take the client identifier; see application_id"),
            (0x86, "auth-rejected", "does not take user and password"),
            (0x88, "destination-down", "is not available"), (0x89, "retrying", "is busy"),
            (0x9F, "retrying", "takes no more connections for now")]:
        yield bad(f"connack-{code:02x}", Behaviour(packets.connack(code)), event, f"{error} (reason 0x{code:02X})")
    # As a broker of MQTT 3.1.1 refuses version 5 (its section 3.2.2.3).
    yield bad("connack-v3", Behaviour(b"\x20\x02\x00\x01"), "destination-misconfigured",
              "does not speak MQTT 5; see protocol (reason 0x84)")
    yield bad("without-qos-1", Behaviour(packets.connack(0, b"\x24\x00")), "destination-misconfigured",
              "does not acknowledge messages (QoS 1) (reason 0x9B)")
    for code, event, error in [
            (0x01, "destination-down", "gives a reason that is not known"),
            (0x10, "destination-down", "has no subscriber for the topic"),
            (0x80, "destination-down", "could not, without saying why"),
            (0x83, "destination-down", "could not, for a reason of its own"),
            (0x90, "destination-misconfigured", "does not take the topic"),
            (0x97, "retrying", "has a quota, which is used up")]:
        yield bad(f"puback-{code:02x}", fake.reason(code), event, f"{error} (reason 0x{code:02X})")
    yield bad("puback-99", fake.first_is(0x99, "no such patient"), "failed", "does not take the content (reason 0x99)",
              together, failed=1)
    yield bad("puback-95", fake.first_is(0x95), "failed", "too large", together, failed=1)
    for code, event, error in [
            (0x8B, "destination-down", "is shutting down"), (0x97, "retrying", "has a quota, which is used up"),
            (0x8E, "destination-down",
             "has another client with the same identifier; see gateway.id and application_id")]:
        yield bad(f"disconnect-{code:02x}", fake.ends(code), event, f"{error} (reason 0x{code:02X})")
    old = {"protocol": "3.1.1"}
    for code, event, error in [
            (1, "destination-misconfigured", "does not speak MQTT 3.1.1; see protocol"),
            (2, "destination-misconfigured", "does not take the client identifier; see application_id"),
            (3, "destination-down", "is not available"), (4, "auth-rejected", "does not take user and password"),
            (5, "auth-rejected", "does not allow this user to connect, or to publish under this topic")]:
        yield bad(f"return-code-{code}", Behaviour(packets.connack_3(code)), event, f"{error} (return code {code})",
                  old)
    yield bad("well-3.1.1", Behaviour(), None, None, {**old, **together})
    yield bad("closes-at-connect-3.1.1", Behaviour(None), keys=old)
    yield bad("closes-at-publish-3.1.1", fake.ends(), error=CLOSES, keys={**old, **together})
    yield bad("closes-at-one-3.1.1", fake.closes_at_first(), "failed",
              "closed the connection 5 times or more at this message, and took others meanwhile", {**old, **together},
              failed=1, seconds=60)
    yield bad("hangs-at-publish-3.1.1", Behaviour(answer=fake.silent), error="no acknowledgement in time", keys=old,
              seconds=50)
    yield bad("garbage-3.1.1", Behaviour(b"\x00\x00"), error="the answer is not valid MQTT 3.1.1", keys=old)
    yield bad("closes-at-connect", Behaviour(None))
    yield bad("closes-at-publish", fake.ends())
    yield bad("hangs-at-connect", fake.Hangs(), error="the broker did not answer within 10 s")
    yield bad("hangs-at-publish", Behaviour(answer=fake.silent), error="no acknowledgement in time", seconds=50)
    yield bad("garbage", Behaviour(b"\x00\x00"), error="the answer is not valid MQTT 5")
    yield bad("garbage-after-publish", Behaviour(answer=fake.garbage), error="the answer is not valid MQTT 5")
    yield bad("unknown-property", Behaviour(packets.connack(0, b"\x7f\x00")), error="the answer is not valid MQTT 5")
    yield bad("floods", fake.Floods(), error="the broker sends more than any answer has")
    yield bad("receive-maximum", fake.Slowly(1), None, None, together)
    yield bad("own-keep-alive", Behaviour(packets.connack(0, b"\x13\x00\x05")), None, None)
    # Maximum Packet Size of 100.
    yield bad("own-maximum", Behaviour(packets.connack(0, b"\x27\x00\x00\x00\x64")), "failed", "too large",
              failed=READINGS)
    yield bad("token", Behaviour(), None, None, {"credential": world.file("token", PASSWORD)})


class Expectations:
    """What holds of a case while its broker misbehaves, and once it is well."""

    def __init__(self, world, gateway):
        self.world, self.gateway = world, gateway

    def misbehaves(self, case):
        if not case.event:
            self.gateway.wait(case.name, "submitted", count=READINGS)
            if case.name == "own-keep-alive":
                self.gateway.until(lambda: case.broker.pings >= 2, "pings as often as the broker wants")
            return
        event = self.gateway.wait(case.name, case.event, case.seconds, count=max(case.failed, 1))[0]
        expect_equal(event.get("INGEST_ERROR"), case.error, f"the error of {case.event}")
        if "INGEST_HTTP_STATUS" in event:
            raise Failure("a status of HTTP was told")
        if case.event != "failed":
            expect_equal(self.gateway.of(case.name, "submitted"), [], "submitted")

    def recovers(self, case, read):
        gateway = self.gateway
        if case.is_kept or case.event and not case.broker and not case.recover and not case.failed:
            # A certificate stays what it is.
            expect_equal([gateway.of(case.name, name) for name in ("submitted", "failed")], [[], []], "what is told")
            return
        gateway.wait(case.name, "submitted", 60, count=len(read) - case.failed)
        submitted = [event["INGEST_RECORD_ID"] for event in gateway.of(case.name, "submitted")]
        failed = [event["INGEST_RECORD_ID"] for event in gateway.of(case.name, "failed")]
        expect_equal(sorted(submitted + failed), sorted(read), "what was submitted and set aside")
        expect_equal(len(failed), case.failed, "set aside")
        if any("INGEST_HTTP_STATUS" in event for event in gateway.of(case.name, "submitted")):
            raise Failure("a status of HTTP was told")
        if case.broker:
            self.at_fake(case, submitted)
        elif case.is_thrown_away:
            expect_equal(self.world.watchers["dropped"].of("dropped/"), [], "what the watcher got")
        elif case.keys.get("topic"):
            self.at_watcher(case, submitted)

    def at_fake(self, case, submitted):
        acknowledged = self.gateway.tags(set(case.broker.ids))
        expect_equal(sorted(acknowledged), sorted(submitted), "what the broker acknowledged")
        expect_equal(case.broker.violations, [], "breaches of the protocol")
        connect = case.broker.connects[0]
        password = PASSWORD.encode() if case.name == "token" else None
        expect_equal((connect.client, connect.keep_alive, connect.user, connect.password, connect.will),
                     (f"ingestd-delivery-box-{case.name}", 60, None, password, None), "CONNECT")
        announced = {name: value for name, value in connect.properties.items() if name in (0x21, 0x27)}
        expected = {} if case.keys.get("protocol") else {0x21: 1, 0x27: 65536}
        expect_equal(announced, expected, "Receive Maximum and Maximum Packet Size of CONNECT")
        if case.name == "floods" and case.broker.sent > 64 << 20:
            raise Failure(f"{case.broker.sent >> 20} MiB of one message were read")
        if case.name == "receive-maximum" and case.broker.most_open != 1:
            raise Failure(f"{case.broker.most_open} messages at once")

    def at_watcher(self, case, submitted):
        prefix = case.keys["topic"].split("/{")[0] + "/"
        watcher = self.world.watchers[prefix.split("/")[0]]
        self.gateway.until(lambda: set(self.gateway.tags(watcher.ids(prefix))) >= set(submitted),
                           "the watcher has everything")
        expect_equal(sorted(self.gateway.tags(set(watcher.ids(prefix)))), sorted(submitted), "what the watcher got")
        for topic, is_retained, payload in watcher.of(prefix):
            expect_equal((topic, is_retained), (f"{prefix}delivery-box/body-temperature", False), "topic and retained")
            if payload not in self.world.bodies(self.gateway):
                raise Failure("a message has other bytes than the record")
