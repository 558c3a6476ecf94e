"""The peripherals. They live on the host and outlive the cuts, as those of a home do."""

import asyncio
import datetime

from bumble.transport.common import StreamPacketSink, StreamPacketSource

from emulation.adapter import ADAPTER_ADDRESSES, AdapterController, Air
from emulation.indicator import Indicator
from emulation.recorder import Recorder
from labkit import kinds
from labkit.payloads import (
    DateTime, blood_pressure, glucose_record, payloads_of, record_id, spot_oximetry, temperature, weight)

ADDRESS = "F1:F1:F1:F1:F1:{:02X}"
EPOCH = datetime.datetime(2024, 1, 1)
INDICATION = "1d"
# How many readings a peripheral takes before it wakes up, and how long it takes for them.
MOST_READINGS = 8
PAUSE_S = (0.1, 1.0)
POLL_S = 0.05
LIFE = {"awake_s": 60.0, "asleep_s": 0.4}


def when(number):
    """The device's time of its reading of this number: no two of a peripheral are the same."""
    return DateTime.of(EPOCH + datetime.timedelta(minutes=number))


def pressure(number):
    return blood_pressure((100 + number % 60, 0), (60 + number % 30, 0), (80 + number % 40, 0), when(number))


def body_temperature(number):
    return temperature(3600 + number % 300, -2, when(number))


def body_weight(number):
    return weight(70 + number % 40 * 0.5, when(number), 1, 22.5, 1800)


def saturation(number):
    return spot_oximetry(90 + number % 10, 50 + number % 50, when(number))


def blood_glucose(number):
    return glucose_record(number, when(number), 70 + number % 100)


# The alias, the kind and how a reading is made, in the order of guest/ingestd.yaml.
PERIPHERALS = [
    ("cuff", kinds.CUFF, pressure), ("other-cuff", kinds.CUFF, pressure),
    ("thermometer", kinds.THERMOMETER, body_temperature), ("scale", kinds.SCALE, body_weight),
    ("oximeter", kinds.SPOT_OXIMETER, saturation), ("meter", kinds.GLUCOSE_METER, blood_glucose),
]


class Listening:
    """Says that a confirmation comes before it is heard: the power may be cut in that instant, and it be lost."""

    deaf = False

    def on_confirmed(self, link):
        self.log("confirming", link=link.number)
        if not self.deaf:
            super().on_confirmed(link)


class Giver(Listening, Indicator):
    pass


class Reporter(Recorder):
    """A recorder that knows what it has reported when its response is confirmed."""

    transferred = ()

    async def transfer(self, link, connection, records):
        self.transferred = [payload for _, packets in records for _, payload in packets]
        await super().transfer(link, connection, records)

    def on_confirmed(self, link):
        if self.responding:
            for payload in self.transferred:
                self.log("given", link=link.number, hex=payload.hex())
        super().on_confirmed(link)


class Meter(Listening, Reporter):
    pass


class AdapterPort(StreamPacketSource):
    """The adapter of one boot, from the guest's first packet to the cut."""

    def __init__(self, bench):
        super().__init__()
        self.bench = bench
        self.controller = None

    def connection_made(self, transport):
        self.controller = AdapterController(
            "adapter", host_source=self, host_sink=StreamPacketSink(transport), link=self.bench.air,
            public_address=ADAPTER_ADDRESSES[1], signals={})
        self.bench.unplugged.clear()

    def connection_lost(self, _error):
        # The peripherals hear no more of it.
        self.controller.forget_everything()
        asyncio.get_running_loop().call_soon(self.remove)

    def remove(self):
        self.bench.air.remove_controller(self.controller)
        self.bench.unplugged.set()


class Bench:
    """All peripherals, and what they saw confirmed."""

    def __init__(self, random):
        self.random = random
        self.air = Air()
        self.unplugged = asyncio.Event()
        self.unplugged.set()
        # All that was taken: the id that the record must have, by address and payload.
        self.measured = {}
        # The readings whose confirmation a peripheral has heard, by address and payload.
        self.confirmed = set()
        self.peripherals = {}
        self.supplies = []
        # Of whom a link is up.
        self.linked = set()
        # Called with the name of what has just happened.
        self.on_event = lambda event: None

    def be_deaf(self, deaf):
        """Lets no peripheral hear a confirmation."""
        for peripheral in self.peripherals.values():
            peripheral.deaf = deaf

    async def start(self):
        """Puts the peripherals on the air and returns the port for the guest's adapter."""
        for place, (name, kind, _) in enumerate(PERIPHERALS, start=1):
            properties = dict(kind.properties)
            form = {"indicator": Giver, "recorder": Meter}[properties.pop("form")]
            peripheral = form(self.air, self.log, name, ADDRESS.format(place), **properties, **LIFE)
            self.peripherals[name] = peripheral
            await peripheral.start()
        server = await asyncio.get_running_loop().create_server(lambda: AdapterPort(self), "127.0.0.1", 0)
        return server.sockets[0].getsockname()[1]

    def log(self, what, peripheral, **fields):
        if what == "given" and "hex" in fields:
            place = list(self.peripherals).index(peripheral)
            self.confirmed.add((ADDRESS.format(place + 1), fields["hex"]))
            self.on_event("confirmed")
        elif what == "confirming":
            self.on_event("confirming")
        elif what == "link":
            self.linked.add(peripheral)
            self.on_event("link")
        elif what == "link-ended":
            self.linked.discard(peripheral)
        elif what == "pdu" and fields["direction"] == "<" and fields["hex"].startswith(INDICATION):
            self.on_event("indicated")

    # Readings

    def take_readings(self):
        """Lets all peripherals take readings, until `stop_taking`."""
        for name, _, make in PERIPHERALS:
            self.supplies.append(asyncio.create_task(self.supply(self.peripherals[name], make)))

    async def supply(self, peripheral, make):
        number = 0
        while True:
            await asyncio.sleep(self.random.uniform(*PAUSE_S))
            if peripheral.has_something:
                continue
            count = self.random.randint(1, MOST_READINGS)
            readings = [make(number + further) for further in range(count)]
            number += count
            self.note_measured(peripheral, readings)
            if isinstance(peripheral, Meter):
                peripheral.store(readings)
            else:
                peripheral.give(readings)

    def note_measured(self, peripheral, readings):
        place = list(self.peripherals.values()).index(peripheral)
        address, characteristic = ADDRESS.format(place + 1), PERIPHERALS[place][1].characteristic
        if isinstance(peripheral, Meter):
            readings = payloads_of(readings, characteristic)
        for payload in readings:
            self.measured[address, payload] = record_id(address, characteristic, payload)

    def stop_taking(self):
        for supply in self.supplies:
            supply.cancel()

    def keeps(self, reading):
        """Whether the peripheral has it still, and gives it again: a meter's memory is read anew where its mark is lost."""
        address, _ = reading
        return any(ADDRESS.format(place) == address and isinstance(peripheral, Meter)
                   for place, peripheral in enumerate(self.peripherals.values(), start=1))

    def left(self):
        """The names of those that have something left to give."""
        return [name for name, peripheral in self.peripherals.items() if peripheral.has_something]
