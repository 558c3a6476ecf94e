"""A broker that speaks MQTT 5 or 3.1.1 strictly, and misbehaves in one way until it is told to recover."""

import json
import socket
import threading
import time

from . import packets
from .packets import CONNECT, DISCONNECT, PINGREQ, PUBLISH, Violation


class FakeBroker:
    """Keeps what it acknowledged (`taken`) and what the client did wrong (`violations`)."""

    def __init__(self, behaviour, version=5):
        self.behaviour, self.version = behaviour, version
        self.is_well = False
        self.connects, self.taken, self.violations, self.pings = [], [], [], 0
        # The most messages that were not answered at once.
        self.most_open = 0
        # Bytes of a flood that the client and the kernel took.
        self.sent = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.connections = []
        threading.Thread(target=self.accept, daemon=True).start()

    def recover(self):
        self.is_well = True
        for connection in list(self.connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    @property
    def ids(self):
        return [json.loads(message.payload)["id"] for message in list(self.taken)]

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            self.connections.append(connection)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            with connection:
                (WELL if self.is_well else self.behaviour).serve(Session(self, connection))
        except (OSError, EOFError):
            pass
        except Violation as violation:
            self.violations.append(str(violation))


class Session:
    """One connection with a client."""

    def __init__(self, broker, connection):
        self.broker, self.connection = broker, connection
        self.buffer = b""

    def send(self, data):
        self.connection.sendall(data)

    def octets(self, count):
        while len(self.buffer) < count:
            part = self.connection.recv(65536)
            if not part:
                raise EOFError
            self.buffer += part
        part, self.buffer = self.buffer[:count], self.buffer[count:]
        return part

    def packet(self):
        first = self.octets(1)[0]
        length = shift = 0
        while True:
            octet = self.octets(1)[0]
            length |= (octet & 0x7F) << shift
            shift += 7
            if not octet & 0x80:
                return first >> 4, first & 15, self.octets(length)

    def connect(self):
        kind, flags, body = self.packet()
        if kind != CONNECT or flags:
            raise Violation("expected CONNECT first")
        self.broker.connects.append(packets.read_connect(body, self.broker.version))

    def messages(self):
        """The messages as they come; pings are answered."""
        while True:
            kind, flags, body = self.packet()
            if kind == PUBLISH:
                yield packets.read_publish(flags, body, self.broker.version)
            elif kind == PINGREQ:
                if flags or body:
                    raise Violation("a PINGREQ has nothing in it")
                self.broker.pings += 1
                self.send(packets.packet(packets.PINGRESP, b""))
            elif kind == DISCONNECT:
                return
            else:
                raise Violation(f"a packet of type {kind}")

    def take(self, message):
        if not message.is_retained:
            json.loads(message.payload)
            self.broker.taken.append(message)
        self.send(packets.puback(message.number, 0) if self.broker.version == 5 else packets.puback_3(message.number))


class Behaviour:
    """How a broker behaves: `welcome` is CONNACK, or what there is instead; `answer` is called with each message."""

    def __init__(self, welcome=b"", answer=Session.take):
        self.welcome, self.answer = welcome, answer

    def serve(self, session):
        session.connect()
        if self.welcome is None:
            return
        # Without another, the one that lets everybody in.
        session.send(self.welcome or (packets.connack(0) if session.broker.version == 5 else packets.connack_3(0)))
        for message in session.messages():
            if self.answer(session, message) is False:
                return


WELL = Behaviour()


class Hangs(Behaviour):
    """Says nothing, and does not close."""

    def serve(self, session):
        session.connect()
        session.octets(1 << 30)


class Floods(Behaviour):
    """Lets the client in, and sends it a message of the largest size that there is (section 2.1.4)."""

    def serve(self, session):
        session.connect()
        session.send(packets.connack(0))
        session.send(bytes([PUBLISH << 4]) + b"\xff\xff\xff\x7f" + b"\x00\x01t\x00")
        session.broker.sent = 0
        for _ in range(255):
            session.send(bytes(1 << 20))
            session.broker.sent += 1 << 20


class Slowly(Behaviour):
    """Takes `limit` messages at a time, and each of them a while."""

    def __init__(self, limit):
        super().__init__(packets.connack(0, b"\x21" + limit.to_bytes(2, "big")))
        self.limit = limit

    def serve(self, session):
        session.connect()
        session.send(self.welcome)
        opened = []
        lock = threading.Lock()

        def answers():
            while True:
                time.sleep(0.3)
                with lock:
                    if opened:
                        session.take(opened.pop(0))

        threading.Thread(target=answers, daemon=True).start()
        for message in session.messages():
            with lock:
                opened.append(message)
                session.broker.most_open = max(session.broker.most_open, len(opened))
                if len(opened) > self.limit:
                    raise Violation("more messages at once than Receive Maximum allows")


def reason(code, words=""):
    """Answers each message with this reason code."""
    def answer(session, message):
        session.send(packets.puback(message.number, code, words))
    return Behaviour(answer=answer)


def first_is(code, words=""):
    """Refuses the message that comes first, whenever it comes, and takes the others."""
    refused = []

    def answer(session, message):
        if not refused:
            refused.append(message.payload)
        if message.payload in refused:
            session.send(packets.puback(message.number, code, words))
        else:
            session.take(message)
    return Behaviour(answer=answer)


def ends(code=None):
    """Ends the connection at a message, with DISCONNECT if there is a code."""
    def answer(session, message):
        if code is not None:
            session.send(packets.disconnect(code))
        return False
    return Behaviour(answer=answer)


def closes_at_first():
    """Closes the connection at the message that came first, whenever it comes, and takes the others."""
    refused = []

    def answer(session, message):
        if not refused:
            refused.append(message.payload)
        if message.payload in refused:
            return False
        return session.take(message)
    return Behaviour(answer=answer)


def silent(session, message):
    """Takes a message, and does not say so."""


def garbage(session, message):
    session.send(b"\xff\xff\xff\xff\xff\xff")
