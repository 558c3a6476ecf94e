"""What is wrong with a transaction: by the specification, by R4's vital signs and by the guide's profiles."""

import base64
import copy
import hashlib
import json
import tempfile
from decimal import Decimal
from pathlib import Path
from urllib.parse import unquote

import fhirkit
from fhir.resources.R4B.bundle import Bundle
from pydantic import ValidationError
from pyfhircheck import Validator
from pyfhircheck.config import ValidatorConfig

from . import profiles

UNKNOWN = [{"url": profiles.BASE + "data-absent-reason", "valueCode": "unknown"}]


class Checker:
    """Three validators from PyPI, each for what it can do (README.md), and what none of them looks at."""

    def __init__(self):
        with tempfile.TemporaryDirectory(prefix="profiles-") as directory:
            profiles.write(Path(directory))
            self.validator = Validator(ValidatorConfig.load_dict(
                {"fhirVersion": "4.0.1", "localPackagePaths": [directory], "terminology": {"mode": "off"}}))

    def problems(self, text):
        """Each in a line; none for a good transaction."""
        try:
            issues = fhirkit.validate(text)
        except fhirkit.ParseError as error:
            return [f"fhirkit: {error}"]
        found = [f"fhirkit: {issue}" for issue in issues]
        bundle = json.loads(text, parse_float=Decimal)
        if bundle.get("resourceType") != "Bundle" or bundle.get("type") != "transaction" or found:
            return found or ["no transaction"]
        try:
            Bundle.model_validate_json(text)
        except ValidationError as error:
            found += [f"fhir.resources: {line['loc']}: {line['msg']}" for line in error.errors()]
        found += self.against_profiles(json.loads(text))
        found += [problem for entry in bundle.get("entry", []) for problem in of_entry(entry, bundle)]
        return found

    def against_profiles(self, bundle):
        """By those that the resources name, and R4's that their codes ask for."""
        bundle = with_texts(with_short_data(bundle))
        for entry in bundle["entry"]:
            resource = entry.get("resource", {})
            named = list(resource.get("meta", {}).get("profile", []))
            for coding in resource.get("code", {}).get("coding", []):
                if coding.get("system") == profiles.LOINC:
                    vital = profiles.VITAL_SIGNS.get(coding["code"])
                    if vital or not is_filed(resource, coding["code"]):
                        named.append(vital["url"] if vital else f"nothing for {coding['code']}")
            if named:
                resource["meta"] = {**resource.get("meta", {}), "profile": named}
        report = self.validator.validate_resource(bundle)
        return [f"pyfhircheck: {issue.path}: {issue.message}" for issue in report.errors]


def is_filed(resource, code):
    """Whether an observation is in the category in which this code is looked for."""
    category = profiles.OTHER_CODES.get(code)
    return code in profiles.OTHER_CODES and (category is None or any(
        coding["code"] == category for entry in resource.get("category", []) for coding in entry["coding"]))


def with_short_data(bundle):
    """A copy with the beginning of large images: pyfhircheck has R4's bound of a string, 1 MiB, for base64 too."""
    bundle = copy.deepcopy(bundle)
    for entry in bundle["entry"]:
        content = entry.get("resource", {}).get("content")
        if isinstance(content, dict) and len(content.get("data", "")) > 1 << 20:
            content |= {"data": content["data"][:1000], "size": 750}
    return bundle


def with_texts(value):
    """A copy that has the texts that are said to be unknown: pyfhircheck does not know extensions of primitives."""
    if isinstance(value, list):
        return [with_texts(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name.removeprefix("_") if item == {"extension": UNKNOWN} else name:
            "unknown" if item == {"extension": UNKNOWN} else with_texts(item) for name, item in value.items()}


def references(value):
    if isinstance(value, dict):
        if "reference" in value:
            yield value["reference"]
        for item in value.values():
            yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def identifiers(resource):
    return {(item.get("system"), item.get("value")) for item in resource.get("identifier", [])}


def token(condition):
    """System and value of `identifier=…`; None for another search."""
    name, _, value = condition.partition("=")
    system, bar, value = value.partition("|")
    if name != "identifier" or not bar or "|" in value or "&" in value or "," in value:
        return None
    return unescaped(unquote(system)), unescaped(unquote(value))


def unescaped(text):
    return text.replace("\\\\", "\0").replace("\\", "").replace("\0", "\\")


# R4's value set event-status, which none of the validators knows.
MEDIA_STATUSES = {"preparation", "in-progress", "not-done", "on-hold", "stopped", "completed", "entered-in-error",
                  "unknown"}
IMAGES = {"image/jpeg": b"\xff\xd8\xff", "image/png": b"\x89PNG\r\n\x1a\n"}


def of_media(media):
    """What R4 says of Media and Attachment beside types and cardinalities."""
    content = media.get("content", {})
    if media.get("status") not in MEDIA_STATUSES:
        yield f"status {media.get('status')}"
    try:
        data = base64.b64decode(content.get("data", ""), validate=True)
    except ValueError:
        data = b""
    beginning = IMAGES.get(content.get("contentType"))
    if not beginning or not data.startswith(beginning):
        yield f"the data is no {content.get('contentType')}"
    if content.get("size") != len(data):
        yield f"size {content.get('size')} of {len(data)} bytes"
    if content.get("hash") != base64.b64encode(hashlib.sha1(data).digest()).decode():
        yield "the hash is of something else"
    for part in media.get("partOf", []):
        if part.get("type") != "Observation" or identifiers({"identifier": [part.get("identifier", {})]}) == {(None, None)}:
            yield "a part of nothing that is named"


def of_entry(entry, bundle):
    resource, request = entry.get("resource", {}), entry.get("request", {})
    where = f"{resource.get('resourceType')} {entry.get('fullUrl')}"
    names = [other.get("fullUrl") for other in bundle["entry"]]
    if names.count(entry.get("fullUrl")) != 1 or not str(entry.get("fullUrl")).startswith("urn:uuid:"):
        yield f"{where}: the name is not its own"
    if request.get("method") != "POST" or request.get("url") != resource.get("resourceType"):
        yield f"{where}: the request does not create it"
    if token(request.get("ifNoneExist", "")) not in identifiers(resource):
        yield f"{where}: {request.get('ifNoneExist')} is no search for it"
    if resource.get("resourceType") == "Media":
        yield from (f"{where}: {problem}" for problem in of_media(resource))
    for reference in references(resource):
        if reference not in names and not reference.startswith("Patient/"):
            yield f"{where}: {reference} is nothing"
    for profile in resource.get("meta", {}).get("profile", []):
        allowed = profiles.CHOICES.get(profile)
        for name in resource:
            if allowed and name.startswith(("value", "effective")) and name not in allowed:
                yield f"{where}: {name} is not for {profile}"
