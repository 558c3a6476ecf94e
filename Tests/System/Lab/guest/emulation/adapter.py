"""The gateway's adapter, and the air between it and the peripherals.

bumble's controller and link leave out what a gateway's behaviour depends on; the classes here put it in:
filtering of adverts, active scans, directed adverts, strengths of signals, cancelled connection attempts, resets, and
data sent from a public address.
"""

import asyncio
import collections
import errno
import functools
import os

from bumble import hci, ll
from bumble.controller import Controller
from bumble.hci import Address
from bumble.link import LocalLink
from bumble.transport import open_transport

# The adapters' own, by their number; the lab begins with the first.
ADAPTER_ADDRESSES = {1: "00:1B:DC:00:00:01", 2: "00:1B:DC:00:00:02"}
# How many packets each end of a link can send in a connection event.
PACKETS_IN_EVENT = 4
# How strongly an adapter hears a peripheral of which nothing else was ordered.
SIGNAL_DBM = -50
# Set Scan Parameters, scanning filter policy 0x01 and 0x03: adverts of devices on the accept list only.
ACCEPT_LIST_POLICIES = (0x01, 0x03)
# Set Scan Parameters, type of scan.
ACTIVE_SCAN = 0x01
# Create Connection, initiator filter policy 0x01: connect to whoever on the accept list advertises first.
CONNECT_TO_ACCEPT_LIST = 0x01
# Set Extended Advertising Parameters, properties.
DIRECTED = hci.HCI_LE_Set_Extended_Advertising_Parameters_Command.AdvertisingProperties.DIRECTED_ADVERTISING
# What comes of a command.
ANSWERS = (hci.HCI_Command_Complete_Event, hci.HCI_Command_Status_Event, hci.HCI_LE_Connection_Complete_Event)
# The beginning of the command Reset: a command, and its opcode.
RESET = bytes([hci.HCI_COMMAND_PACKET]) + hci.HCI_RESET_COMMAND.to_bytes(2, "little")
ReportType = hci.HCI_LE_Advertising_Report_Event.EventType


class Air(LocalLink):
    """A link that carries data under the address that the connection was made with."""

    def __init__(self):
        super().__init__()
        # Between two connection events; 0: what is sent arrives at once.
        self.connection_interval_s = 0
        # What waits for the next connection event: who has sent it, and what hands it over.
        self.waiting = []

    def send_acl_data(self, sender_controller, destination_address, transport, data):
        receiver = self.find_le_controller(destination_address)
        connection = sender_controller.le_connections.get(destination_address)
        source = connection.self_address if connection else sender_controller.random_address
        if receiver is not None:
            self.carry(source, functools.partial(receiver.on_link_acl_data, source, transport, data))

    def send_ll_control_pdu(self, sender_address, receiver_address, packet):
        receiver = self.find_le_controller(receiver_address)
        if receiver is not None:
            self.carry(sender_address, functools.partial(receiver.on_ll_control_pdu, sender_address, packet))

    def carry(self, source, deliver):
        loop = asyncio.get_running_loop()
        if not self.connection_interval_s:
            loop.call_soon(deliver)
            return
        if not self.waiting:
            next_event = (loop.time() // self.connection_interval_s + 1) * self.connection_interval_s
            loop.call_at(next_event, self.have_connection_event)
        self.waiting.append((source, deliver))

    def have_connection_event(self):
        """Carries what waits, as much of each end as fits; what is sent upon it waits for the next one."""
        now, self.waiting = self.waiting, []
        carried = collections.Counter()
        for source, deliver in now:
            carried[source] += 1
            if carried[source] > PACKETS_IN_EVENT:
                self.carry(source, deliver)
            else:
                deliver()

    def send_advertising_pdu(self, sender_controller, packet):
        super().send_advertising_pdu(sender_controller, as_sent(sender_controller, packet))

    def scan_response(self, address):
        """What who advertises under this address answers to a scan request."""
        for controller in self.controllers:
            for advertiser in (controller.le_legacy_advertiser, *controller.advertising_sets.values()):
                if advertiser.enabled and advertiser.address == address:
                    return bytes(advertiser.scan_response_data)
        return b""

    def hears(self, address):
        """Whether somebody advertises under this address now."""
        return any(
            advertiser.enabled and advertiser.address == address
            for controller in self.controllers
            for advertiser in (controller.le_legacy_advertiser, *controller.advertising_sets.values()))


def as_sent(sender, packet):
    """bumble sends all connectable adverts in one form; here a directed one is one."""
    if isinstance(packet, ll.AdvExtInd):
        for advertiser in sender.advertising_sets.values():
            parameters = advertiser.parameters
            if advertiser.address == packet.advertiser_address and parameters.advertising_event_properties & DIRECTED:
                return ll.AdvDirectInd(packet.advertiser_address, parameters.peer_address)
    return packet


class AdapterController(Controller):
    """A controller that scans, connects and resets as the ones in gateways do."""

    # With these features the kernel awaits the Enhanced Connection Complete event, which bumble never sends: each attempt
    # then goes on for 4 s after the link is there, without scanning, and the kernel loses count of its links.
    le_features = Controller.le_features & ~(
        hci.LeFeatureMask.LL_PRIVACY | hci.LeFeatureMask.LE_EXTENDED_ADVERTISING
        | hci.LeFeatureMask.LE_PERIODIC_ADVERTISING)

    def __init__(self, *arguments, signals, **options):
        super().__init__(*arguments, **options)
        # Of peripherals' adverts, in dBm, by address; None of those that are out of reach.
        self.signals = signals
        self.accept_list = set()
        # How many links it makes at a time; None: any number.
        self.most_links = None
        self.reported = set()
        # For how long it reports no adverts after a link has ended, and until when it does not.
        self.deafness_s = 0
        self.deaf_until = 0
        self.known_links = set()
        # How long it takes for the answer to a command, and for the news of a link.
        self.answer_delay_s = 0
        # It answers nothing and hears nothing, until it is reset.
        self.is_dead = False
        # How many adverts were on the air, and how many of them the kernel was told of.
        self.heard = 0
        self.sent_reports = 0

    # Deafness and death

    def is_deaf(self):
        """Whether a link has ended so lately that it does not report adverts yet."""
        now = asyncio.get_running_loop().time()
        links = set(self.le_connections)
        if self.known_links - links:
            self.deaf_until = now + self.deafness_s
        self.known_links = links
        return now < self.deaf_until

    def on_packet(self, packet):
        if self.is_dead and packet[:3] == RESET:
            self.is_dead = False
        if not self.is_dead:
            super().on_packet(packet)

    def send_hci_packet(self, packet):
        if self.is_dead:
            return
        if self.answer_delay_s and isinstance(packet, ANSWERS):
            asyncio.get_running_loop().call_later(self.answer_delay_s, super().send_hci_packet, packet)
        else:
            super().send_hci_packet(packet)

    # Adverts

    def signal(self, address):
        return self.signals.get(address, SIGNAL_DBM)

    def on_ll_advertising_pdu(self, packet):
        self.heard += 1
        if self.signal(packet.advertiser_address) is None:
            return
        if isinstance(packet, ll.AdvNonConnInd):
            self.report_advert(packet, ReportType.ADV_NONCONN_IND)
        elif isinstance(packet, ll.AdvDirectInd):
            self.on_directed_advert(packet)
        else:
            super().on_ll_advertising_pdu(packet)

    def on_advertising_pdu(self, pdu):
        self.report_advert(pdu, ReportType.ADV_IND)
        if self.le_scan_type == ACTIVE_SCAN:
            # The kernel keeps a scannable advert back until it has the answer to its scan request.
            answer = ll.AdvInd(pdu.advertiser_address, self.link.scan_response(pdu.advertiser_address))
            self.report_advert(answer, ReportType.SCAN_RSP)
        self.connect_if_wanted(pdu.advertiser_address)

    def on_directed_advert(self, pdu):
        if pdu.target_address == self.public_address:
            self.report_advert(ll.AdvInd(pdu.advertiser_address, b""), ReportType.ADV_DIRECT_IND)
            self.connect_if_wanted(pdu.advertiser_address)

    def connect_if_wanted(self, address):
        if self.wants_connection(address) and self.link.hears(address):
            self.create_le_connection(address)

    def report_advert(self, pdu, event_type):
        if not self.is_deaf() and self.le_scan_enable and self.passes_filters(pdu, event_type):
            report = hci.HCI_LE_Advertising_Report_Event.Report(
                event_type=event_type,
                address_type=pdu.advertiser_address.address_type,
                address=pdu.advertiser_address, data=pdu.data, rssi=self.signal(pdu.advertiser_address))
            self.sent_reports += 1
            self.send_hci_packet(hci.HCI_LE_Advertising_Report_Event([report]))

    def passes_filters(self, pdu, event_type):
        if self.le_scanning_filter_policy in ACCEPT_LIST_POLICIES:
            if pdu.advertiser_address not in self.accept_list:
                return False
        if self.filter_duplicates:
            if (pdu.advertiser_address, event_type) in self.reported:
                return False
            self.reported.add((pdu.advertiser_address, event_type))
        return True

    def on_hci_command(self, command):
        """What bumble has no handler for. It leaves commands without an answer that it does not know to be synchronous, as
        Read Clock; a controller answers each (Core Specification Vol 4 Part E 4.5)."""
        result = super().on_hci_command(command)
        if isinstance(command, hci.HCI_SyncCommand):
            return result
        self.send_hci_packet(hci.HCI_Command_Status_Event(
            status=hci.HCI_ErrorCode.UNKNOWN_HCI_COMMAND_ERROR, num_hci_command_packets=1,
            command_opcode=command.op_code))
        return None

    def on_hci_le_set_scan_enable_command(self, command):
        self.reported.clear()
        return super().on_hci_le_set_scan_enable_command(command)

    def on_hci_le_clear_filter_accept_list_command(self, command):
        self.accept_list.clear()
        return super().on_hci_le_clear_filter_accept_list_command(command)

    def on_hci_le_add_device_to_filter_accept_list_command(self, command):
        self.accept_list.add(command.address)
        return super().on_hci_le_add_device_to_filter_accept_list_command(command)

    def on_hci_le_remove_device_from_filter_accept_list_command(self, command):
        self.accept_list.discard(command.address)
        return super().on_hci_le_remove_device_from_filter_accept_list_command(command)

    # Connections

    def on_hci_le_create_connection_command(self, command):
        if self.most_links is not None and len(self.le_connections) >= self.most_links:
            self._send_hci_command_status(hci.HCI_ErrorCode.CONNECTION_LIMIT_EXCEEDED_ERROR, command.op_code)
            return None
        return super().on_hci_le_create_connection_command(command)

    def wants_connection(self, address):
        pending = self.pending_le_connection
        if pending is None or self.le_connections.get(address):
            return False
        if pending.initiator_filter_policy == CONNECT_TO_ACCEPT_LIST:
            if address not in self.accept_list:
                return False
            pending.peer_address = address
            return True
        return pending.peer_address == address

    def on_hci_le_create_connection_cancel_command(self, _command):
        pending = self.pending_le_connection
        if pending is None:
            return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.COMMAND_DISALLOWED_ERROR)
        self.pending_le_connection = None
        asyncio.get_running_loop().call_soon(self.send_hci_packet, hci.HCI_LE_Connection_Complete_Event(
            status=hci.HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, connection_handle=0,
            role=hci.Role.CENTRAL, peer_address_type=pending.peer_address.address_type,
            peer_address=pending.peer_address, connection_interval=0, peripheral_latency=0,
            supervision_timeout=0, central_clock_accuracy=0))
        return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.SUCCESS)

    def on_hci_reset_command(self, command):
        self.forget_everything()
        return super().on_hci_reset_command(command)

    def forget_everything(self):
        """Stops scanning and connecting, and lets the peripherals lose their links."""
        self.le_scan_enable = False
        self.pending_le_connection = None
        self.accept_list.clear()
        for connection in list(self.le_connections.values()):
            connection.send_ll_control_pdu(ll.TerminateInd(hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR))
        self.le_connections.clear()


class KernelSink:
    """Hands packets to the kernel. It refuses those of an adapter that it has just switched off, which are lost then;
    asyncio's own writer would close /dev/vhci upon that, and so pull the adapter out."""

    def __init__(self, transport):
        self.file = transport.sink.transport.get_extra_info("pipe")

    def on_packet(self, packet):
        try:
            os.write(self.file.fileno(), packet)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise


class Adapter:
    """The adapter as a thing that can be plugged in and pulled out."""

    def __init__(self, air, number):
        self.air = air
        self.number = number
        self.signals = {}
        self.most_links = None
        self.controller = None
        self.transport = None

    def set_signal(self, address, dbm):
        """How strongly it hears a peripheral, in dBm; None: not at all."""
        self.signals[Address(address)] = dbm

    def set_most_links(self, count):
        """How many links it makes at a time; None: any number."""
        self.most_links = count
        if self.controller is not None:
            self.controller.most_links = count

    def set_deafness(self, seconds):
        """For how long it reports no adverts after a link has ended."""
        if self.controller is not None:
            self.controller.deafness_s = seconds

    def set_answer_delay(self, seconds):
        """How long it takes for the answer to a command, and for the news of a link."""
        if self.controller is not None:
            self.controller.answer_delay_s = seconds

    def play_dead(self):
        """It answers nothing and hears nothing, until it is reset."""
        self.controller.is_dead = True

    def state(self):
        """What the kernel has told it to do, for the report of a failure."""
        controller = self.controller
        if controller is None:
            return {"plugged": False}
        pending = controller.pending_le_connection
        return {
            "scans": bool(controller.le_scan_enable), "filter": int(controller.le_scanning_filter_policy),
            "accepts": len(controller.accept_list), "connects_to": str(pending.peer_address) if pending else None,
            "links": len(controller.le_connections), "dead": controller.is_dead, "heard": controller.heard, "reported": controller.sent_reports,
        }

    async def plug(self):
        if self.transport is not None:
            return
        self.transport = await open_transport("vhci")
        self.controller = AdapterController(
            f"adapter {self.number}", host_source=self.transport.source, host_sink=KernelSink(self.transport), link=self.air,
            public_address=ADAPTER_ADDRESSES[self.number], signals=self.signals)
        self.controller.most_links = self.most_links

    async def unplug(self):
        self.signals.clear()
        self.set_most_links(None)
        if self.transport is None:
            return
        self.controller.forget_everything()
        # One turn of the loop, in which the peripherals hear that their links are lost.
        await asyncio.sleep(0)
        self.air.remove_controller(self.controller)
        transport, self.transport, self.controller = self.transport, None, None
        await transport.close()
