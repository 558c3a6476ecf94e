"""Devices that give each reading as it was taken: thermometers, cuffs, scales, generic health sensors."""

import asyncio
import collections

from bumble.att import ATT_Error

from .peripheral import Peripheral

# Generic Health Sensor 1.0, control point: live observations are sent after START alone.
HEALTH_SENSOR_CONTROL_POINT = "2BF4"
START_LIVE_OBSERVATIONS, STOP_LIVE_OBSERVATIONS = b"\x01", b"\x02"
SUCCESS = b"\x80"
VALUE_NOT_ALLOWED = 0x13
# Before an indication that was not confirmed is sent again on the same link.
UNCONFIRMED_PAUSE_S = 0.05


class Indicator(Peripheral):
    """Gives its readings one after the other, each until it is confirmed.

    A reading counts as given when its indication was confirmed; otherwise the same bytes come again on the next link.
    A reading waits until the gateway has subscribed to its characteristic. A control point, where there is one, must
    have been told to start.
    """

    def __init__(self, *arguments, measurement, **options):
        super().__init__(*arguments, **options)
        self.measurement = measurement
        self.readings = collections.deque()
        self.given = []
        # The reading whose confirmation is awaited.
        self.offered = None
        self.started = None
        self.subscriptions = asyncio.Event()

    @property
    def has_something(self):
        return bool(self.readings)

    def give(self, readings):
        """Readings are payloads of the one characteristic, or pairs of a characteristic and a payload."""
        for reading in readings:
            uuid, payload = (self.measurement, reading) if isinstance(reading, str) else reading
            self.readings.append((uuid, bytes.fromhex(payload)))
        self.changed.set()

    def report(self):
        return {**super().report(), "left": [payload.hex() for _, payload in self.readings], "given": self.given}

    def on_connection(self, connection):
        self.offered = None
        self.started = HEALTH_SENSOR_CONTROL_POINT not in self.characteristics
        super().on_connection(connection)

    def on_subscribed(self, link, connection):
        self.subscriptions.set()
        if link.giving is None:
            link.giving = asyncio.get_running_loop().create_task(self.give_all(link, connection))

    def on_written(self, uuid, connection, value):
        if value not in (START_LIVE_OBSERVATIONS, STOP_LIVE_OBSERVATIONS):
            raise ATT_Error(VALUE_NOT_ALLOWED)
        self.started = value == START_LIVE_OBSERVATIONS
        self.subscriptions.set()
        asyncio.get_running_loop().create_task(
            self.device.indicate_subscriber(connection, self.characteristics[uuid], SUCCESS))

    async def give_all(self, link, connection):
        while self.readings:
            await self.may_send.wait()
            uuid, payload = self.readings[0]
            if not (uuid in link.subscribed and self.started):
                self.subscriptions.clear()
                await self.subscriptions.wait()
                continue
            await self.give_one(link, connection, uuid, payload)
            if self.offered is not None:
                # It was not confirmed: the link is about to end, which would not come to pass if this went on at once.
                await asyncio.sleep(UNCONFIRMED_PAUSE_S)

    async def give_one(self, link, connection, uuid, payload):
        if link.subscribed[uuid] == "indicate":
            self.offered = uuid, payload
            await self.send(link, connection, uuid, payload)
        else:
            await self.send(link, connection, uuid, payload)
            self.count(link, uuid, payload)

    def on_confirmed(self, link):
        if self.offered is not None:
            self.count(link, *self.offered)
            self.offered = None

    def count(self, link, uuid, payload):
        self.readings.popleft()
        self.given.append([link.number, payload.hex()])
        self.log("given", link=link.number, characteristic=uuid, hex=payload.hex())
