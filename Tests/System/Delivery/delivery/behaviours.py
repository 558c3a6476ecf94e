"""How a server may treat a request, and one that gets well."""

import email.utils
import itertools
import socket
import ssl
import struct
import threading
import time

from .servers import OK, WrongServer


class Backend(WrongServer):
    """Misbehaves until it recovers, and takes everything from then on."""

    def __init__(self, behave, bad_tls=None, good_tls=None, is_listening=True, is_full=False):
        """With contexts of TLS, or None for none. One that does not listen refuses; one that is full takes nobody."""
        self.behave = behave
        self.connections = 0
        self.requests = []
        self.is_well = False
        self.tls = {False: bad_tls, True: good_tls}
        self.open = set()
        self.visitors = []
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.acceptor = threading.Thread(target=self.accept, daemon=True)
        if is_full:
            self.listener.listen(0)
            # Who comes after these is not let in.
            for _ in range(4):
                visitor = socket.socket()
                visitor.setblocking(False)
                visitor.connect_ex(self.listener.getsockname())
                self.visitors.append(visitor)
        elif is_listening:
            self.listener.listen(64)
            self.acceptor.start()

    def serve(self, connection):
        is_well = self.is_well
        self.open.add(connection)
        try:
            with connection:
                if self.tls[is_well]:
                    connection.settimeout(30)
                    connection = self.tls[is_well].wrap_socket(connection, server_side=True)
                    connection.settimeout(None)
                    self.open.add(connection)
                with connection:
                    (takes if is_well else self.behave)(self, connection)
        except OSError:
            pass
        finally:
            self.open.discard(connection)

    def recover(self):
        """As one that was started anew: its connections are gone."""
        self.is_well = True
        for visitor in self.visitors:
            visitor.close()
        if not self.acceptor.is_alive():
            self.listener.listen(64)
            self.acceptor.start()
        for connection in list(self.open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def asked(self):
        """The ids of the records of each request."""
        return [request.ids for request in list(self.requests)]

    def taken(self):
        """What a receiver that knows keys has counted: the first request of each key."""
        return list({request.key: request for request in reversed(list(self.requests))
                     if request.is_taken}.values())[::-1]


def context(certificate):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(*certificate)
    return made


def takes(server, connection):
    while request := server.read_request(connection):
        request.is_taken = True
        connection.sendall(OK)


def answers(status, *headers, body=b""):
    """The same answer to each request. A header may be a function."""
    def behave(server, connection):
        while request := server.read_request(connection):
            request.is_taken = status.startswith("2")
            lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}",
                     *(header() if callable(header) else header for header in headers)]
            connection.sendall("\r\n".join([*lines, "", ""]).encode() + body)
    return behave


def retry_date(seconds):
    """Both headers that say when to come again, of a server whose clock is a day ahead."""
    now = time.time() + 86_400
    return (f"Date: {email.utils.formatdate(now, usegmt=True)}\r\n"
            f"Retry-After: {email.utils.formatdate(now + seconds, usegmt=True)}")


def takes_one_at_a_time(server, connection):
    while request := server.read_request(connection):
        request.is_taken = len(request.ids) == 1
        status = "200 OK" if request.is_taken else "413 Content Too Large"
        connection.sendall(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode())


def says(data, is_taken=False, then_closes=True):
    """Reads a request and says this."""
    def behave(server, connection):
        request = server.read_request(connection)
        if request:
            request.is_taken = is_taken
            connection.sendall(data)
        if not then_closes:
            time.sleep(600)
    return behave


def trickles(data, pause, is_taken=False):
    """Reads a request and says this byte by byte, then spaces without end."""
    def behave(server, connection):
        request = server.read_request(connection)
        if request:
            request.is_taken = is_taken
            for byte in itertools.chain(data, itertools.repeat(32)):
                connection.sendall(bytes([byte]))
                time.sleep(pause)
    return behave


def floods(data, part, is_taken=False):
    """Reads a request, says the data, and then the part without end."""
    def behave(server, connection):
        request = server.read_request(connection)
        if request:
            request.is_taken = is_taken
            connection.sendall(data)
            while True:
                connection.sendall(part)
    return behave


def closes_at_once(_server, connection):
    connection.shutdown(socket.SHUT_WR)
    # What was sent and not read would make it a reset.
    while connection.recv(65536):
        pass


def says_nothing(_server, _connection):
    time.sleep(600)


def answers_anything(_server, connection):
    """As a server of plain HTTP answers to TLS."""
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


def closes_after_request(server, connection):
    server.read_request(connection)


def resets(server, connection):
    server.read_request(connection)
    # SO_LINGER with no time: the close is a reset.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def takes_and_closes(server, connection):
    """Keeps what it got, and its answer is lost."""
    request = server.read_request(connection)
    if request:
        request.is_taken = True


def echoes(status):
    """Says back all that it was told, token and readings, in each part of its answer."""
    def behave(server, connection):
        while request := server.read_request(connection):
            token = request.fields["authorization"]
            body = f'{{"error":"{token}","you said":'.encode() + request.body + b"}"
            header = (f"HTTP/1.1 {status} {token}\r\nX-Echo: {token}\r\nLocation: http://127.0.0.1:1/{token[7:]}\r\n"
                      f"Content-Length: {len(body)}\r\n\r\n")
            connection.sendall(header.encode() + body)
    return behave


def echoes_nonsense(server, connection):
    request = server.read_request(connection)
    if request:
        connection.sendall(request.fields["authorization"].encode() + b" " + request.body)
