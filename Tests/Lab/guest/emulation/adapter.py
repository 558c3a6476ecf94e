"""The gateway's adapter, and the air between it and the peripherals.

bumble's controller and link leave out what a gateway's behaviour depends on; the classes here put it in:
filtering of adverts, cancelled connection attempts, resets, and data sent from a public address.
"""

import asyncio

from bumble import hci, ll
from bumble.controller import Controller
from bumble.link import LocalLink
from bumble.transport import open_transport

ADAPTER_ADDRESS = "00:1B:DC:00:00:01"
# Set Scan Parameters, scanning filter policy 0x01 and 0x03: adverts of devices on the accept list only.
ACCEPT_LIST_POLICIES = (0x01, 0x03)
# Create Connection, initiator filter policy 0x01: connect to whoever on the accept list advertises first.
CONNECT_TO_ACCEPT_LIST = 0x01


class Air(LocalLink):
    """A link that carries data under the address that the connection was made with."""

    def send_acl_data(self, sender_controller, destination_address, transport, data):
        receiver = self.find_le_controller(destination_address)
        connection = sender_controller.le_connections.get(destination_address)
        source = connection.self_address if connection else sender_controller.random_address
        if receiver is not None:
            asyncio.get_running_loop().call_soon(receiver.on_link_acl_data, source, transport, data)

    def hears(self, address):
        """Whether somebody advertises under this address now."""
        return any(
            advertiser.enabled and advertiser.address == address
            for controller in self.controllers
            for advertiser in (controller.le_legacy_advertiser, *controller.advertising_sets.values()))


class AdapterController(Controller):
    """A controller that scans, connects and resets as the ones in gateways do."""

    # With these features the kernel awaits the Enhanced Connection Complete event, which bumble never sends: each attempt
    # then goes on for 4 s after the link is there, without scanning, and the kernel loses count of its links.
    le_features = Controller.le_features & ~(
        hci.LeFeatureMask.LL_PRIVACY | hci.LeFeatureMask.LE_EXTENDED_ADVERTISING
        | hci.LeFeatureMask.LE_PERIODIC_ADVERTISING)

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.accept_list = set()
        self.reported = set()

    # Adverts

    def on_ll_advertising_pdu(self, packet):
        if isinstance(packet, ll.AdvNonConnInd):
            self.report_advert(packet, hci.HCI_LE_Advertising_Report_Event.EventType.ADV_NONCONN_IND)
        else:
            super().on_ll_advertising_pdu(packet)

    def on_advertising_pdu(self, pdu):
        self.report_advert(pdu, hci.HCI_LE_Advertising_Report_Event.EventType.ADV_IND)
        if self.wants_connection(pdu.advertiser_address):
            if self.link.hears(pdu.advertiser_address):
                self.create_le_connection(pdu.advertiser_address)

    def report_advert(self, pdu, event_type):
        if self.le_scan_enable and self.passes_filters(pdu):
            report = hci.HCI_LE_Advertising_Report_Event.Report(
                event_type=event_type,
                address_type=pdu.advertiser_address.address_type,
                address=pdu.advertiser_address, data=pdu.data, rssi=-50)
            self.send_hci_packet(hci.HCI_LE_Advertising_Report_Event([report]))

    def passes_filters(self, pdu):
        if self.le_scanning_filter_policy in ACCEPT_LIST_POLICIES:
            if pdu.advertiser_address not in self.accept_list:
                return False
        if self.filter_duplicates:
            if pdu.advertiser_address in self.reported:
                return False
            self.reported.add(pdu.advertiser_address)
        return True

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


class Adapter:
    """The adapter as a thing that can be plugged in and pulled out."""

    def __init__(self, air):
        self.air = air
        self.controller = None
        self.transport = None

    async def plug(self):
        if self.transport is not None:
            return
        self.transport = await open_transport("vhci")
        self.controller = AdapterController(
            "adapter", host_source=self.transport.source, host_sink=self.transport.sink, link=self.air,
            public_address=ADAPTER_ADDRESS)

    async def unplug(self):
        if self.transport is None:
            return
        self.controller.forget_everything()
        # One turn of the loop, in which the peripherals hear that their links are lost.
        await asyncio.sleep(0)
        self.air.remove_controller(self.controller)
        transport, self.transport, self.controller = self.transport, None, None
        await transport.close()
