"""A real Home Assistant discovers the sensors, shows what was measured, and loses them with their device."""

import json
import subprocess
import sys
import threading
from pathlib import Path

from kit.gateway import THERMOMETER, Failure, Gateway, expect_equal, wait_until
from kit.ports import free_ports

from .restarts import CUFF, Broker

PROGRAM = Path(__file__).parent / "home_assistant.py"
# The names of what Home Assistant shows of each kind, its unit, and its class of sensors.
SHOWN = {("body-temperature", "body-temperature"): ("Body temperature", "°C", "temperature"),
         ("blood-pressure", "systolic"): ("Systolic", "mmHg", "pressure"),
         ("blood-pressure", "diastolic"): ("Diastolic", "mmHg", "pressure"),
         ("blood-pressure", "mean-arterial-pressure"): ("Mean arterial pressure", "mmHg", "pressure"),
         ("blood-pressure", "pulse-rate"): ("Pulse rate", "bpm", None)}


class HomeAssistant:
    def __init__(self, world, name, port):
        self.sensors = None
        self.log = (world.directory / f"{name}.log").open("wb")
        self.process = subprocess.Popen([sys.executable, PROGRAM, world.directory / name, str(port),
                                         str(free_ports(1)[0])],
                                        stdout=subprocess.PIPE, stderr=self.log, stdin=subprocess.DEVNULL, text=True)
        threading.Thread(target=self.read, daemon=True).start()
        self.wait_until(lambda: self.sensors is not None, f"{name} starts", 120)

    def read(self):
        for line in self.process.stdout:
            self.sensors = json.loads(line)

    def wait_until(self, condition, what, seconds=60):
        """What it showed last is of now only as long as it runs."""
        def holds():
            if self.process.poll() is not None:
                raise Failure(f"Home Assistant ended: {Path(self.log.name).read_text()[-500:]}")
            return condition()
        wait_until(holds, what, seconds)

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=20)


def of(address, kind, measured):
    return f"ingestd__delivery-box__{address.replace(':', '')}__{kind}__{measured}"


def last_values(broker):
    """Of each sensor the value that came last, by its unique id."""
    found = {}
    for _, _, payload in broker.watcher.of("ingestd/"):
        record = json.loads(payload)
        if record["stage"] == "live":
            for value in record["measurements"]:
                found[of(record["device"]["address"], record["kind"], value["type"])] = value.get("value")
    return found


def shows(home, values):
    states = {name: (home.sensors.get(name) or {"state": "unavailable"})["state"] for name in values}
    return all(state == "unknown" if values[name] is None else state.replace(".", "", 1).isdigit()
               and float(state) == values[name] for name, state in states.items())


def expect_named(home, values):
    for name in values:
        shown = home.sensors[name]
        kind, measured = name.split("__")[3:]
        label, unit, kind_of_sensor = SHOWN[kind, measured]
        expect_equal((shown["unit"], shown["class"]), (unit, kind_of_sensor), f"unit and class of {name}")
        if not shown["name"].endswith(label):
            raise Failure(f"{name} is called {shown['name']!r}")


def discovers(world, name="home-assistant", **keys):
    """It finds the sensors, also when it starts later; they go with their device, and the gateway's end shows."""
    broker = Broker(world.directory, name, home_assistant=True, status_topic="status/{gateway}", **keys)
    cuff = {**CUFF, "alias": "kitchen cuff"}
    first = HomeAssistant(world, f"{name}-first", broker.port)
    gateway = Gateway(world.directory, f"{name}-gateway", broker.destinations, peripherals=[THERMOMETER, cuff])
    later = None
    try:
        gateway.wait("broker", "submitted", count=6)
        wait_until(lambda: len(set(broker.watcher.ids("ingestd/"))) == 6, "the watcher has everything")
        values = last_values(broker)
        if len(values) < 4:
            raise Failure(f"only {sorted(values)} were measured")

        # It may still show the measurement before.
        first.wait_until(lambda: shows(first, values), "Home Assistant shows what was measured last")
        expect_named(first, values)
        expect_equal(first.sensors.keys(), values.keys(), "its sensors")
        systolic = first.sensors[of(cuff["address"], "blood-pressure", "systolic")]
        expect_equal((systolic["device"], systolic["connections"]),
                     ("kitchen cuff", [["bluetooth", cuff["address"]]]), "the device")
        later = HomeAssistant(world, f"{name}-later", broker.port)
        later.wait_until(lambda: later.sensors.keys() == values.keys(), "one that starts later finds the sensors")
        gateway.file.write_text(without_cuff(gateway))
        gateway.reload()
        left = {key for key in values if "body-temperature" in key}
        for home in (first, later):
            home.wait_until(lambda home=home: home.sensors.keys() == left, "the cuff's sensors go with it")
        expect_equal(gateway.stop(), 0, "the exit status")
        first.wait_until(lambda: {sensor["state"] for sensor in first.sensors.values()} == {"unavailable"},
                         "sensors are unavailable without the gateway")
    finally:
        gateway.kill()
        for home in (first, later):
            if home:
                home.stop()
        broker.stop()


def without_cuff(gateway):
    configuration = json.loads(gateway.file.read_text())
    configuration["peripherals"] = [THERMOMETER]
    return json.dumps(configuration)


def discovers_3(world):
    """The same by MQTT 3.1.1."""
    discovers(world, "home-assistant-3.1.1", protocol="3.1.1")


CASES = {"home-assistant": discovers, "home-assistant-3.1.1": discovers_3}
