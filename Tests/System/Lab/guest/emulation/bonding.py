"""What lets a peripheral bond: its user's part in pairing, its keys, and what it keeps from gateways without a bond."""

import asyncio
import secrets

from bumble import hci
from bumble.gatt import GATT_CLIENT_CHARACTERISTIC_CONFIGURATION_DESCRIPTOR, Characteristic
from bumble.hci import Address
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig, PairingDelegate

Permissions = Characteristic.Permissions
REMOTE_USER_TERMINATED = 0x13

# How a device proves itself, by what it can show and ask.
METHODS = {
    "just-works": PairingDelegate.NO_OUTPUT_NO_INPUT,
    "passkey": PairingDelegate.DISPLAY_OUTPUT_ONLY,
    "compare": PairingDelegate.DISPLAY_OUTPUT_AND_YES_NO_INPUT,
}
# The answer to whoever reads, writes or subscribes without an encrypted link: Insufficient Authentication (0x05) or
# Insufficient Encryption (0x0F).
REFUSALS = {
    None: (0, 0),
    "authentication": (Permissions.READ_REQUIRES_AUTHENTICATION, Permissions.WRITE_REQUIRES_AUTHENTICATION),
    "encryption": (Permissions.READ_REQUIRES_ENCRYPTION, Permissions.WRITE_REQUIRES_ENCRYPTION),
}


class Bonding(PairingDelegate):
    """A device's side of bonding.

    `method` is one of METHODS, `refuses` one of REFUSALS. A `secure` one can do LE Secure Connections, any other legacy
    pairing alone. A `private` device advertises resolvable private addresses, a new one at each waking, and tells its
    identity address at pairing. A `directed` one that has a bond advertises to its bonded gateway alone. One that
    `asks` sends a Security Request on each link; one that `hangs_up` ends the link as soon as the bond is there.
    `passkey` is what it shows, another one each time otherwise; `agrees` is its user's answer to a number to compare.
    It accepts pairing in pairing mode only, which ends with the bond.
    """

    def __init__(self, method="just-works", refuses="encryption", secure=True, private=False, directed=False,
                 hangs_up=False, asks=False, passkey=None, agrees=True):
        keys = PairingDelegate.KeyDistribution.DISTRIBUTE_ENCRYPTION_KEY
        if private:
            keys |= PairingDelegate.KeyDistribution.DISTRIBUTE_IDENTITY_KEY
        super().__init__(METHODS[method], local_responder_key_distribution=keys)
        self.method = method
        self.refuses = refuses
        self.secure = secure
        self.private = private
        self.directed = directed
        self.hangs_up = hangs_up
        self.asks = asks
        self.passkey = passkey
        self.in_pairing_mode = False
        self.agrees = agrees
        # Each time that it has shown six digits.
        self.shown = []
        self.keys = MemoryKeyStore()
        self.bonds = 0
        # The number of the link on which it was paired, last.
        self.link = None
        self.failures = []
        self.device = None
        self.log = None

    @property
    def is_demanded(self):
        """Whether the device gives something to bonded gateways alone."""
        return self.refuses is not None

    def attach(self, device, log):
        """Makes a device pair as told; before it is powered on."""
        self.device = device
        self.log = log
        device.keystore = self.keys
        device.irk = secrets.token_bytes(16)
        device.pairing_config_factory = lambda _connection: PairingConfig(
            sc=self.secure, mitm=self.method != "just-works", bonding=True, delegate=self,
            identity_address_type=PairingConfig.AddressType.RANDOM)

    def protect(self, gatt_server, characteristics):
        """Closes the values and the subscriptions of characteristics to links that are not encrypted."""
        reading, writing = REFUSALS[self.refuses]
        for characteristic in characteristics:
            if characteristic.permissions & Permissions.READABLE:
                characteristic.permissions |= reading
            if characteristic.permissions & Permissions.WRITEABLE:
                characteristic.permissions |= writing
            for handle in range(characteristic.handle + 1, characteristic.end_group_handle + 1):
                attribute = gatt_server.get_attribute(handle)
                if attribute.type == GATT_CLIENT_CHARACTERISTIC_CONFIGURATION_DESCRIPTOR:
                    attribute.permissions |= writing

    def follow(self, link):
        """Watches pairing and encryption on one link."""
        connection = link.connection
        connection.on(connection.EVENT_PAIRING, lambda _keys: self.on_bonded(link))
        connection.on(connection.EVENT_PAIRING_FAILURE, self.on_failure)

        def on_encryption():
            link.encrypted = len(link.pdus)
            self.log("encrypted", link=link.number)

        connection.on(connection.EVENT_CONNECTION_ENCRYPTION_CHANGE, on_encryption)
        if self.asks:
            connection.request_pairing()

    def on_bonded(self, link):
        self.bonds += 1
        self.link = link.number
        self.in_pairing_mode = False
        self.log("bonded", gateways=list(self.keys.all_keys))
        if self.hangs_up:
            asyncio.get_running_loop().create_task(self.hang_up(link.connection))

    async def hang_up(self, connection):
        # The keys that it has just handed out must be over the air first.
        await connection.drain()
        await connection.disconnect(REMOTE_USER_TERMINATED)

    def on_failure(self, reason):
        self.failures.append(int(reason))
        self.log("pairing-failed", reason=int(reason))

    def forget(self):
        """Loses all keys, as after a reset by its user."""
        self.keys.all_keys.clear()

    @property
    def gateway(self):
        """The identity address of the gateway that it is bonded to, if it is."""
        for name in self.keys.all_keys:
            return Address(name)
        return None

    async def renew_address(self):
        self.device.random_address = Address.generate_private_address(self.device.irk)
        await self.device.send_sync_command(
            hci.HCI_LE_Set_Random_Address_Command(random_address=self.device.random_address))

    def report(self):
        return {
            "bonds": [name.removesuffix("/P") for name in self.keys.all_keys], "paired": self.bonds,
            "link": self.link, "failures": self.failures, "shown": self.shown,
        }

    # What its user sees and does

    async def accept(self):
        return self.in_pairing_mode

    async def generate_passkey(self):
        return await super().generate_passkey() if self.passkey is None else self.passkey

    async def display_number(self, number, digits):
        self.show(number, digits)

    async def compare_numbers(self, number, digits):
        self.show(number, digits)
        return self.agrees

    def show(self, number, digits):
        self.shown.append(f"{number:0{digits}}")
        self.log("shown", digits=self.shown[-1])


def no_bonding():
    """Of a device that needs none."""
    return Bonding(refuses=None)
