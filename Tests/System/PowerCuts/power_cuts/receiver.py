"""The backend. It lives on the host, outlives the cuts and counts."""

import asyncio
import collections
import json

# How long an answer takes, so that a cut can come before it.
ANSWER_S = (0.0, 0.08)


class Receiver:
    """Takes webhook requests; while it is closed it answers 503."""

    def __init__(self, random):
        self.random = random
        self.closed = False
        # The ids under which a payload came, by address and payload.
        self.ids = collections.defaultdict(set)
        self.keys = collections.Counter()
        self.refused = 0
        # Called with the name of what has just happened.
        self.on_event = lambda event: None

    async def start(self):
        """Returns the port that it listens on."""
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        return server.sockets[0].getsockname()[1]

    async def serve(self, reader, writer):
        try:
            while True:
                await self.answer(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def answer(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[1:-2]
        fields = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in head)}
        body = await reader.readexactly(int(fields["content-length"]))
        self.on_event("request")
        await asyncio.sleep(self.random.uniform(*ANSWER_S))
        if self.closed:
            self.refused += 1
            writer.write(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
            return
        self.keys[fields["idempotency-key"]] += 1
        for record in json.loads(body)["records"]:
            self.ids[record["device"]["address"], record["raw"]["hex"]].add(record["id"])
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        self.on_event("answered")

    @property
    def repeated(self):
        """How many requests came again under their key."""
        return sum(count - 1 for count in self.keys.values())
