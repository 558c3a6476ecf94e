#!/usr/bin/python3
"""Validic's side, for trials: it takes what is public of its two APIs that records are posted to, and nothing else.

What Inform Connect takes is at /connect/provider/data/measurements, …/sleep, …/summaries and …/workouts, the record forms of the first API at /v1/organizations/ORGANIZATION/users/USER/FORM.json. GET /state tells what it has got. POST /control with a JSON object
changes how it answers:
  {"status": 503}           to records, until {"status": null}
  {"token": "another"}      is the person's access token from then on
"""
import json
import re
import sys
import uuid

sys.dont_write_bytecode = True
from fakes import Backend, Number, Refused, main, members, need  # noqa: E402

ORGANIZATION, USER = "fake-organization", "fake-user"
# Of Inform Connect, with the type of what is posted there.
INFORM = {"/connect/provider/data/measurements": "measurement", "/connect/provider/data/sleep": "sleep",
          "/connect/provider/data/summaries": "summary", "/connect/provider/data/workouts": "workout"}
MEASUREMENT = [
    "log_id", "start_time", "end_time", "utc_offset", "offset_origin", "metrics", "source", "type", "version",
]
SLEEP_UNITS = {
    "rem_sleep": {"s"}, "awake_duration": {"s"}, "light_sleep": {"s"}, "deep_sleep": {"s"}, "sleep_duration": {"s"},
    "time_to_fall_asleep": {"s"}, "awake_count": {"count"},
}
SUMMARY_UNITS = {
    "active_duration": {"s"}, "active_energy_burned": {"kcal"}, "basal_energy_burned": {"kcal"}, "distance": {"m"},
}
WORKOUT_UNITS = {
    "active_duration": {"s"}, "steps": {"count"}, "energy_burned": {"kcal"}, "avg_heart_rate": {"bpm"},
    "heart_rate_zone_high": {"s"}, "active_energy_burned": {"kcal"}, "distance": {"m"},
}
CATEGORIES = {"biking", "cardio", "running", "strength", "swimming", "walking", "other"}
UNITS = {
    "systolic": {"mmHg"}, "diastolic": {"mmHg"}, "pulse": {"bpm"}, "resting_heart_rate": {"bpm"}, "body_weight": {"kg"},
    "bmi": {"kg/m2"}, "blood_glucose": {"mg/dL", "mmol/L"}, "spo2": {"percent"}, "body_temperature": {"C"},
}
FORMS = {
    "biometrics": {
        "blood_calcium", "blood_chromium", "blood_folic_acid", "blood_magnesium", "blood_potassium", "blood_sodium",
        "blood_vitamin_b12", "blood_zinc", "creatine_kinase", "crp", "diastolic", "ferritin", "hdl", "hscrp", "il6",
        "ldl", "resting_heartrate", "systolic", "testosterone", "total_cholesterol", "tsh", "uric_acid", "vitamin_d",
        "white_cell_count", "spo2", "temperature",
    },
    "diabetes": {
        "c_peptide", "fasting_plasma_glucose_test", "hba1c", "insulin", "oral_glucose_tolerance_test",
        "random_plasma_glucose_test", "triglyceride", "blood_glucose",
    },
    "weight": {"weight", "height", "free_mass", "fat_percent", "mass_weight", "bmi"},
    "fitness": {"type", "intensity", "start_time", "distance", "duration", "calories"},
    "nutrition": {"calories", "carbohydrates", "fat", "fiber", "protein", "sodium", "water", "meal"},
    "sleep": {"awake", "deep", "light", "rem", "times_woken", "total_sleep"},
}
TEXTS = {"type", "intensity", "start_time", "meal"}
MESSAGES = {
    400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 406: "Not Acceptable", 409: "Conflict",
    422: "Unprocessable Entity",
}


def text_of(value, name, pattern=".+"):
    need(isinstance(value.get(name), str) and re.fullmatch(pattern, value[name]), name)
    return value[name]


class Validic(Backend):
    fault_statuses = (400, 406, 422)

    def __init__(self, token):
        super().__init__()
        self.token = token
        self.status = None
        self.records = {}

    def state(self):
        return {"records": self.records}

    def refusal(self, refused):
        answer = {"code": refused.status, "message": MESSAGES.get(refused.status, "")}
        return answer | ({} if refused.status == 401 else {"errors": str(refused)})

    def control(self, change):
        members(change, [], ["status", "token"])
        self.status = change.get("status", self.status)
        self.token = change.get("token", self.token)

    def post(self, path, headers, body):
        need(self.status is None, "as told", self.status)
        need(headers.get("content-type") == "application/json", "Content-Type")
        value = json.loads(body, parse_float=Number, parse_int=Number)
        if path in INFORM:
            need(headers.get("authorization") == f"Bearer {self.token}", "the token is none", 401)
            self.measure(value, INFORM[path])
            return 201, {}
        parts = path.removesuffix(".json").strip("/").split("/")
        if len(parts) != 6 or parts[:2] + parts[3:4] != ["v1", "organizations", "users"] or parts[5] not in FORMS:
            raise Refused("no such path", 404)
        need(headers.get("accept") == "application/json", "Accept")
        members(value, ["access_token", parts[5]])
        need(value["access_token"] == self.token, "the token is none", 401)
        need(parts[2] == ORGANIZATION, "Bad request", 403)
        need(parts[4] == USER, "No user found", 404)
        return 201, {"code": 201, "message": "Ok", parts[5]: self.record(parts[5], value[parts[5]])}

    def measure(self, value, kind):
        try:
            members(value, MEASUREMENT + (["name", "category"] if kind == "workout" else []), ["user_notes"])
            if kind == "workout":
                need(text_of(value, "name") and value["category"] in CATEGORIES, "category")
            text_of(value, "start_time", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
            text_of(value, "end_time", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
            need(value["end_time"] == value["start_time"] if kind == "measurement"
                 else value["end_time"] >= value["start_time"], "end_time")
            need(isinstance(value["utc_offset"], Number) and abs(int(value["utc_offset"].text)) <= 50400, "utc_offset")
            need(value["offset_origin"] in ("source", "profile", "user_defined"), "offset_origin")
            need((value["type"], value["version"]) == (kind, "1.0"), "type, version")
            members(value["source"], ["type", "device"])
            for name, part in members(value["source"]["device"], ["id", "model", "manufacturer"]).items():
                need(part is None or isinstance(part, str), f"source.device.{name}")
            need(value["metrics"], "metrics")
            found = {"start_time": value["start_time"]}
            for metric in value["metrics"]:
                members(metric, ["type", "origin", "unit", "value"])
                units = {"sleep": SLEEP_UNITS, "summary": SUMMARY_UNITS, "workout": WORKOUT_UNITS}.get(kind, UNITS)
                need(metric["unit"] in units.get(metric["type"], ()), f"unit of {metric['type']}")
                need(metric["origin"] in ("device", "manual", "unknown"), "origin")
                need(isinstance(metric["value"], Number), "value")
                found[metric["type"]] = f"{metric['value'].text} {metric['unit']}"
            for note in value.get("user_notes", []):
                members(note, ["type", "value"])
                need(note["type"] in ("message", "relationship_to_meal"), "user_notes")
        except Refused as refused:
            raise Refused(str(refused), 400) from refused
        place = {"sleep": "sleep", "summary": "summaries", "workout": "workouts"}.get(kind, "measurements")
        self.records[f"{place}/{text_of(value, 'log_id')}"] = found

    def record(self, form, value):
        members(value, ["activity_id", "timestamp", "utc_offset"], FORMS[form] | {"extras"})
        need(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", str(value["timestamp"])), "Invalid date", 406)
        text_of(value, "utc_offset", r"[+-]\d\d:\d\d")
        need(set(value) & (FORMS[form] | {"extras"}), "nothing is measured")
        need(isinstance(value.get("extras", {}), dict), "extras")
        found = {"timestamp": value["timestamp"], "utc_offset": value["utc_offset"], **value.get("extras", {})}
        for name in filter(FORMS[form].__contains__, value):
            need(isinstance(value[name], str if name in TEXTS else Number), f"type of {name}")
            found[name] = value[name] if name in TEXTS else value[name].text
        name = f"{form}/{text_of(value, 'activity_id')}"
        # Which status it is that a second one gets is not public.
        need(name not in self.records, "activity_id must be unique", 409)
        self.records[name] = found
        return {"_id": uuid.uuid4().hex[:24], "activity_id": value["activity_id"], "validated": False}


if __name__ == "__main__":
    main(Validic, __doc__, 8091, "token", "the person's access token", "fake-token")
