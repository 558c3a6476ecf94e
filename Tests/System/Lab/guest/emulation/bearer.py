"""A bumble device whose ATT channel is counted, logged and made to fail as told."""

import asyncio
import time

from bumble import att
from bumble.device import Device

HANDLE_VALUE_NOTIFICATION = 0x1B
HANDLE_VALUE_CONFIRMATION = 0x1E
CONNECTION_TIMEOUT = 0x08
REMOTE_USER_TERMINATED = 0x13
FROM_GATEWAY, TO_GATEWAY = ">", "<"

# What may go wrong on a link. PDUs are numbered from 1, both ways, in the order in which they go over the link.
FAULTS = {
    "lose": "PDU number N never arrives, and the link is lost with it (reason 0x08)",
    "drop_after": "the peripheral hangs up after PDU number N has arrived (reason 0x13)",
    "drop_after_notifications": "the peripheral hangs up after its notification number N (reason 0x13)",
    "silent_after": "the peripheral says nothing more after PDU number N, and keeps the link",
    "delay": "seconds before each PDU to the gateway is sent",
    "delay_count": "how many PDUs `delay` holds for; all, when absent",
    "lose_confirmations": "confirmations never arrive; the link stays",
    "ask": "a request in hexadecimal, which the peripheral sends when PDU number `ask_at` arrives, before it answers",
    "ask_at": "see `ask`",
}


class Link:
    """What went over one connection."""

    def __init__(self, number, connection, faults):
        self.number = number
        self.connection = connection
        self.faults = faults
        # The address of the adapter that connected.
        self.gateway = str(connection.peer_address).removesuffix("/P")
        self.opened = time.time()
        self.closed = None
        self.reason = None
        self.ended = asyncio.Event()
        self.pdus = []
        # How many PDUs had gone over the link when it was encrypted; None as long as it is not.
        self.encrypted = None
        self.asked = None
        self.answer = None
        self.to_send = asyncio.Queue()
        self.delayed = 0
        self.notifications = 0
        # "notify" or "indicate", by characteristic.
        self.subscribed = {}
        # The task that gives readings over this link, once the gateway has subscribed.
        self.giving = None

    def end(self, reason):
        self.reason = int(reason)
        self.closed = time.time()
        if self.giving is not None:
            self.giving.cancel()
        self.ended.set()

    def report(self):
        return {
            "number": self.number, "gateway": self.gateway,
            "opened": self.opened, "closed": self.closed, "reason": self.reason,
            "pdus": [[moment, direction, pdu.hex()] for moment, direction, pdu in self.pdus],
            "encrypted": self.encrypted,
            "asked": self.asked and self.asked.hex(), "answer": self.answer and self.answer.hex(),
        }


class FaultyDevice(Device):
    """Puts each ATT PDU of the open link through the link's faults.

    Its owner sets `link`, the open link; `log`, called with each PDU; `on_confirmed`, called when the confirmation of an
    indication has arrived; and, if it makes answers up, `invent`, which is given each request and returns the answer, or
    None for the proper one.
    """

    link = None
    log = None
    on_confirmed = None
    invent = None

    async def get_long_term_key(self, connection_handle, rand, ediv):
        """After legacy pairing a peripheral's links are encrypted with its own key; bumble takes the gateway's."""
        key = await super().get_long_term_key(connection_handle, rand, ediv)
        connection = self.lookup_connection(connection_handle)
        kept = connection and await self.keystore.get(str(connection.peer_address))
        if kept and kept.ltk_central and key == kept.ltk_peripheral.value:
            return kept.ltk_central.value
        return key

    # From the gateway

    def on_gatt_pdu(self, connection_handle, pdu):
        link = self.link
        if link is None:
            return
        number = self.note(link, FROM_GATEWAY, pdu)
        if link.faults.get("lose") == number:
            self.hang_up(link, CONNECTION_TIMEOUT)
            return
        if link.asked is not None and link.answer is None and pdu[0] & 1:
            link.answer = pdu
        elif pdu[0] == HANDLE_VALUE_CONFIRMATION and link.faults.get("lose_confirmations"):
            return
        else:
            if link.faults.get("ask_at") == number:
                link.asked = bytes.fromhex(link.faults["ask"])
                link.to_send.put_nowait(link.asked)
            invented = self.invent(pdu) if self.invent else None
            if invented is not None:
                link.to_send.put_nowait(invented)
            else:
                super().on_gatt_pdu(connection_handle, pdu)
            if pdu[0] == HANDLE_VALUE_CONFIRMATION:
                self.on_confirmed(link)
        if link.faults.get("drop_after") == number:
            # What the peripheral would answer is still in its queue, and stays there.
            self.hang_up(link, REMOTE_USER_TERMINATED)

    # To the gateway

    def send_l2cap_pdu(self, connection_handle, cid, pdu):
        if cid != att.ATT_CID:
            super().send_l2cap_pdu(connection_handle, cid, pdu)
        elif self.link is not None:
            self.link.to_send.put_nowait(pdu)

    async def send_queued(self, link):
        """Sends the link's PDUs in their order; runs as long as the link."""
        while True:
            pdu = await link.to_send.get()
            if self.link is not link:
                return
            if len(link.pdus) >= link.faults.get("silent_after", float("inf")):
                continue
            if "delay" in link.faults and link.delayed < link.faults.get("delay_count", float("inf")):
                link.delayed += 1
                await asyncio.sleep(link.faults["delay"])
                if self.link is not link:
                    return
            number = self.note(link, TO_GATEWAY, pdu)
            if link.faults.get("lose") == number:
                self.hang_up(link, CONNECTION_TIMEOUT)
                return
            super().send_l2cap_pdu(link.connection.handle, att.ATT_CID, pdu)
            if pdu[0] == HANDLE_VALUE_NOTIFICATION:
                link.notifications += 1
            if (link.faults.get("drop_after") == number
                    or 0 < link.notifications == link.faults.get("drop_after_notifications")):
                self.hang_up(link, REMOTE_USER_TERMINATED)
                return

    def note(self, link, direction, pdu):
        moment = time.time()
        link.pdus.append((moment, direction, pdu))
        self.log("pdu", link=link.number, pdu=len(link.pdus), direction=direction, hex=pdu.hex())
        return len(link.pdus)

    def hang_up(self, link, reason):
        self.link = None
        asyncio.get_running_loop().create_task(link.connection.disconnect(reason))
