#!/usr/bin/python3
"""A receiver of Spike's webhook notifications, version 2, as strict as the public specification.

It takes what has the documented form and a good signature, prints it, and refuses everything else with 400 (401 for the
signature). GET /state tells what it has got, by the event_id. POST /control with a JSON object changes how it answers:
  {"status": 503}           to notifications, until {"status": null}
"""
import datetime
import hashlib
import hmac
import json
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from fakes import Backend, Refused, main, members, need  # noqa: E402

ENVELOPE = {"event_id": str, "event_type": str, "timestamp": str, "user_id": (str, type(None)), "client_user_id": str,
            "source": str, "data_type": str, "data": list}
NUMBER = (int, float)
TIME_VALUE = {"time": str, "value": NUMBER}
SERIES = {"value": NUMBER, "timeseries": [{"timestamp": str, "value": NUMBER}]}
NOTHING = type(None)
TREND = ({"time": str, "value": NUMBER}, {
    "realtime_value": NUMBER, "smoothed_value": NUMBER, "status": str, "trend": str, "trend_rate": NUMBER,
    "source": (str, NOTHING)})


class Either:
    """One of these forms."""

    def __init__(self, *forms):
        self.forms = forms


# docs.spikeapi.com, Metrics, API version 2 (activities_stream also version 1): the members of an element of data, and those
# that may be left out, because not every device knows them. In the models of spike_flutter_sdk (pub.dev) each may be absent.
DAY = {"date": str, "source": str}
ZONED_DAY = DAY | {"timezone_offset": int}
PERIOD = {"bedtime_start": str, "bedtime_end": str, "bedtime_duration": int}
TYPES = {
    "glucose": (ZONED_DAY | {"avg_value": NUMBER, "min_value": NUMBER, "max_value": NUMBER, "unit": "mg/dL",
                             "intraday_data": [TREND]}, {"extra": (dict, NOTHING)}),
    "heart": Either(
        (ZONED_DAY | {"min_hr": NUMBER, "avg_hr": NUMBER, "max_hr": NUMBER, "heart_rate_samples": [TIME_VALUE]},
         {"resting_hr": NUMBER}),
        (ZONED_DAY | {"resting_hr": NUMBER}, {})),
    "oxygen_saturation": (DAY | {"avg": NUMBER, "min": NUMBER, "max": NUMBER, "intraday_data": [TIME_VALUE]}, {}),
    "breathing": (DAY | {"avg_value": NUMBER, "intraday_data": [TIME_VALUE]}, {}),
    "sleep": (ZONED_DAY | {"levels": [{
        "date_time": str, "level": {"awake", "light", "deep", "rem", "inBed", "asleepUnspecified"}, "seconds": int}]},
        PERIOD | {name: int for name in ("total_sleep", "awake", "light", "rem", "deep")}),
    "activities_stream": ({"time_start": str, "time_end": str, "timezone_offset": int, "activity_name": str,
                           "source": str}, {"calories": NUMBER, "moving_time": NUMBER, "distance": NUMBER,
                                            "steps": NUMBER}),
    "body": ({"source": str, "timezone_offset": int, "body_data": ({}, {
        name: (SERIES, {}) for name in ("weight_kg", "height_cm", "BMI", "bodyfat_percentage", "bone_mass_g",
                                        "muscle_mass_g")})}, {"date": str}),
}
MOMENT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"
FORMATS = {"date": r"\d{4}-\d\d-\d\d", "timestamp": MOMENT + "Z?"} | dict.fromkeys(
    ("time", "date_time", "time_start", "time_end", "bedtime_start", "bedtime_end"), MOMENT)


def check_times(item, path):
    """What the page of sleep says of the times of its members."""
    if "bedtime_start" in item:
        start, end = (datetime.datetime.fromisoformat(item[f"bedtime_{name}"]) for name in ("start", "end"))
        need((end - start).total_seconds() == item.get("bedtime_duration"),
             f"{path}.bedtime_duration is another one than from bedtime_start to bedtime_end", 400)
        need(item["date"] == end.date().isoformat(), f"{path}.date is not when the sleep period ended", 400)
    if "time_start" in item:
        need(item["time_start"] <= item["time_end"], f"{path}.time_end is before time_start", 400)


def check(value, form, path):
    """Compares a value with its form; raises Refused."""
    if isinstance(form, Either):
        refusals = []
        for one in form.forms:
            try:
                return check(value, one, path)
            except Refused as refused:
                refusals.append(str(refused))
        raise Refused("; or ".join(refusals), 400)
    if isinstance(form, dict):
        form = (form, {})
    if isinstance(form, tuple) and form and isinstance(form[0], dict):
        needed, optional = form
        if not isinstance(value, dict):
            raise Refused(f"{path}: an object is expected", 400)
        for name in needed.keys() - value.keys():
            raise Refused(f"{path}.{name} is missing", 400)
        for name in value.keys() - needed.keys() - optional.keys():
            raise Refused(f"{path}.{name} is unknown", 400)
        for name, inner in value.items():
            check(inner, needed.get(name, optional.get(name)), f"{path}.{name}")
            pattern = FORMATS.get(name)
            if pattern and not re.fullmatch(pattern, inner):
                raise Refused(f"{path}.{name} has another form", 400)
            if pattern:
                datetime.datetime.fromisoformat(inner.removesuffix("Z"))
    elif isinstance(form, list):
        if not isinstance(value, list) or not value:
            raise Refused(f"{path}: a list with something in it is expected", 400)
        for index, item in enumerate(value):
            check(item, form[0], f"{path}[{index}]")
    elif isinstance(form, set):
        if value not in form:
            raise Refused(f"{path}: one of {sorted(form)} is expected", 400)
    elif isinstance(form, str):
        if value != form:
            raise Refused(f"{path}: {form} is expected", 400)
    elif isinstance(value, bool) or not isinstance(value, form):
        raise Refused(f"{path} is of the wrong type", 400)


class Spike(Backend):
    fault_statuses = (400, 401)

    def __init__(self, secret):
        """`secret`: the file with the application's secret token."""
        super().__init__()
        self.secret = Path(secret).read_bytes().rstrip(b"\r\n")
        self.status = None
        self.kept = {}

    def state(self):
        return {"events": self.kept}

    def refusal(self, refused):
        return {"detail": str(refused)}

    def control(self, change):
        self.status = members(change, ["status"])["status"]

    def post(self, path, headers, body):
        need(self.status is None, "as told", self.status)
        try:
            event = self.event(headers, body)
        except ValueError as error:
            raise Refused(str(error), 400) from error
        self.kept[event["event_id"]] = body.decode()
        print(body.decode(), flush=True)
        return 200, {}

    def event(self, headers, body):
        need(headers.get("content-type") == "application/json", "Content-Type: application/json is expected", 400)
        event = json.loads(body)
        check(event, (ENVELOPE, {}), "event")
        expected = hmac.new(self.secret, event["event_id"].encode(), hashlib.sha256).hexdigest()
        signature = headers.get("x-spike-signature", "")
        need(hmac.compare_digest(expected, signature), "X-Spike-Signature is wrong or missing", 401)
        need(event["data_type"] in TYPES, "event.data_type is unknown", 400)
        check(event["data"], [TYPES[event["data_type"]]], "event.data")
        for index, item in enumerate(event["data"]):
            check_times(item, f"event.data[{index}]")
        earlier = self.kept.get(event["event_id"], body.decode())
        need(earlier == body.decode(), "event.event_id comes with another content", 400)
        return event


if __name__ == "__main__":
    main(Spike, __doc__, 8097, "secret", "the file with the application's secret token")
