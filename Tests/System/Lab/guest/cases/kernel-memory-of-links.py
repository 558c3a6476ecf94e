"""What the kernel keeps of links that have ended. Debian's kernels 6.1.187 to 6.1.192 keep all that they knew of each link
on which a frame arrived.
"""

import re

from labkit.commands import run as command
from labkit.kinds import THERMOMETER
from labkit.operator import PROGRAM
from labkit.payloads import temperature
from labkit.waiting import expect

ON_BAD_KERNEL = True
PROVE_ONLY = True
TITLE = "kernel memory per link"
LIMIT_S = 400
DEVICES, READINGS = 6, 8
# Of which the first fill the kernel's caches.
WARM_UP = 2
# A bad kernel keeps 2,560 bytes of each link. A good one uses places again, but not the last one first.
MOST_BYTES = 2_300
TRACING = "/sys/kernel/tracing"
# What the kernel has of a link: its connection, and that of L2CAP.
ALLOCATION = re.compile(r"kmalloc: call_site=\w*(?:hci|l2cap)_conn_add\S* \[bluetooth\] ptr=(\w+) .*bytes_alloc=(\d+)")


def run(lab):
    devices = [lab.add(f"thermometer-{number}", THERMOMETER) for number in range(DEVICES)]
    lab.gateway.start(*devices)
    trace_allocations()
    for count in range(READINGS):
        if count == WARM_UP:
            links = sum(len(device.links) for device in devices)
            write("trace", "")
        for number, device in enumerate(devices):
            device.give(temperature(3500 + 10 * count + number, -2))
        for device in devices:
            lab.receiver.wait(device, count=count + 1, seconds=180)
            device.wait_link_ended(len(device.links))
    made = sum(len(device.links) for device in devices) - links
    with open(f"{TRACING}/trace", encoding="utf-8") as file:
        found = ALLOCATION.findall(file.read())
    write("events/kmem/kmalloc/enable", "0")
    expect(len(found) >= 2 * made, f"{len(found)} allocations for {made} links")
    # A place that is not used again was not given back.
    each = sum({place: int(size) for place, size in found}.values()) / made
    if '"kernel_defect"' not in command(PROGRAM, "status", "--json", check=False):
        expect(each <= MOST_BYTES, f"the kernel keeps {each:.0f} bytes of each link")
    return f"{each:.0f} bytes of each of {made} links"


def trace_allocations():
    """Traces what the module bluetooth allocates (Documentation/trace/events-kmem.rst)."""
    with open("/proc/modules", encoding="ascii") as file:
        module = next(line.split() for line in file if line.startswith("bluetooth "))
    begin, size = int(module[5], 16), int(module[1])
    write("events/kmem/kmalloc/filter", f"call_site >= {begin} && call_site < {begin + size}")
    write("events/kmem/kmalloc/enable", "1")


def write(name, value):
    with open(f"{TRACING}/{name}", "w", encoding="ascii") as file:
        file.write(value)
