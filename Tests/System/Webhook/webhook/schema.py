"""The schemas in docs, against records of every kind and against what is no record."""

import copy
import json
from pathlib import Path

from jsonschema import Draft202012Validator

from kit.gateway import Failure

from referencing import Registry, Resource

ROOT = Path(__file__).resolve().parents[4]
RECORD, BODY, STATUS = (json.loads((ROOT / "docs" / f"{name}.schema.json").read_text())
                        for name in ("record", "webhook", "status"))
REGISTRY = Registry().with_resources([(schema["$id"], Resource.from_contents(schema)) for schema in (RECORD, BODY)])
RECORDS = Draft202012Validator(RECORD, registry=REGISTRY)
BODIES = Draft202012Validator(BODY, registry=REGISTRY)
SAMPLES = [json.loads(line) for line in (ROOT / "Tests/System/Webhook/records.ndjson").read_text().splitlines()]


def expect_valid(validator, value):
    for error in validator.iter_errors(value):
        raise Failure(f"{error.json_path}: {error.message} in {json.dumps(value)[:200]}")


# Of the schema alone: no gateway makes a record of it.
WITHOUT_RECORDS = {"battery"}


def is_well_formed():
    for schema in (RECORD, BODY, STATUS):
        Draft202012Validator.check_schema(schema)


def every_kind():
    """The samples, which the unit tests make as the gateway does, are all valid, and of every kind."""
    for record in SAMPLES:
        expect_valid(RECORDS, record)
    for record in SAMPLES:
        # The schema cannot ask for these: a destination's `redact` may leave them out, and nothing else does.
        if "origin" not in record and not ("raw" in record and "address" in record["device"]):
            raise Failure(f"without raw or address: {json.dumps(record)[:200]}")
    kinds = {record["kind"] for record in SAMPLES}
    if kinds | WITHOUT_RECORDS != set(RECORD["properties"]["kind"]["enum"]):
        raise Failure(f"kinds of the samples: {sorted(kinds)}")
    delivered = [record for record in SAMPLES if record["kind"] != "undecoded"]
    expect_valid(BODIES, {"version": 1, "gateway": "ward-3-box-1", "records": delivered})


def redacted():
    """Without what a destination's `redact` leaves out a record is one still."""
    lists = {"raw": [("raw",)], "address": [("device", "address"), ("device", "system_id")],
             "subject": [("subject",)], "serial": [("device", "serial"), ("device", "udi")]}
    for record in SAMPLES:
        there = set(members(record))
        for paths in [*lists.values(), sum(lists.values(), [])]:
            less = record
            for path in paths:
                if path in there:
                    less = changed(less, path, changed)
            expect_valid(RECORDS, less)


def members(value, path=()):
    """The path of every member of objects, in arrays too."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from members(item, (*path, index))
    elif isinstance(value, dict):
        for name, item in value.items():
            yield (*path, name)
            yield from members(item, (*path, name))


def every_member():
    """Each member that the schema names is in some sample."""
    seen = {tuple("[]" if isinstance(part, int) else part for part in path)
            for record in SAMPLES for path in members(record)}
    named = set()

    def collect(schema, path):
        if "$ref" in schema:
            schema = RECORD["$defs"][schema["$ref"].rsplit("/", 1)[1]]
        for name, part in schema.get("properties", {}).items():
            named.add((*path, name))
            collect(part, (*path, name))
        if "items" in schema:
            collect(schema["items"], (*path, "[]"))

    collect(RECORD, ())
    if named != seen:
        raise Failure(f"only in the schema: {sorted(named - seen)}; only in the samples: {sorted(seen - named)}")


def changed(record, path, value):
    """A copy with another value at the path; nothing at all if the value is `changed` itself."""
    record = copy.deepcopy(record)
    target = record
    for part in path[:-1]:
        target = target[part]
    if value is changed:
        del target[path[-1]]
    else:
        target[path[-1]] = value
    return record


def refuses():
    """Members that nobody knows, missing ones, other types, and what contradicts itself."""
    wrong = []
    for record in SAMPLES:
        objects = {path[:-1] for path in members(record)}
        wrong += [changed(record, (*path, "unknown"), 1) for path in objects]
        wrong += [changed(record, path, []) for path in members(record) if path[-1] not in ("measurements",)]
        wrong += [changed(record, (name,), changed) for name in RECORD["required"]]
    first = next(record for record in SAMPLES if record["kind"] == "blood-pressure")
    bad = next(record for record in SAMPLES if record["kind"] == "undecoded")
    wrong += [changed(first, path, value) for path, value in [
        (("version",), 2), (("id",), first["id"].upper()), (("id",), "7480f0bc-ea5b-4ff7-a2c3-445fadd661fa"),
        (("kind",), "feature"), (("kind",), "undecoded"), (("measurements",), changed), (("stage",), "past"),
        (("time", "value"), "2026-11-20T09:15:00Z"), (("time", "received"), "2026-11-20T09:15:00+00:00"),
        (("time", "device"), "2026-11-20T09:15:00Z"), (("measurements", 0, "value"), "138"),
        (("measurements", 0, "value"), None), (("measurements", 0, "absent"), "reserved"),
        (("measurements", 0, "code"), 150021), (("measurements", 0, "unit"), ""), (("flags",), []),
        (("device", "address"), "f1:f1:f1:f1:f1:f1"), (("device", "battery"), 101), (("raw", "hex"), "1E8"),
        (("raw", "characteristic"), "2a35"), (("simulated",), False), (("subject",), ""),
    ]]
    wrong.append(changed(bad, ("measurements",), []))
    # A record is of a peripheral or of an entry, and has what belongs to it.
    entry = next(record for record in SAMPLES if record.get("origin", {}).get("type") == "apple-health")
    wrong += [changed(first, path, changed) for path in (("device",), ("device", "peripheral_id"))]
    wrong += [changed(first, ("origin",), entry["origin"]), changed(entry, ("origin",), changed),
              changed(entry, ("raw",), first["raw"]), changed(entry, ("device",), first["device"]),
              changed(entry, ("origin", "type"), "google-fit")]
    for record in wrong:
        if RECORDS.is_valid(record):
            raise Failure(f"taken for a record: {json.dumps(record)}")
    body = {"version": 1, "gateway": "ward", "records": [first]}
    for part in ({"version": 2}, {"gateway": 7}, {"records": []}, {"records": first}, {"more": 1},
                 {"records": [bad]}, {"records": [{}]}):
        if BODIES.is_valid({**body, **part}):
            raise Failure(f"taken for a body: {json.dumps({**body, **part})}")


CASES = {"schema-well-formed": is_well_formed, "schema-every-kind": every_kind, "schema-every-member": every_member,
         "schema-redacted": redacted, "schema-refuses": refuses}
