"""Orders to the peripherals, and what they saw."""

import json
import socket

from .waiting import Failure, wait_until

ORDERS_SOCKET = "/run/lab/peripherals.sock"
ANSWER_LIMIT_S = 30
# A read takes about a second under emulation; this leaves room for back-off and for other peripherals' reads.
READ_LIMIT_S = 60


class Air:
    """The connection to the peripherals' service."""

    def __init__(self):
        self.peripherals = []
        self.connect()

    def connect(self):
        """Connects, or connects anew: a case that ran out of time may have left an answer unread."""
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.settimeout(ANSWER_LIMIT_S)
        self.connection.connect(ORDERS_SOCKET)
        self.lines = self.connection.makefile("rb")

    def order(self, what, **fields):
        self.connection.sendall(json.dumps({"do": what, **fields}).encode() + b"\n")
        answer = json.loads(self.lines.readline())
        if not answer.pop("ok"):
            raise Failure(f"order {what}: {answer['error']}")
        return answer

    def add(self, name, address, kind, **properties):
        """Puts a sleeping peripheral on the air; `kind` is one of labkit.kinds."""
        self.order("add", peripheral=name, properties={"address": address, **kind.properties, **properties})
        peripheral = Peripheral(self, name, address, kind)
        self.peripherals.append(peripheral)
        return peripheral

    def alarms(self):
        """What peripherals were told to do and never should be, in words."""
        return [f"{peripheral.name}: {alarm}" for peripheral in self.peripherals
                for alarm in peripheral.report().get("alarms", [])]

    def clear(self):
        """Takes all peripherals off the air and puts the adapter back."""
        for peripheral in list(self.peripherals):
            self.remove(peripheral)
        self.unplug(2)
        self.plug()
        self.most_links(None)
        self.deafness(0)
        self.answer_delay(0)

    def remove(self, peripheral):
        """Takes a peripheral off the air for good."""
        self.peripherals.remove(peripheral)
        self.order("remove", peripheral=peripheral.name)

    def plug(self, adapter=1):
        """Plugs an adapter in, if it is not, and returns its address: 1, with which the lab begins, or 2."""
        return self.order("plug", adapter=adapter)["address"]

    def unplug(self, adapter=1):
        """Pulls an adapter out; its links are lost."""
        self.order("unplug", adapter=adapter)

    def signal(self, adapter, peripheral, dbm):
        """How strongly an adapter hears a peripheral, in dBm, until the adapter is pulled out; None: not at all."""
        self.order("signal", adapter=adapter, address=peripheral.address, dbm=dbm)

    def adapter_state(self, adapter=1):
        """What an adapter was told to do by the kernel, in words and numbers."""
        return self.order("adapter-state", adapter=adapter)

    def most_links(self, count, adapter=1):
        """How many links an adapter makes at a time, until it is pulled out; None: any number."""
        self.order("links", adapter=adapter, most=count)

    def deafness(self, seconds, adapter=1):
        """For how long an adapter reports no adverts after a link has ended, until it is pulled out."""
        self.order("deafness", adapter=adapter, seconds=seconds)

    def answer_delay(self, seconds, adapter=1):
        """How long an adapter takes for the answer to a command and for the news of a link, until it is pulled out."""
        self.order("answer-delay", adapter=adapter, seconds=seconds)

    def play_dead(self, adapter=1):
        """Has an adapter answer nothing and hear nothing, until it is reset."""
        self.order("play-dead", adapter=adapter)

    def neighbour(self, present):
        """Whether a device that is nobody's is there, and advertises all the time."""
        self.order("neighbour", present=present)

    def connection_interval(self, seconds):
        """How far apart the connection events of all links are; 0, with which the lab begins: links have no delay."""
        self.order("interval", seconds=seconds)


class Peripheral:
    """One emulated device, seen from a case."""

    def __init__(self, air, name, address, kind):
        self.air = air
        self.name = name
        self.address = address
        self.kind = kind

    @property
    def characteristic(self):
        return self.kind.characteristic

    def give(self, *readings):
        """Wakes it up with readings to give, in hexadecimal; a reading of another characteristic than the kind's is a
        pair of both. A streamer gives them over and over; none at all let it sleep.
        """
        self.air.order("give", peripheral=self.name, readings=readings)

    def store(self, *records):
        """Wakes a recorder up with more records in its memory; see `Recorder`."""
        self.air.order("store", peripheral=self.name, records=records)

    def wake(self, wake=True):
        """Wakes a recorder up with nothing new."""
        self.air.order("wake", peripheral=self.name, wake=wake)

    def erase(self):
        """Clears a recorder's memory, as its user can."""
        self.air.order("erase", peripheral=self.name, erase=True)

    def script(self, **script):
        """How a recorder behaves from now on; see emulation/recorder.py."""
        self.air.order("script", peripheral=self.name, script=script)

    def broadcast(self, *adverts):
        """Lets a broadcaster send adverts: pairs of advertising data in hexadecimal and how often it is sent."""
        self.air.order("broadcast", peripheral=self.name, adverts=adverts)

    def linger(self, linger=True):
        """Makes it go on advertising when it has nothing to give, or stop that."""
        self.air.order("linger", peripheral=self.name, linger=linger)

    def hold(self, hold=True):
        """Keeps it from indicating its readings to a gateway that has subscribed, or lets it."""
        self.air.order("hold", peripheral=self.name, hold=hold)

    def fault(self, **fault):
        """Lets something go wrong on its next link; see emulation/bearer.py."""
        self.air.order("fault", peripheral=self.name, fault=fault)

    def pairing_mode(self, on=True):
        """Lets it accept pairing, as its user does with a button, or stops that."""
        self.air.order("pairing", peripheral=self.name, pairing=on)

    def forget_bonds(self):
        """Deletes all its keys, as its user can."""
        self.air.order("forget", peripheral=self.name, forget=True)

    def report(self):
        return self.air.order("report", peripheral=self.name)

    @property
    def bonds(self):
        """The addresses of the adapters that it has keys for."""
        return self.report()["bonding"]["bonds"]

    @property
    def pairings(self):
        """How often it was paired."""
        return self.report()["bonding"]["paired"]

    @property
    def shown(self):
        """The six digits that it has shown, each time that it did."""
        return self.report()["bonding"]["shown"]

    @property
    def links(self):
        return self.report()["links"]

    @property
    def given(self):
        """(number of the link, payload) of each confirmed indication."""
        return [tuple(entry) for entry in self.report()["given"]]

    @property
    def requests(self):
        """(number of the link, characteristic, value) of each write to a recorder."""
        return [tuple(entry) for entry in self.report()["requests"]]

    def notifications(self, characteristic=None):
        """(number of the link, payload) of each notification that went over the air."""
        report = self.report()
        start = "1b" + report["handles"][characteristic or self.characteristic].to_bytes(2, "little").hex()
        return [(link["number"], pdu.removeprefix(start)) for link in report["links"]
                for _, direction, pdu in link["pdus"] if direction == "<" and pdu.startswith(start)]

    def wait_asleep(self, seconds=READ_LIMIT_S):
        """Waits until a recorder was asked for records and has given them."""
        wait_until(f"{self.name} has given its records", seconds, lambda: not self.report()["awake"])

    def wait_broadcast(self, count, seconds=READ_LIMIT_S):
        """Waits until so many of a broadcaster's adverts were sent as often as was ordered."""
        wait_until(f"{self.name} has broadcast", seconds, lambda: len(self.report()["sent"]) >= count)

    def wait_given(self, count=1, seconds=READ_LIMIT_S):
        wait_until(f"{count} indications of {self.name} confirmed", seconds,
                   lambda: len(self.report()["given"]) >= count)

    def wait_subscribed(self, seconds=READ_LIMIT_S):
        wait_until(f"the gateway subscribed at {self.name}", seconds, lambda: self.report()["subscribed"])

    def wait_links(self, count, seconds=READ_LIMIT_S):
        wait_until(f"{count} links of {self.name}", seconds, lambda: len(self.links) >= count)

    def wait_link_ended(self, number, seconds=READ_LIMIT_S):
        """Returns the link's report once it has ended."""
        def ended():
            links = self.links
            return len(links) >= number and links[number - 1]["closed"] and links[number - 1]
        return wait_until(f"link {number} of {self.name} ended", seconds, ended)

    def wait_indicated(self, link, seconds=READ_LIMIT_S):
        """Waits until an indication went out on the link of this number."""
        def indicated():
            links = self.links
            return len(links) >= link and any(
                direction == "<" and pdu.startswith("1d") for _, direction, pdu in links[link - 1]["pdus"])
        wait_until(f"an indication of {self.name} on link {link}", seconds, indicated)
