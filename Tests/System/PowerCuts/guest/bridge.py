"""Carries the guest's adapter and the way to its receiver to the host, where the peripherals and the receiver live.

Few imports: the interpreter is emulated, and starts at each boot.
"""

import os
import socket
import struct
import threading

HOST = "10.0.2.2"
RECEIVER = ("127.0.0.1", 8099)
# /dev/vhci: a packet that makes a controller of type primary; what comes back of this type is only its number.
VENDOR, PRIMARY = 0xFF, 0x00
# Packets from a controller, by type: octets of the header, where its length field is and its form.
ACL, EVENT = 0x02, 0x04
HEADERS = {ACL: (4, 2, "<H"), EVENT: (2, 1, "<B")}
# The longest packet of HCI, and some.
LARGEST = 4096


def connect(port):
    stream = socket.create_connection((HOST, port))
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return stream


def carry_to_host(vhci, stream):
    while True:
        packet = os.read(vhci, LARGEST)
        if packet[0] != VENDOR:
            stream.sendall(packet)


def carry_to_kernel(vhci, stream):
    lines = stream.makefile("rb")
    while kind := lines.read(1):
        size, at, form = HEADERS[kind[0]]
        header = lines.read(size)
        length, = struct.unpack_from(form, header, at)
        os.write(vhci, kind + header + lines.read(length))


def pump(source, destination):
    try:
        while data := source.recv(65536):
            destination.sendall(data)
        destination.shutdown(socket.SHUT_WR)
    except OSError:
        for end in (source, destination):
            end.close()


def forward(listener, port):
    while True:
        near, _ = listener.accept()
        try:
            far = connect(port)
        except OSError:
            near.close()
            continue
        start(pump, near, far)
        start(pump, far, near)


def start(body, *arguments):
    threading.Thread(target=body, args=arguments, daemon=True).start()


def ports():
    """The host's, from the kernel's command line."""
    with open("/proc/cmdline", encoding="ascii") as words:
        given = dict(word.split("=", 1) for word in words.read().split() if "=" in word)
    return int(given["adapter_port"]), int(given["receiver_port"])


def main():
    adapter_port, receiver_port = ports()
    start(forward, socket.create_server(RECEIVER), receiver_port)
    stream = connect(adapter_port)
    vhci = os.open("/dev/vhci", os.O_RDWR)
    os.write(vhci, bytes([VENDOR, PRIMARY]))
    start(carry_to_host, vhci, stream)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.sendto(b"READY=1", os.environ["NOTIFY_SOCKET"])
    carry_to_kernel(vhci, stream)


main()
