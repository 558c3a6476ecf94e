"""What the kernel keeps of links that have ended. Debian's kernels 6.1.187 to 6.1.192 keep all that they knew of each link
on which a frame arrived.
"""

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
SIZES = ("kmalloc-512", "kmalloc-1k", "kmalloc-2k", "kmalloc-4k")
# Of which the first fill the kernel's caches.
WARM_UP = 2
# A good kernel keeps nothing; other parts of it move by so much all the same.
MOST_BYTES = 1_500


def run(lab):
    devices = [lab.add(f"thermometer-{number}", THERMOMETER) for number in range(DEVICES)]
    lab.gateway.start(*devices)
    for count in range(READINGS):
        if count == WARM_UP:
            before, links = allocated(), sum(len(device.links) for device in devices)
        for number, device in enumerate(devices):
            device.give(temperature(3500 + 10 * count + number, -2))
        for device in devices:
            lab.receiver.wait(device, count=count + 1, seconds=180)
            device.wait_link_ended(len(device.links))
    made = sum(len(device.links) for device in devices) - links
    each = (allocated() - before) / made
    if '"kernel_defect"' not in command(PROGRAM, "status", "--json", check=False):
        expect(each <= MOST_BYTES, f"the kernel keeps {each:.0f} bytes of each link")
    return f"{each:.0f} bytes of each of {made} links"


def allocated():
    """What the kernel has allocated of the sizes that connections and channels have, in bytes: from 512 B to 4 KiB."""
    with open("/proc/slabinfo", encoding="ascii") as file:
        rows = [line.split() for line in file]
    return sum(int(row[1]) * int(row[3]) for row in rows if row[0] in SIZES)
