"""Devices that notify as long as somebody listens: oximeters, heart-rate straps."""

import asyncio
import itertools

from .peripheral import Peripheral


class Streamer(Peripheral):
    """Notifies its payloads in turn, one each `interval_s`, on every link on which the gateway has subscribed.

    It is awake while it has payloads: while a finger is in it.
    """

    def __init__(self, *arguments, measurement, interval_s=1.0, **options):
        super().__init__(*arguments, **options)
        self.measurement = measurement
        self.interval_s = interval_s
        self.payloads = []

    @property
    def has_something(self):
        return bool(self.payloads)

    def give(self, payloads):
        """Begins a stream of these payloads, or ends it when there are none."""
        self.payloads = [bytes.fromhex(payload) for payload in payloads]
        self.changed.set()

    def on_subscribed(self, link, connection):
        if link.giving is None and self.measurement in link.subscribed:
            link.giving = asyncio.get_running_loop().create_task(self.stream(link, connection))

    async def stream(self, link, connection):
        for number in itertools.count():
            await self.may_send.wait()
            if not self.payloads or self.measurement not in link.subscribed:
                return
            payload = self.payloads[number % len(self.payloads)]
            await self.send(link, connection, self.measurement, payload)
            await asyncio.sleep(self.interval_s)
