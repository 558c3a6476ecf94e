"""1,000 adverts a second, of which few are of devices that are listed, beside TheengsGateway."""

import contextlib
import json
import os
import time

from benchmarks import figures
from benchmarks.programs import Program, memory_kib, processor_ns, restart_bluetoothd
from labkit.gateway import UNIT
from labkit.kinds import MI_SCALE
from labkit.waiting import wait_until

TITLE = "adverts beside TheengsGateway"
LIMIT_S = 900
RATE, DEVICES, SCALES = 1000, 200, 5
SETTLING_S, MEASURED_S, PART_S = 5, 60, 10
ADDRESSES = [f"C6:00:00:00:00:{number:02X}" for number in range(1, SCALES + 1)]
# A passive scan costs it less than an active one, and bluetoothd offers it as an experiment only.
OTHER = "TheengsGateway"
BLUETOOTHD_OPTIONS = ["--experimental"]


class Scale:
    """A listed one, as labkit's gateway knows peripherals."""

    kind = MI_SCALE

    def __init__(self, number):
        self.name, self.address = f"scale-{number}", ADDRESSES[number - 1]


def run(lab):
    # It would take part in what the adverts cost.
    lab.capture.process.terminate()
    lab.air.unplug(1)
    broker = Program("mosquitto", "/lab/debian/usr/sbin/mosquitto", "-p", "1883")
    subscriber = Program("subscriber", "/usr/bin/python3", "/lab/guest/benchmarks/subscriber.py")
    subscriber.wait_for("the broker is there", lambda line: True)
    measure("ours", [], subscriber, ours(lab))
    measure(OTHER, BLUETOOTHD_OPTIONS, subscriber, theengs())
    subscriber.stop()
    broker.stop()
    lab.air.plug()
    restart_bluetoothd()


@contextlib.contextmanager
def ours(lab):
    broker = {"name": "broker", "type": "mqtt", "url": "mqtt://127.0.0.1:1883",
              "batch": {"max_records": 100, "max_wait": "200ms"}}
    lab.gateway.start(*(Scale(number) for number in range(1, SCALES + 1)), sections={"destinations": [broker]})
    yield UNIT, lab.gateway.pid
    lab.gateway.stop()


@contextlib.contextmanager
def theengs():
    """It listens all the time and looks at listed devices alone: what it does by default costs more."""
    configuration = {"host": "127.0.0.1", "port": 1883, "scanning_mode": "passive", "whitelist": ADDRESSES,
                     "publish_all": 0, "discovery": 0, "ble_scan_time": 3600, "ble_time_between_scans": 0,
                     "log_level": "WARNING"}
    path = "/var/tmp/theengs.conf"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(configuration, file)
    program = Program("theengs-gateway", "/usr/bin/python3", "-m", "TheengsGateway", "--config", path)
    yield program.unit, program.pid
    program.stop()


def measure(name, options, subscriber, side):
    # A kernel that has no adapter left tells nobody of adverts.
    advertiser = Program(f"advertiser-of-{name}", "/lab/advertiser", str(RATE),
                         str(DEVICES), str(SCALES))
    wait_until("there is an adapter", 60, lambda: os.listdir("/sys/class/bluetooth"))
    restart_bluetoothd(*options)
    with side as (unit, pid):
        advertiser.wait_for("adverts come", lambda line: line["second"] >= SETTLING_S, 300)
        units = [unit, "bluetooth.service", "dbus.service"]
        published, sent, began = len(subscriber.lines()), advertiser.lines()[-1]["sent"], time.monotonic()
        before, in_kernel, guest = taken(units), processor_ns(unit, "system"), busy_s()
        # The guest must say something from time to time. Longer than was asked for, where the processor is at its end.
        for part in range(PART_S, MEASURED_S + 1, PART_S):
            advertiser.wait_for("adverts have come", lambda line: line["sent"] >= sent + RATE * part, 300)
            print(f"figure part {part} of {MEASURED_S}", flush=True)
        after, in_kernel, memory = taken(units), processor_ns(unit, "system") - in_kernel, memory_kib(pid)
        guest = busy_s() - guest
        seconds, sent = time.monotonic() - began, advertiser.lines()[-1]["sent"] - sent
        messages = [line["payload"] for line in subscriber.lines()[published:] if line["topic"]]
        print(f"figure example {messages[:2]}", flush=True)
        figures.note(f"adverts, {name}", seconds=seconds, adverts=sent, messages=len(messages),
                     of_scales=sum(any(address in message for address in ADDRESSES) for message in messages),
                     scales_sent=sent * SCALES // RATE,
                     cpu_ms={one: (after[one] - before[one]) / 1e6 for one in units}, in_kernel_ms=in_kernel / 1e6,
                     guest_ms=guest * 1000,
                     anonymous_kib=memory["Anonymous"], resident_kib=memory["Rss"], pss_kib=memory["Pss"])
    advertiser.stop()


def busy_s():
    """Seconds that the guest's one processor was not idle: what the kernel does in its own time is in it, the
    advertiser and what measures as well."""
    with open("/proc/uptime", encoding="utf-8") as file:
        up, idle = (float(word) for word in file.read().split())
    return up - idle


def taken(units):
    return {unit: processor_ns(unit) for unit in units}
