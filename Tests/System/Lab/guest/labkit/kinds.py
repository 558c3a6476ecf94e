"""The kinds of peripherals that cases put on the air: what they offer, how they behave, what the catalogue calls them.
"""

from dataclasses import dataclass, field

from .payloads import cgm_feature, cgm_run_time, cgm_status

INFORMATION = {"manufacturer": "Lab Instruments", "model": "L-1", "serial": "0001", "firmware": "1.2.3"}


@dataclass(frozen=True)
class Kind:
    """`form` names the class in emulation/ (peripherals.FORMS); `services` and `values` are its Peripheral's."""
    # The generic model's number in the catalogue.
    model: int
    form: str
    # Of its measurements.
    characteristic: str
    services: dict = field(default_factory=dict)
    values: dict = field(default_factory=dict)
    # What else its class is told.
    options: dict = field(default_factory=dict)

    @property
    def properties(self):
        if not self.services:
            return {"form": self.form}
        return {"form": self.form, "measurement": self.characteristic, "services": self.services,
                "values": self.values, **self.options}


CUFF = Kind(1001, "indicator", "2A35", {"1810": {"2A35": "indicate"}})
CLOCK_CUFF = Kind(1001, "indicator", "2A35", {"1810": {"2A35": "indicate"}, "1805": {"2A2B": "read write"}})
# Blood Pressure Service 1.1.1: what it has just measured in both forms, and a memory of them.
ENHANCED_CUFF = Kind(
    1001, "indicator", "2B34", {"1810": {"2A35": "indicate", "2B34": "indicate", "2A49": "read"}}, {"2A49": "0000"})
STORING_CUFF = Kind(
    1001, "recorder", "2B36",
    {"1810": {"2A35": "indicate", "2B34": "indicate", "2B36": "notify", "2A49": "read", "2A52": "indicate write"}},
    {"2A49": "0000"})
# As A&D's have it: beside the measurement.
DATE_TIME_CUFF = Kind(1001, "indicator", "2A35", {"1810": {"2A35": "indicate", "2A08": "read write"}})
# Makers' cuffs: one gives its readings over the link on which it was paired, the other waits until that has ended.
OMRON_CUFF = Kind(2001, "indicator", "2A35", {"1810": {"2A35": "indicate"}})
AND_CUFF = Kind(2040, "indicator", "2A35", {"1810": {"2A35": "indicate"}})
# Known by its name.
BEURER_CUFF = Kind(2020, "indicator", "2A35", {"1810": {"2A35": "indicate"}})
THERMOMETER = Kind(1002, "indicator", "2A1C", {"1809": {"2A1C": "indicate"}})
# Weights in steps of 5 g, with time stamp, users, BMI.
SCALE = Kind(
    1003, "indicator", "2A9D", {"181D": {"2A9D": "indicate", "2A9E": "read"}}, {"2A9E": "bf010000"})
# The same, and a body composition with all of its fields, in the same resolutions.
BODY_SCALE = Kind(
    1004, "indicator", "2A9D",
    {"181D": {"2A9D": "indicate", "2A9E": "read"}, "181B": {"2A9C": "indicate", "2A9B": "read"}},
    {"2A9E": "bf010000", "2A9B": "ffbf0100"})
OXIMETER = Kind(
    1005, "streamer", "2A5F", {"1822": {"2A5F": "notify", "2A5E": "indicate", "2A60": "read"}}, {"2A60": "0000"})
# Measures once; stores what it has measured.
SPOT_OXIMETER = Kind(
    1005, "indicator", "2A5E", {"1822": {"2A5E": "indicate", "2A60": "read"}}, {"2A60": "0000"})
STORING_OXIMETER = Kind(
    1005, "recorder", "2A5E", {"1822": {"2A5E": "indicate", "2A60": "read", "2A52": "indicate write"}},
    {"2A60": "0000"})
STRAP = Kind(1006, "streamer", "2A37", {"180D": {"2A37": "notify", "2A38": "read"}}, {"2A38": "01"})
GLUCOSE_METER = Kind(
    1000, "recorder", "2A18",
    {"1808": {"2A18": "notify", "2A34": "notify", "2A51": "read", "2A52": "indicate write"}}, {"2A51": "0000"})
CGM = Kind(
    1007, "recorder", "2AA7",
    {"181F": {"2AA7": "notify", "2AA8": "read", "2AA9": "read", "2AAA": "read write", "2AAB": "read",
              "2A52": "indicate write", "2AAC": "indicate write"}},
    {"2AA8": cgm_feature(), "2AA9": cgm_status(), "2AAB": cgm_run_time()})
HEALTH_SENSOR = Kind(
    1011, "indicator", "2B8B", {"1840": {"2B8B": "notify indicate", "2BF3": "read", "2BF4": "indicate write"}},
    {"2BF3": "0001b84b0200"})
# Stores its observations; records are asked for in a combined report.
STORING_HEALTH_SENSOR = Kind(
    1011, "recorder", "2BDD",
    {"1840": {"2BDD": "notify", "2BF3": "read", "2A52": "indicate write"}}, {"2BF3": "0001b84b0200"},
    {"combined": True})
# Devices that mean no good: emulation/intruders.py.
CROWD = Kind(1002, "crowd", "2A1C", {"1809": {"2A1C": "indicate"}})
INVENTOR = Kind(1002, "inventor", "2A1C", {"1809": {"2A1C": "indicate"}})
FLOODER = Kind(
    1000, "flooder", "2A18",
    {"1808": {"2A18": "notify", "2A34": "notify", "2A51": "read notify", "2A52": "indicate write"}}, {"2A51": "0000"})
BTHOME = Kind(1008, "broadcaster", "ADV")
MI_SCALE = Kind(1009, "broadcaster", "ADV")
MIBEACON = Kind(1010, "broadcaster", "ADV")
