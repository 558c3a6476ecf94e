"""docs/webhook.openapi.yaml: whether it is OpenAPI, and whether requests are as it says."""

import json

from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

import yaml

from kit.gateway import Failure, expect_equal

from .schema import BODY, RECORD, ROOT, SAMPLES, STATUS, WITHOUT_RECORDS, expect_valid

FILE = ROOT / "docs/webhook.openapi.yaml"
# YAML's own numbers and times are none of JSON.
SPEC = yaml.load(FILE.read_text(), yaml.CSafeLoader)
OPERATION = SPEC["paths"]["/readings"]["post"]
STATUS_OPERATION = SPEC["paths"]["/status"]["post"]
CONTENT = OPERATION["requestBody"]["content"]
REGISTRY = Registry().with_resources(
    [(name, Resource.from_contents(schema))
     for schema, file in ((RECORD, "record"), (BODY, "webhook"), (STATUS, "status"))
     for name in (schema["$id"], f"{file}.schema.json")])


def validator(schema):
    return Draft202012Validator(schema, registry=REGISTRY, format_checker=Draft202012Validator.FORMAT_CHECKER)


def is_openapi():
    validate(SPEC, base_uri=FILE.as_uri())


def has_true_examples():
    examples = [example["value"] for content in CONTENT.values() for example in content.get("examples", {}).values()]
    for example in examples:
        expect_valid(validator(CONTENT["application/json"]["schema"]), example)
        for record in example["records"]:
            if record not in SAMPLES:
                raise Failure("the record of an example is none of records.ndjson")


def has_samples():
    """A sample of each kind that is delivered, which the unit tests write."""
    kinds = set(RECORD["properties"]["kind"]["enum"]) - {"undecoded"} - WITHOUT_RECORDS
    samples = {file.stem: json.loads(file.read_text()) for file in (ROOT / "docs/samples").iterdir()}
    expect_equal(samples.keys(), kinds, "kinds of the samples")
    for kind, sample in samples.items():
        expect_equal(sample["kind"], kind, "the kind of a sample")
        expect_valid(validator({"$ref": "record.schema.json"}), sample)


def expect_described(request, operation=OPERATION):
    """A request that a receiver got has the headers and the body of the description, and none that it does not know."""
    headers = dict(request.headers)
    kind = headers.pop("content-type")
    # HTTP's own, the token, and what the destination's `headers` name.
    for name in ("host", "content-length", "connection", "accept", "authorization", "x-ward"):
        headers.pop(name, None)
    for parameter in operation["parameters"]:
        value = headers.pop(parameter["name"].lower(), None)
        if value is None:
            if parameter.get("required"):
                raise Failure(f"{parameter['name']} is missing")
            continue
        schema = parameter["schema"]
        expect_valid(validator(schema), int(value) if schema.get("type") == "integer" else value)
    expect_equal(headers, {}, "headers that are not described")
    schema = operation["requestBody"]["content"][kind]["schema"]
    if kind == "application/json":
        expect_valid(validator(schema), json.loads(request.body))
    else:
        for line in request.body.decode().splitlines():
            expect_valid(validator(schema["contentSchema"]), json.loads(line))


CASES = {"openapi-valid": is_openapi, "openapi-examples": has_true_examples, "samples": has_samples}
