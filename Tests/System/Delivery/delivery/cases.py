"""What each destination has to come to, all of one run of the gateway: who hangs delays nobody."""

from dataclasses import dataclass, field
from typing import Callable

from kit.gateway import Failure, expect_equal

from .servers import NEW_TOKEN, TOKEN

READINGS = 3


@dataclass
class Case:
    name: str
    keys: dict
    # Called with the gateway, the world and the case's name.
    expect: Callable
    # Of events that must not be told of this destination.
    never: list = field(default_factory=lambda: ["failed"])


def delivered(server=None, **fields):
    """All readings arrive, none is set aside, and nginx took a request with these fields."""
    def expect(gateway, world, name):
        gateway.wait(name, "submitted", count=READINGS)
        if not server:
            return
        taken = [request for request in world.nginx.requests(world.ports[server]) if request["status"] == "200"]
        if not any(fields.items() <= request.items() for request in taken):
            raise Failure(f"no request with {fields} among {taken}")
    return expect


def down(words, seconds=30):
    """The destination is down for this reason, and keeps its records."""
    def expect(gateway, world, name):
        event = gateway.wait(name, "destination-down", seconds)[0]
        expect_equal(event.get("INGEST_ERROR"), words, "the error of destination-down")
        expect_equal(gateway.of(name, "submitted"), [], "submitted")
    return expect


def told(event, status, error=None):
    def expect(gateway, world, name):
        found = gateway.wait(name, event)[0]
        expect_equal(found.get("INGEST_HTTP_STATUS"), status, "the status")
        if error:
            expect_equal(found.get("INGEST_ERROR"), error, "the error")
        expect_equal(gateway.of(name, "submitted"), [], "submitted")
    return expect


def by_way_of(program, text):
    """All readings arrive, and the proxy's log says that they came through it."""
    def expect(gateway, world, name):
        gateway.wait(name, "submitted", count=READINGS)
        if text not in world.programs.log(program):
            raise Failure(f"{program} has not seen {text!r}")
    return expect


def survives_dropped_connections(gateway, world, name):
    gateway.wait(name, "submitted", count=READINGS)
    server = world.wrong["one_request_each"]
    expect_equal(gateway.of(name, "destination-down"), [], "destination-down")
    # All but the first request went to a connection that was gone, and again to a new one.
    counts = [server.keys.count(key) for key in dict.fromkeys(server.keys)]
    expect_equal(counts, [1] + [2] * (len(counts) - 1), "requests of each key")
    if len(counts) < 2:
        raise Failure("no second request was made")


def sends_once(gateway, world, name):
    """What has not been on a kept connection is not sent again at once."""
    down("the connection was closed without an answer")(gateway, world, name)
    wrong = world.wrong["closes"]
    gateway.wait(name, "retrying", count=2)
    # A request is counted at once, and its end is told a little later.
    gateway.until(lambda: len(wrong.keys) <= len(gateway.of(name, "retrying")) + 1, "one request for each attempt")


def token_replaced(gateway, world, name):
    gateway.wait(name, "auth-rejected")
    world.file("token", NEW_TOKEN)
    gateway.reload()
    gateway.wait(name, "submitted", count=READINGS)
    seen = [(request["status"], request["authorization"]) for request in
            world.nginx.requests(world.ports["token"])]
    expect_equal(dict.fromkeys(seen), dict.fromkeys([("401", f"Bearer {TOKEN}"), ("200", f"Bearer {NEW_TOKEN}")]),
                 "the tokens that nginx saw")


def client_certificate_replaced(gateway, world, name):
    event = gateway.wait(name, "auth-rejected")[0]
    expect_equal(event.get("INGEST_HTTP_STATUS"), "400", "the status")
    certificate, key = world.certificates.other_client
    world.file("rotated.key", copy=key)
    world.file("rotated.crt", copy=certificate)
    gateway.reload()
    gateway.wait(name, "submitted", count=READINGS)
    expect_equal(gateway.of(name, "failed"), [], "failed")


def authorities_replaced(gateway, world, name):
    gateway.wait(name, "destination-down", error="unknown authority")
    world.file("rotated-ca.pem", copy=world.certificates.authority.path)
    # Without a reload: the failure itself has the file read again.
    gateway.wait(name, "submitted", count=READINGS)


def file_comes_later(gateway, world, name):
    event = gateway.wait(name, "destination-down")[0]
    path = str(world.directory / "late-ca.pem")
    expect_equal(event.get("INGEST_ERROR"), f"ca_file: {path}: there is no such file", "the error")
    world.file("late-ca.pem", copy=world.certificates.authority.path)
    gateway.wait(name, "submitted", count=READINGS)


def cases(world):
    made = world.certificates
    trusted = {"ca_file": str(made.authority.path)}
    client = {"client_certificate": str(made.client[0]), "client_key": str(made.client[1])}
    stranger = {"client_certificate": str(made.strange_client[0]), "client_key": str(made.strange_client[1])}
    rotated = {"client_certificate": world.file("rotated.crt", copy=made.strange_client[0]),
               "client_key": world.file("rotated.key", copy=made.strange_client[1])}
    proxy, socks = f"http://127.0.0.1:{world.ports['proxy']}", f"socks5://127.0.0.1:{world.ports['socks']}"
    wrong_certificate = "the server refused the client certificate, or wants one; see client_certificate and client_key"

    def https(name, **keys):
        return {"url": world.url(name), **trusted, **keys}

    def plain(name):
        return {"url": world.url(name, "127.0.0.1", "http")}

    return [
        Case("own-authority", https("good", headers={"X-Ward": "3", "User-Agent": "ward-box"}),
             delivered("good", ward="3", agent="ward-box"), ["failed", "destination-down"]),
        Case("address-in-certificate", {"url": world.url("good", "127.0.0.1"), **trusted}, delivered()),
        Case("tls-1.2", https("tls12"), delivered("tls12", protocol="TLSv1.2", agent="ingestd")),
        Case("system-authorities", {"url": world.url("good")},
             down("the server's certificate is from an unknown authority; ca_file names those to trust")),
        Case("unknown-authority", https("unknown"),
             down("the server's certificate is from an unknown authority; ca_file names those to trust")),
        Case("expired", https("expired"), down("the server's certificate has expired")),
        Case("not-yet-valid", https("early"),
             down("the server's certificate is not valid yet: is the clock of this box right?")),
        Case("wrong-host", https("elsewhere"),
             down("the server's certificate is for another host than the one in url")),
        Case("wrong-address", {"url": world.url("elsewhere", "127.0.0.1"), **trusted},
             down("the server's certificate is for another host than the one in url")),
        Case("tls-1.1", https("old"), down("the server does not speak TLS 1.2 or later")),
        Case("no-tls", https("plain"), down("what answers at this port does not speak TLS")),
        Case("http-to-https", {"url": world.url("good", "127.0.0.1", "http")},
             told("destination-misconfigured", "400", "expects https:// at this port (HTTP 400)")),
        Case("client-certificate", https("mutual", **client), delivered("mutual", client="CN=client")),
        Case("client-certificate-missing", https("mutual"), told("auth-rejected", "400")),
        Case("client-certificate-strange", https("mutual", **stranger), told("auth-rejected", "400")),
        Case("client-certificate-replaced", https("mutual", **rotated), client_certificate_replaced),
        Case("client-certificate-alert", https("alert", **stranger), down(wrong_certificate)),
        Case("client-certificate-alert-1.2", https("alert12", **stranger), down(wrong_certificate)),
        Case("ca-file-replaced", {"url": world.url("good"), "ca_file": world.file("rotated-ca.pem", copy=made.stranger.path)},
             authorities_replaced),
        Case("ca-file-later", {"url": world.url("good"), "ca_file": str(world.directory / "late-ca.pem")},
             file_comes_later),
        Case("token-replaced", https("token", credential=world.file("token", TOKEN)), token_replaced),
        Case("http-proxy", https("good", proxy=proxy), by_way_of("proxy", f"CONNECT localhost:{world.ports['good']}")),
        Case("http-proxy-plain", {**plain("plain"), "proxy": proxy},
             by_way_of("proxy", f"CONNECT 127.0.0.1:{world.ports['plain']}")),
        Case("http-proxy-expired", https("expired", proxy=proxy), down("the server's certificate has expired")),
        Case("http-proxy-wrong-host", https("elsewhere", proxy=proxy),
             down("the server's certificate is for another host than the one in url")),
        Case("http-proxy-target-down", https("nowhere", proxy=proxy), down("the proxy did not make the connection")),
        Case("http-proxy-wants-password", https("good", proxy=f"http://127.0.0.1:{world.ports['closed_proxy']}"),
             told("destination-misconfigured", "407", "is behind a proxy that wants a credential (HTTP 407)")),
        Case("http-proxy-down", https("good", proxy=f"http://127.0.0.1:{world.ports['nowhere']}"),
             down("the proxy refused the connection")),
        Case("socks-proxy", https("good", proxy=socks), by_way_of("socks", f"connected to localhost:{world.ports['good']}")),
        Case("socks-proxy-plain", {**plain("plain"), "proxy": socks},
             by_way_of("socks", f"connected to 127.0.0.1:{world.ports['plain']}")),
        Case("socks-proxy-target-down", https("nowhere", proxy=socks),
             down("the proxy could not reach the host (SOCKS reply 5)")),
        Case("socks-proxy-wants-password", https("good", proxy=f"socks5://127.0.0.1:{world.ports['closed_socks']}"),
             down("the proxy wants a user and password, which is not supported")),
        Case("no-socks-proxy", https("good", proxy=f"socks5://127.0.0.1:{world.wrong['garbage'].port}"),
             down("no connection within 10 s")),
        Case("dropped-connections", plain("one_request_each"), survives_dropped_connections),
        Case("closes", plain("closes"), sends_once),
    ]
