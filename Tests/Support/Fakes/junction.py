#!/usr/bin/python3
"""Junction's side, for trials: it takes what Junction's API reference and its SDKs have, and nothing else.

GET /state tells what it has got. POST /control with a JSON object changes how it answers:
  {"status": 503}            to data, until {"status": null}
  {"end_access": true}       no access token is good any more
  {"end_user": true}         the user is gone: a refresh is answered with invalid_token
  {"reauthenticate": true}   a refresh is answered with reauthentication_required, until false
  {"disconnect": true}       no source is connected any more
"""
import base64
import gzip
import json
import re
import sys
import time
import urllib.parse
import uuid

sys.dont_write_bytecode = True
from fakes import Backend, Number, Refused, main, members, need  # noqa: E402

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
SLUGS = {"omron_ble", "beurer_ble", "accuchek_ble", "contour_ble", "onetouch_ble", "freestyle_libre_ble", "manual",
         "apple_health_kit"}
SOURCES = {
    "unknown", "phone", "watch", "app", "ring", "chest_strap", "multiple_sources", "automatic", "manual_scan", "cuff",
    "fingerprick", "insulin_pump", "scale", "lab", "exercise_machine", "earphone",
}
UNITS = {
    "glucose": "mmol/L", "heartrate": "bpm", "blood_oxygen": "%", "temperature": "\u00b0C", "systolic": "mmHg",
    "diastolic": "mmHg", "pulse": "bpm", "body_mass": "kg", "body_fat_percentage": "%", "body_mass_index": "index",
    "lean_body_mass": "kg", "waist_circumference": "centimeter", "basal_body_temperature": "\u00b0C",
    "respiratory_rate": "bpm", "steps": "count", "floors_climbed": "count", "wheelchair_push": "count",
    "stand_hour": "count", "distance": "meter", "calories_active": "kcal", "calories_basal": "kcal",
    "vo2_max": "mL/kg/min", "heartrate_variability": "rmssd", "mindfulness_minutes": "minute", "water": "mL",
}
# vital-ios, TimeSeriesData.name.
SERIES = {
    "glucose", "heartrate", "blood_oxygen", "temperature", "basal_body_temperature", "respiratory_rate", "steps",
    "floors_climbed", "wheelchair_push", "stand_hour", "distance", "calories_active", "calories_basal", "vo2_max",
    "heartrate_variability", "mindfulness_minutes", "water",
}
# vital-ios, HealthKitNutritionRawData and its units in CoreModels+Extensions.
MEAL = {
    "energy_total": "kcal", "cholesterol": "mg",
    **dict.fromkeys(["carbohydrates", "fiber", "sugar", "fat_total", "fat_monounsaturated", "fat_polyunsaturated",
                     "fat_saturated", "protein"], "gram"),
    **dict.fromkeys(["calcium", "chloride", "iron", "magnesium", "phosphorus", "potassium", "sodium", "zinc"], "mg"),
}
STAGES = {"in_bed": "0", "unspecified": "1", "awake": "2", "light": "3", "deep": "4", "rem": "5", "unknown": None}
SUMMARIES = {"activity", "body", "meal", "menstrual_cycle", "profile", "sleep", "workouts"}
# vital-ios, ActivityPatch: a day's sums, beside lists of samples that its current version leaves empty.
DAY = ["active_energy_burned_sum", "basal_energy_burned_sum", "steps_sum", "floors_climbed_sum",
       "distance_walking_running_sum", "vo2_max", "low", "medium", "high", "max_heart_rate", "min_heart_rate",
       "avg_heart_rate", "resting_heart_rate", "exercise_time", "distance_wheelchair", "wheelchair_use",
       "wheelchair_push"]
DAY_LISTS = ["active_energy_burned", "basal_energy_burned", "steps", "floors_climbed", "distance_walking_running",
             "vo2_max"]
# vital-ios, MenstrualCycle: the members of an entry of each list beside its date, and the words that a member may have.
CYCLE = {
    "menstrual_flow": {"flow": {"unspecified", "none", "light", "medium", "heavy"}},
    "cervical_mucus": {"quality": {"dry", "sticky", "creamy", "watery", "egg_white"}},
    "intermenstrual_bleeding": {},
    "contraceptive": {"type": {"unspecified", "implant", "injection", "iud", "intravaginal_ring", "oral", "patch"}},
    "detected_deviations": {"deviation": {
        "persistent_intermenstrual_bleeding", "prolonged_menstrual_periods", "irregular_menstrual_cycles",
        "infrequent_menstrual_cycles"}},
    "ovulation_test": {"test_result": {
        "negative", "positive", "luteinizing_hormone_surge", "estrogen_surge", "indeterminate"}},
    "home_pregnancy_test": {"test_result": {"negative", "positive", "indeterminate"}},
    "home_progesterone_test": {"test_result": {"negative", "positive", "indeterminate"}},
    "sexual_activity": {"protection_used": {True, False, None}},
    "basal_body_temperature": {"value": None},
}
BODY = ["body_mass", "body_fat_percentage", "body_mass_index", "waist_circumference", "lean_body_mass"]


def calendar_date(value):
    need(isinstance(value, str) and DATE.fullmatch(value), f"no date: {value}")
    return value


def moment(value):
    need(isinstance(value, str) and MOMENT.fullmatch(value), f"no moment in UTC and whole seconds: {value}")
    return value


class Junction(Backend):
    def __init__(self, key):
        super().__init__()
        self.key = key
        self.users, self.sign_in, self.access, self.refresh = {}, {}, {}, {}
        self.connected, self.samples = set(), {}
        self.status = None
        # How long an exchange of a sign-in token takes, in seconds.
        self.delay = 0
        self.reauthenticate = False
        self.issued = 0

    def state(self):
        return {
            "users": self.users, "connected": sorted("/".join(pair) for pair in self.connected),
            "samples": self.samples, "sessions": len(self.access),
        }

    def refusal(self, refused):
        return {"detail": refused.answer or str(refused)}

    def control(self, change):
        members(change, [], ["status", "delay", "end_access", "end_user", "reauthenticate", "disconnect"])
        self.delay = change.get("delay", self.delay)
        self.status = change.get("status", self.status)
        self.reauthenticate = change.get("reauthenticate", self.reauthenticate)
        if change.get("end_access") or change.get("end_user"):
            self.access = {}
        if change.get("end_user"):
            self.refresh = {}
        if change.get("disconnect"):
            self.connected = set()

    def caller(self, headers):
        """Whose requests these are: nobody's in particular with the key."""
        if "x-vital-api-key" in headers:
            need(headers["x-vital-api-key"] == self.key, "the API key is none", 401)
            return None
        scheme, _, token = headers.get("authorization", "").partition(" ")
        need(scheme == "Bearer" and token in self.access, "the access token is none", 401)
        return self.access[token]

    def check_user(self, caller, user):
        need(user in self.users.values(), f"no user {user}", 404)
        need(caller in (None, user), "another user's", 403)

    def post(self, path, headers, body):
        return 200, self.answer(path, headers, body)

    def answer(self, path, headers, body):
        parts = path.strip("/").split("/")
        if parts[:2] == ["v2", "user"] and parts[3:] == ["sign_in_token"]:
            # The customer's backend asks for it, and not the gateway.
            need(self.caller(headers) is None, "wants the API key", 401)
            return self.sign_in_token(parts[2])
        need(headers.get("accept") == "application/json", "Accept")
        if path == "/auth/v1/token":
            return self.tokens(headers, body)
        caller = self.caller(headers)
        need(headers.get("content-type") == "application/json", "Content-Type")
        if parts == ["v2", "user"]:
            need(caller is None, "wants the API key", 401)
            return self.make_user(json.loads(body))
        if parts[:4] == ["v2", "link", "provider", "manual"] and len(parts) == 5:
            user = members(json.loads(body), ["user_id"], ["provider_id", "granted_permissions"])["user_id"]
            self.check_user(caller, user)
            need(parts[4] in SLUGS, f"no provider {parts[4]}")
            need((user, parts[4]) not in self.connected, "is connected", 409)
            self.connected.add((user, parts[4]))
            return {"success": True}
        if parts[:2] == ["v2", "timeseries"] and len(parts) == 4:
            user, resource = parts[2], parts[3]
        elif parts[:2] == ["v2", "summary"] and len(parts) == 4 and parts[2] in SUMMARIES:
            user, resource = parts[3], parts[2]
        else:
            raise Refused("no such path", 404)
        self.check_user(caller, user)
        need(self.status is None, "as told", self.status or 0)
        need(headers.get("content-encoding") == "gzip", "Content-Encoding")
        # Numbers as they were sent.
        text = json.loads(gzip.decompress(body), parse_float=Number, parse_int=Number)
        self.take(user, resource, text)
        return {"success": True}

    def make_user(self, body):
        name = members(
            body, ["client_user_id"],
            ["fallback_time_zone", "fallback_birth_date", "ingestion_start", "ingestion_end"])["client_user_id"]
        need(isinstance(name, str) and name, "client_user_id")
        if name in self.users:
            raise Refused("exists", 400, {
                "error_type": "INVALID_REQUEST", "error_message": "Client user id already exists.",
                "user_id": self.users[name], "created_on": "2026-11-22T00:00:00+00:00"})
        self.users[name] = str(uuid.uuid4())
        return {
            "user_id": self.users[name], "team_id": str(uuid.UUID(int=1)), "client_user_id": name,
            "created_on": "2026-11-22T00:00:00+00:00", "connected_sources": [], "fallback_time_zone": None}

    def sign_in_token(self, user):
        need(user in self.users.values(), f"no user {user}", 404)
        self.issued += 1
        claims = {
            "iss": "id-signer-sandbox-us@vital-id-sandbox-us.iam.gserviceaccount.com", "uid": user, "tenant_id": "t",
            "claims": {"vital_team_id": "team"}, "jti": self.issued}
        jwt = ".".join(
            base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
            for part in ({"alg": "RS256", "typ": "JWT"}, claims)) + ".c2lnbmF0dXJl"
        self.sign_in[jwt] = user
        token = base64.b64encode(json.dumps({"public_key": "none", "user_token": jwt}).encode()).decode()
        return {"user_id": user, "sign_in_token": token}

    def tokens(self, headers, body):
        need(headers.get("content-type") == "application/x-www-form-urlencoded", "Content-Type")
        form = dict(urllib.parse.parse_qsl(body.decode(), strict_parsing=True))
        if form.get("grant_type") == "urn:ietf:params:oauth:grant-type:token-exchange":
            members(form, ["grant_type", "subject_token_type", "subject_token"])
            need(form["subject_token_type"] == "urn:junction:sign-in-token", "subject_token_type")
            user = self.sign_in.pop(form["subject_token"], None)
            time.sleep(self.delay)
        elif form.get("grant_type") == "refresh_token":
            members(form, ["grant_type", "refresh_token"])
            if self.reauthenticate:
                raise Refused("reauthenticate", 400, {"error_type": "reauthentication_required"})
            user = self.refresh.pop(form["refresh_token"], None)
        else:
            raise Refused("grant_type")
        if user is None:
            raise Refused("the token is none", 400, {"error_type": "invalid_token"})
        access, refresh = f"access-{uuid.uuid4()}", f"refresh-{uuid.uuid4()}"
        self.access = {token: of for token, of in self.access.items() if of != user} | {access: user}
        self.refresh[refresh] = user
        return {"access_token": access, "refresh_token": refresh, "expires_in": 3600}

    def take(self, user, resource, body):
        dates = ["start_date", "end_date"]
        members(body, ["stage", "time_zone", "provider", "data", "is_final_chunk"], dates)
        need(body["stage"] in ("daily", "historical"), "stage")
        historical = body["stage"] == "historical"
        need(all((name in body) == historical for name in dates), "dates are for historical")
        for name in dates if historical else []:
            moment(body[name])
        need(isinstance(body["time_zone"], str) and body["time_zone"], "time_zone")
        need(body["is_final_chunk"] is True, "is_final_chunk")
        provider = body["provider"]
        found = {}

        def sample(value, series, unit=None):
            members(value, ["value", "unit", "type", *dates], ["source_bundle", "product_type", "metadata"])
            need(isinstance(value["value"], Number), "value is no number")
            need(value["unit"] == (unit or UNITS[series]), f"unit of {series}: {value['unit']}")
            need(value["type"] in SOURCES, f"type: {value['type']}")
            time = moment(value["start_date"])
            moment(value["end_date"])
            for name, text in value.get("metadata", {}).items():
                need(isinstance(text, str), f"metadata.{name}")
            found[f"{user}/{series}/{provider}/{value['type']}/{time}"] = f"{value['value'].text} {value['unit']}"

        if resource == "blood_pressure":
            for value in body["data"]:
                for name, part in members(value, ["systolic", "diastolic"], ["pulse"]).items():
                    sample(part, name)
        elif resource == "body":
            lists = members(body["data"], [*BODY, "time_zones"])
            need(isinstance(lists["time_zones"], list), "time_zones")
            for name in BODY:
                for value in lists[name]:
                    sample(value, name)
        elif resource == "meal":
            for meal in body["data"]:
                lists = members(members(meal, ["healthkit"])["healthkit"], ["source_bundle"], list(MEAL))
                for name in lists.keys() - {"source_bundle"}:
                    for value in lists[name]:
                        sample(value, name, MEAL[name])
        elif resource == "profile":
            height = members(body["data"], ["height"])["height"]
            need(isinstance(height, Number) and height.text.isdigit(), "height is no whole number")
            found[f"{user}/height/{provider}"] = height.text
        elif resource == "sleep":
            self.take_sleeps(body["data"], sample)
        elif resource == "activity":
            for activity in body["data"]:
                found.update(self.take_day(activity, f"{user}/{provider}"))
        elif resource == "menstrual_cycle":
            for cycle in body["data"]:
                found.update(self.take_cycle(cycle, user, provider))
        elif resource == "workouts":
            for workout in body["data"]:
                members(workout, ["id", "start_date", "end_date", "moving_time", "source_bundle", "sport",
                                  "heart_rate", "respiratory_rate", "metadata"],
                        ["product_type", "calories", "distance"])
                need(str(uuid.UUID(workout["id"])).upper() == workout["id"], "id")
                need(workout["heart_rate"] == workout["respiratory_rate"] == [] and workout["metadata"] == {}, "lists")
                moment(workout["end_date"])
                texts = [workout[name].text for name in ("moving_time", "calories", "distance") if name in workout]
                found[f"{user}/workout/{provider}/{moment(workout['start_date'])}"] = \
                    " ".join([workout["sport"], *texts])
        else:
            need(resource in SERIES, f"no resource {resource}", 404)
            for value in body["data"]:
                sample(value, resource)
        need(found, "no sample")
        need((user, provider) in self.connected, f"no connected source {provider}", 400)
        self.samples.update(found)

    @staticmethod
    def take_day(activity, place):
        members(activity, ["day_summary", *DAY_LISTS])
        need(all(activity[name] == [] for name in DAY_LISTS), "lists")
        sums = members(activity["day_summary"], ["calendar_date"], DAY)
        date = calendar_date(sums["calendar_date"])
        for name in sums.keys() - {"calendar_date"}:
            need(isinstance(sums[name], Number), f"{name} is no number")
        return {f"{place}/{name}/{date}": sums[name].text for name in sums if name != "calendar_date"}

    @staticmethod
    def take_cycle(local, user, provider):
        members(local, ["source_bundle", "cycle"])
        cycle = members(local["cycle"], ["period_start", "period_end", "cycle_end", "source", *CYCLE])
        start, end = calendar_date(cycle["period_start"]), cycle["cycle_end"] or "9999-12-31"
        calendar_date(end)
        need(start <= calendar_date(cycle["period_end"]) <= end, "the period's end")
        said = [cycle["period_end"], end]
        for name, allowed in CYCLE.items():
            for entry in cycle[name]:
                members(entry, ["date", *allowed])
                need(start <= calendar_date(entry["date"]) <= end, f"{name} outside of its cycle")
                for member, words in allowed.items():
                    value = entry[member]
                    need(isinstance(value, Number) if words is None else value in words, f"{name}: {value}")
                    said += [name, entry["date"], value.text if words is None else str(value)]
        source = members(cycle["source"], ["provider", "type", "app_id"])
        need(source["provider"] == provider and source["type"] == "app", "source")
        return {f"{user}/cycle/{provider}/{start}": " ".join(said)}

    @staticmethod
    def take_sleeps(sleeps, sample):
        empty = ["heart_rate", "heart_rate_variability", "respiratory_rate", "wrist_temperature"]
        for sleep in sleeps:
            members(sleep, ["start_date", "end_date", "source_bundle", "product_type", "sleep_stages", "metadata", *empty])
            need(all(sleep[name] == [] for name in empty) and sleep["metadata"] == {}, "lists")
            begin, end = moment(sleep["start_date"]), moment(sleep["end_date"])
            stages = members(sleep["sleep_stages"], [f"{name}_sleep_samples" for name in STAGES])
            for name, number in STAGES.items():
                for value in stages[f"{name}_sleep_samples"]:
                    sample(value, f"sleep-{name}", "stage")
                    need(value["value"].text == number, f"stage of {name}")
                    need(begin <= value["start_date"] <= value["end_date"] <= end, "a stage outside of its sleep")


if __name__ == "__main__":
    main(Junction, __doc__, 8090, "key", "the API key that it takes", "fake-api-key")
