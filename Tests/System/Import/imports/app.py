"""Makes JSON as the app Health Auto Export writes it, by its public documents (docs/import.md), of any size."""

import json
from datetime import timedelta

from .export import FIRST


def date(seconds):
    return (FIRST + timedelta(seconds=seconds)).strftime("%Y-%m-%d %H:%M:%S %z")


def sample(number, seconds, **more):
    return {"qty": number, "date": date(seconds), "source": "Anna’s Watch", **more}


def metric(name, units, *samples):
    return {"name": name, "units": units, "data": list(samples)}


def metrics():
    """Of each form something; what becomes of it is `KINDS`, with one workout."""
    heart_rates = [{"Min": 55 + n, "Avg": 55 + n, "Max": 55 + n, "date": date(60 * n + 7), "source": "Watch"}
                   for n in range(50)]
    stages = [{"startDate": date(1800 * n), "endDate": date(1800 * n + 900), "qty": 0.25, "value": value,
               "source": "Watch"} for n, value in enumerate(["Core", "Deep", "REM", "Awake", "In Bed"])]
    return [
        metric("heart_rate", "count/min", *heart_rates),
        metric("step_count", "count", *(sample(10 + n, 600 * n + 3) for n in range(40))),
        metric("weight_body_mass", "kg", *(sample(70.25 + n, 86400 * n + 11) for n in range(20))),
        metric("blood_oxygen_saturation", "%", *(sample(90 + n, 3600 * n + 5) for n in range(10))),
        metric("blood_glucose", "mg/dL", *(sample(97, 3600 * n + 9, mealTime="Before Meal") for n in range(10))),
        metric("blood_pressure", "mmHg", *({"systolic": 120 + n, "diastolic": 80, "date": date(86400 * n + 1)}
                                           for n in range(10))),
        metric("protein", "g", *(sample(6, 60) for _ in range(4)), sample(7, 61)),
        metric("sleep_analysis", "hr", *stages),
        metric("handwashing", "count", sample(1, 5, value="Complete")),
    ]


WORKOUT = {"id": "7F0B8B1C-0D6E-4F0A-8B1E-000000000001", "name": "Outdoor Run", "start": date(0), "end": date(1890),
           "duration": 1890.5, "activeEnergyBurned": {"qty": 211.5, "units": "kcal"},
           "distance": {"qty": 5.1, "units": "km"}, "heartRateRecovery": None,
           "heartRateData": [{"date": date(5), "Min": 120, "Avg": 150.5, "Max": 175, "units": "count/min"}],
           "route": [{"latitude": 37.77, "longitude": -122.41, "timestamp": date(5)}] * 100}
KINDS = {"heart-rate": 50, "activity": 40, "weight": 20, "pulse-oximetry": 10, "glucose": 10, "blood-pressure": 10,
         "nutrition": 5, "sleep": 5, "workout": 1}


def document(measured=None, workouts=(WORKOUT,), **more):
    return {"data": {"metrics": metrics() if measured is None else measured, "workouts": list(workouts), **more}}


def write(path, content):
    """As the app's platform does: a slash has a backslash before it."""
    path.write_text(json.dumps(content, ensure_ascii=False).replace("/", "\\/"), encoding="utf-8")
    return path


def write_large(path, size):
    """A document of so many bytes, mostly of heart rates; returns how many of them, and of weights, it has."""
    heart_rates = weights = 0
    with path.open("w", encoding="utf-8") as file:
        file.write('{"data":{"metrics":[{"units":"count\\/min","data":[')
        while file.tell() < size * 0.98:
            parts = []
            for _ in range(1000):
                parts.append('{"Min":%d,"Avg":%d,"Max":%d,"date":"%s","source":"Watch"}' % (
                    *[60 + heart_rates % 90] * 3, date(5 * heart_rates + 1)))
                heart_rates += 1
            file.write(("," if heart_rates > 1000 else "") + ",".join(parts))
        file.write('],"name":"heart_rate"},{"units":"kg","name":"weight_body_mass","data":[')
        parts = []
        for weights in range(1, max(size // 5000, 1) + 1):
            parts.append('{"qty":7%d.%02d,"date":"%s"}' % (weights % 7, weights % 100, date(60 * weights + 1)))
        file.write(",".join(parts) + "]}]}}")
    return heart_rates, weights
