"""The guest's clock and its real-time clock, as they are on a box without a battery or a network."""

import contextlib
import ctypes
import glob
import os
import time

# adjtimex(2), as a network time client uses it.
ADJ_MAXERROR, ADJ_STATUS, STA_PLL = 0x0004, 0x0010, 0x0001


class Timex(ctypes.Structure):
    """struct timex of linux/timex.h, on 64 bits."""
    _fields_ = [("modes", ctypes.c_uint), ("offset", ctypes.c_long), ("freq", ctypes.c_long),
                ("maxerror", ctypes.c_long), ("esterror", ctypes.c_long), ("status", ctypes.c_int),
                ("rest", ctypes.c_char * 160)]


def lead():
    """How far the wall clock is ahead of the time since the boot, in seconds: between two looks a busy host may stop us."""
    looks = []
    for _ in range(10):
        before = since_boot()
        looks.append((-before + wall(), since_boot() - before))
    return min(looks, key=lambda look: look[1])[0]


def wall():
    return time.clock_gettime(time.CLOCK_REALTIME)


def since_boot():
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def set_time(seconds):
    """Sets the wall clock, which the kernel takes as not synchronised then."""
    time.clock_settime(time.CLOCK_REALTIME, seconds)


def set_lead(right):
    """Sets the wall clock so far ahead of the time since the boot, in seconds."""
    while True:
        set_time(right + since_boot())
        if abs(lead() - right) < 1:
            return


def claim_synchronised():
    """Tells the kernel what a network time client tells it once it has the time: the error is small."""
    timex = Timex(modes=ADJ_MAXERROR | ADJ_STATUS, maxerror=1000, status=STA_PLL)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.adjtimex(ctypes.byref(timex)) < 0:
        raise OSError(ctypes.get_errno(), "adjtimex")


@contextlib.contextmanager
def disturbed():
    """Leaves the clock as right as it was."""
    right = lead()
    try:
        yield right
    finally:
        set_lead(right)


@contextlib.contextmanager
def without_real_time_clock():
    """Takes the real-time clocks from the kernel."""
    taken = []
    for path in glob.glob("/sys/class/rtc/*/device"):
        device = os.path.realpath(path)
        driver = os.path.realpath(f"{device}/driver")
        write(f"{driver}/unbind", os.path.basename(device))
        taken.append((driver, os.path.basename(device)))
    try:
        yield
    finally:
        for driver, device in taken:
            write(f"{driver}/bind", device)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
