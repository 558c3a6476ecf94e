#!/usr/bin/env python3
"""A receiver of Spike's webhook notifications, version 2, as strict as the public specification.

It takes what has the documented form and a good signature, prints it, and refuses everything else with 400 (401 for the
signature). GET /state tells what it has, by the event_id; POST /answer with a status makes it answer that, and 0 ends it.
"""
import argparse
import datetime
import hashlib
import hmac
import http.server
import json
import re
import sys
import threading

ENVELOPE = {"event_id": str, "event_type": str, "timestamp": str, "user_id": (str, type(None)), "client_user_id": str,
            "source": str, "data_type": str, "data": list}
NUMBER = (int, float)
TIME_VALUE = {"time": str, "value": NUMBER}
SERIES = {"value": NUMBER, "timeseries": [{"timestamp": str, "value": NUMBER}]}
NOTHING = type(None)
TREND = ({"time": str, "value": NUMBER}, {
    "realtime_value": NUMBER, "smoothed_value": NUMBER, "status": str, "trend": str, "trend_rate": NUMBER,
    "source": (str, NOTHING)})
# docs.spikeapi.com, Metrics, API version 2: the members of an element of data, and those that may be left out, because not
# every device knows them.
TYPES = {
    "glucose": ({"date": str, "avg_value": NUMBER, "min_value": NUMBER, "max_value": NUMBER, "unit": "mg/dL",
                 "source": str, "timezone_offset": int, "intraday_data": [TREND]}, {"extra": (dict, NOTHING)}),
    "heart": ({"date": str, "timezone_offset": int, "min_hr": NUMBER, "avg_hr": NUMBER, "max_hr": NUMBER,
               "heart_rate_samples": [TIME_VALUE], "source": str}, {"resting_hr": NUMBER}),
    "oxygen_saturation": ({"date": str, "avg": NUMBER, "min": NUMBER, "max": NUMBER, "intraday_data": [TIME_VALUE],
                           "source": str}, {}),
    "body": ({"source": str, "timezone_offset": int, "body_data": ({}, {
        name: (SERIES, {}) for name in ("weight_kg", "height_cm", "BMI", "bodyfat_percentage", "bone_mass_g",
                                        "muscle_mass_g")})}, {"date": str}),
}
FORMATS = {"date": r"\d{4}-\d\d-\d\d", "time": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d",
           "timestamp": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ?"}


class Fault(Exception):
    pass


def check(value, form, path):
    """Compares a value with its form; raises Fault."""
    if isinstance(form, dict):
        form = (form, {})
    if isinstance(form, tuple) and form and isinstance(form[0], dict):
        needed, optional = form
        if not isinstance(value, dict):
            raise Fault(f"{path}: an object is expected")
        for name in needed.keys() - value.keys():
            raise Fault(f"{path}.{name} is missing")
        for name in value.keys() - needed.keys() - optional.keys():
            raise Fault(f"{path}.{name} is unknown")
        for name, inner in value.items():
            check(inner, needed.get(name, optional.get(name)), f"{path}.{name}")
            pattern = FORMATS.get(name)
            if pattern and not re.fullmatch(pattern, inner):
                raise Fault(f"{path}.{name} has another form")
            if pattern:
                datetime.datetime.fromisoformat(inner.removesuffix("Z"))
    elif isinstance(form, list):
        if not isinstance(value, list) or not value:
            raise Fault(f"{path}: a list with something in it is expected")
        for index, item in enumerate(value):
            check(item, form[0], f"{path}[{index}]")
    elif isinstance(form, str):
        if value != form:
            raise Fault(f"{path}: {form} is expected")
    elif isinstance(value, bool) or not isinstance(value, form):
        raise Fault(f"{path} is of the wrong type")


class Fake(http.server.BaseHTTPRequestHandler):
    lock = threading.Lock()
    secret = b""
    answer = 0
    kept: dict = {}
    faults: list = []

    def do_GET(self):
        with self.lock:
            self.reply(200 if self.path == "/state" else 404, {"events": self.kept, "faults": self.faults})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with self.lock:
            if self.path == "/answer":
                type(self).answer = int(body)
                return self.reply(200, {})
            if self.answer:
                return self.reply(self.answer, {"detail": "as you wish"})
            try:
                event = self.event(body)
            except (Fault, ValueError) as fault:
                self.faults.append(str(fault))
                status = 401 if str(fault).startswith("X-Spike") else 400
                return self.reply(status, {"detail": str(fault)})
            self.kept[event["event_id"]] = body.decode()
            print(body.decode(), flush=True)
            return self.reply(200, {})

    def event(self, body):
        if self.headers.get("Content-Type") != "application/json":
            raise Fault("Content-Type: application/json is expected")
        event = json.loads(body)
        check(event, (ENVELOPE, {}), "event")
        expected = hmac.new(self.secret, event["event_id"].encode(), hashlib.sha256).hexdigest()
        if not hmac.compare_digest(expected, self.headers.get("X-Spike-Signature", "")):
            raise Fault("X-Spike-Signature is wrong or missing")
        if event["data_type"] not in TYPES:
            raise Fault("event.data_type is unknown")
        check(event["data"], [TYPES[event["data_type"]]], "event.data")
        if self.kept.get(event["event_id"], body.decode()) != body.decode():
            raise Fault("event.event_id comes with another content")
        return event

    def reply(self, status, value):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--port", type=int, default=8097, help="0 is any; it is printed on standard error")
    options.add_argument("--secret", required=True, help="the file with the application's secret token")
    chosen = options.parse_args()
    with open(chosen.secret, "rb") as file:
        Fake.secret = file.read().rstrip(b"\r\n")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", chosen.port), Fake)
    print(f"listening on 127.0.0.1:{server.server_port}", file=sys.stderr, flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


main()
