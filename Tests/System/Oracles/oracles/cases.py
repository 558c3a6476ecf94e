"""All cases, and the faults that are mended before them."""

from .broadcasts import bthome, xiaomi
from .sig import (battery, blood_pressure, common, continuous_glucose, glucose, heart_rate, oximeter, scales,
                  thermometer, times)

ALL = [*blood_pressure.CASES, *glucose.CASES, *continuous_glucose.CASES, *thermometer.CASES, *scales.CASES,
       *oximeter.CASES, *heart_rate.CASES, *battery.CASES, *times.CASES, *bthome.CASES, *xiaomi.CASES]
MENDS = common.MENDS
