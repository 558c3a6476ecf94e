"""The ways in which a backend misbehaves, and what is told of each."""

import math
from dataclasses import dataclass, field
from typing import Callable

from . import behaviours as do
from .servers import TOKEN

NO_ANSWER = "the connection was closed without an answer"
BAD_HTTP = "the answer is not valid HTTP"
LONG_HEADER = "the answer's header is longer than 128 KiB"


@dataclass
class Misbehaviour:
    name: str
    behave: Callable
    # The event that tells of it, with these fields.
    event: str
    error: str | None = None
    status: str | None = None
    # Further keys of the destination.
    keys: dict = field(default_factory=dict)
    # Of the Backend.
    options: dict = field(default_factory=dict)
    # Between one attempt and the next, in seconds, at least and at most.
    gap: tuple = (0, math.inf)
    # Until the event has come.
    seconds: float = 30

    @property
    def state(self):
        return {"destination-down": "down", "auth-rejected": "auth-rejected",
                "destination-misconfigured": "misconfigured"}.get(self.event, "up")

    @property
    def changes_state(self):
        return self.state != "up"


def down(name, behave, error, status=None, **others):
    return Misbehaviour(name, behave, "destination-down", error, status, **others)


def busy(name, behave, error, status, **others):
    return Misbehaviour(name, behave, "retrying", error, status, **others)


def rejected(name, behave, status, **others):
    return Misbehaviour(name, behave, "auth-rejected", None, status, **others)


def misplaced(name, behave, error, status, **others):
    return Misbehaviour(name, behave, "destination-misconfigured", error, status, **others)


def taken(name, behave, status="200", **others):
    return Misbehaviour(name, behave, "submitted", None, status, **others)


def set_aside(name, behave, error, status, **others):
    return Misbehaviour(name, behave, "failed", error, status, **others)


def misbehaviours(world, elsewhere):
    made = world.certificates
    trusts = {"ca_file": str(made.authority.path)}
    good = do.context(made.good)

    def https(certificate):
        bad = do.context(certificate) if certificate else None
        return {"keys": trusts, "options": {"bad_tls": bad, "good_tls": good}}

    with_token = {"keys": {"credential": world.file("echoed-token", TOKEN)}}
    # What asks for less than the longest wait holds the first request back for all of this run.
    long = {"gap": (300, math.inf)}
    soon = {"gap": (0, 5)}
    big = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n"
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    return [
        # No connection.
        down("refuses", do.takes, "the connection was refused", options={"is_listening": False}),
        down("lets-nobody-in", do.takes, "no connection within 10 s", options={"is_full": True}),
        down("closes-at-once", do.closes_at_once, NO_ANSWER),
        down("closes-after-request", do.closes_after_request, NO_ANSWER),
        down("resets", do.resets, "the connection broke"),
        down("takes-and-closes", do.takes_and_closes, NO_ANSWER),
        # No end.
        down("hangs-before-header", do.says_nothing, "no answer within 30 s", seconds=50),
        down("hangs-in-header", do.says(b"HTTP/1.1 200 OK\r\nX-", then_closes=False), "no answer within 30 s",
             seconds=50),
        taken("hangs-after-header", do.says(big, is_taken=True, then_closes=False)),
        down("hangs-after-header-of-503", do.says(big.replace(b"200", b"503"), then_closes=False), "HTTP 503", "503"),
        down("trickles-header", do.trickles(b"HTTP/1.1 200 OK\r\nX-Slow: ", 0.5), "no answer within 30 s", seconds=50),
        taken("trickles-body", do.trickles(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n", 0.02, True), seconds=40),
        down("endless-header", do.floods(b"HTTP/1.1 200 OK\r\n", b"X-More: " + b"x" * 1000 + b"\r\n"), LONG_HEADER),
        down("endless-interim-answers", do.floods(b"", b"HTTP/1.1 102 Processing\r\n\r\n" * 100), LONG_HEADER),
        taken("huge-body", do.floods(big, b"y" * 65536, True)),
        taken("endless-body", do.floods(chunked, b"10000\r\n" + b"y" * 65536 + b"\r\n", True)),
        taken("broken-off-body", do.says(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", True)),
        # No HTTP.
        down("garbage", do.says(b"\x00\x01\x02 what?\r\n\r\n"), BAD_HTTP),
        down("half-a-header", do.says(b"HTTP/1.1 200 OK\r\nContent-Le"), BAD_HTTP),
        down("two-lengths", do.says(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx"), BAD_HTTP),
        down("status-999", do.answers("999 Beyond"), "HTTP 999", "999"),
        taken("answers-twice", do.says(do.OK + do.OK, is_taken=True, then_closes=False)),
        # TLS that cannot be trusted.
        down("certificate-expired", do.takes, "the server's certificate has expired", **https(made.expired)),
        down("certificate-of-another-host", do.takes,
             "the server's certificate is for another host than the one in url", **https(made.elsewhere)),
        down("certificate-of-a-stranger", do.takes,
             "the server's certificate is from an unknown authority; ca_file names those to trust",
             **https(made.unknown)),
        down("no-tls", do.answers_anything,
             "what answers at this port does not speak TLS", **https(None)),
        down("hangs-in-tls", do.says_nothing, "no connection within 10 s", **https(None)),
        down("closes-in-tls", do.closes_at_once, "the connection was closed during the TLS handshake", **https(None)),
        # Not this one.
        misplaced("redirects", do.answers("307 Elsewhere", f"Location: {elsewhere}"),
                  "answers with a redirect (HTTP 307)", "307"),
        misplaced("redirects-as-get", do.answers("303 See Other", f"Location: {elsewhere}"),
                  "answers with a redirect (HTTP 303)", "303"),
        misplaced("404", do.answers("404 Not Found"), "does not know the URL (HTTP 404)", "404"),
        misplaced("410", do.answers("410 Gone"), "does not know the URL (HTTP 410)", "410"),
        rejected("401", do.answers("401 Unauthorized", "WWW-Authenticate: Bearer"), "401"),
        rejected("403", do.answers("403 Forbidden"), "403"),
        # Not like this.
        taken("413-for-two", do.takes_one_at_a_time, keys={"batch": {"max_wait": "12s"}}, seconds=40),
        set_aside("413-for-one", do.answers("413 Content Too Large"), "too large (HTTP 413)", "413"),
        set_aside("422", do.answers("422 Unprocessable Content"), "HTTP 422", "422"),
        # Not now.
        busy("409", do.answers("409 Conflict"), "is still working on this request (HTTP 409)", "409"),
        busy("429", do.answers("429 Too Many Requests"), "HTTP 429", "429", **soon),
        busy("429-seconds", do.answers("429 Too Many Requests", "Retry-After: 5"), "HTTP 429", "429", gap=(5, 8)),
        busy("429-date", do.answers("429 Too Many Requests", lambda: do.retry_date(5)), "HTTP 429", "429", gap=(5, 8)),
        busy("429-past-date", do.answers("429 Too Many Requests", lambda: do.retry_date(-5)), "HTTP 429", "429",
             **soon),
        busy("429-far-date", do.answers("429 Too Many Requests", "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT"),
             "HTTP 429", "429", **long),
        busy("429-ten-to-the-thirty", do.answers("429 Too Many Requests", "Retry-After: 1" + "0" * 30),
             "HTTP 429", "429", **long),
        busy("429-negative", do.answers("429 Too Many Requests", "Retry-After: -5"), "HTTP 429", "429", **soon),
        busy("429-nonsense", do.answers("429 Too Many Requests", "Retry-After: Sun, 99 Nox 2026 25:61:61 GMT"),
             "HTTP 429", "429", **soon),
        down("500", do.answers("500 Oops", body=b"<html>" + b"stack trace " * 1000), "HTTP 500", "500"),
        down("502", do.answers("502 Bad Gateway"), "HTTP 502", "502"),
        down("503", do.answers("503 Service Unavailable"), "HTTP 503", "503", **soon),
        down("503-seconds", do.answers("503 Service Unavailable", "Retry-After: 7200"), "HTTP 503", "503", **long),
        down("408", do.answers("408 Request Timeout", "Connection: close"), "HTTP 408", "408"),
        # All it knows.
        down("echoes-500", do.echoes("500"), "HTTP 500", "500", **with_token),
        down("echoes-nonsense", do.echoes_nonsense, BAD_HTTP, **with_token),
        rejected("echoes-401", do.echoes("401"), "401", **with_token),
        misplaced("echoes-302", do.echoes("302"), "answers with a redirect (HTTP 302)", "302", **with_token),
        set_aside("echoes-422", do.echoes("422"), "HTTP 422", "422", **with_token),
    ]
