"""The clock of a device: Current Time (2A2B) and Date Time (2A08) as they are read and set."""

import datetime
import struct
import zoneinfo

from bumble.att import ATT_Error

# Where the devices stand.
TIME_ZONE = zoneinfo.ZoneInfo("Europe/London")
# What follows the date and time: the day of the week, 1/256 s, and why it was adjusted.
EXTRA_OCTETS = {"2A2B": 3, "2A08": 0}
VALUE_NOT_ALLOWED = 0x13


class Clock:
    """Its time is ahead of the guest's by `ahead`, until it is set."""

    def __init__(self, ahead_s):
        self.ahead = datetime.timedelta(seconds=ahead_s)

    def read(self, uuid):
        return encoded(self.now) + bytes(EXTRA_OCTETS[uuid])

    def write(self, uuid, value):
        if len(value) != 7 + EXTRA_OCTETS[uuid]:
            raise ATT_Error(VALUE_NOT_ALLOWED)
        year, *rest = struct.unpack("<HBBBBB", value[:7])
        self.ahead += datetime.datetime(year, *rest, tzinfo=TIME_ZONE) - self.now

    @property
    def now(self):
        return datetime.datetime.now(TIME_ZONE) + self.ahead


def encoded(time):
    return struct.pack("<HBBBBB", time.year, time.month, time.day, time.hour, time.minute, time.second)
