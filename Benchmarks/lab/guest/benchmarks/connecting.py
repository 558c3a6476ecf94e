"""A link at which nothing is asked: an ATT socket, as the gateway makes it. Python's own sockets know no address types."""

import ctypes
import os
import socket

AF_BLUETOOTH, BTPROTO_L2CAP = 31, 0
ATT_CHANNEL = 4
# Of an address: random (include/net/bluetooth/bluetooth.h).
RANDOM = 2


class Address(ctypes.Structure):
    """struct sockaddr_l2."""

    _fields_ = [("family", ctypes.c_ushort), ("psm", ctypes.c_ushort), ("address", ctypes.c_ubyte * 6),
                ("channel", ctypes.c_ushort), ("type", ctypes.c_ubyte)]

    @classmethod
    def of(cls, text, kind):
        octets = bytes.fromhex(text.replace(":", ""))[::-1]
        return cls(AF_BLUETOOTH, 0, (ctypes.c_ubyte * 6)(*octets), ATT_CHANNEL, kind)


def connect(address):
    """Returns the socket when the link is there; the kernel waits for an advert of the device first."""
    # The type of the own address: public.
    own = Address.of("00:00:00:00:00:00", 1)
    other = Address.of(address, RANDOM)
    libc = ctypes.CDLL(None, use_errno=True)
    link = socket.socket(AF_BLUETOOTH, socket.SOCK_SEQPACKET, BTPROTO_L2CAP)
    for call, name in ((libc.bind, own), (libc.connect, other)):
        if call(link.fileno(), ctypes.byref(name), ctypes.sizeof(name)) != 0:
            link.close()
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return link
