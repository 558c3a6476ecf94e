"""The transactions of records of every kind, and what is wrong with others."""

import json
from decimal import Decimal
from pathlib import Path

import fhirkit
from fhir.resources.R4B.bundle import Bundle

from kit.gateway import Failure, expect_equal

from . import profiles
from .rules import Checker

from pydantic import ValidationError


ROOT = Path(__file__).resolve().parents[4]
LINES = (ROOT / "Tests/System/FHIR/transactions.ndjson").read_text().splitlines()
CHECKER = Checker()


def resources(kind=None):
    for line in LINES:
        for entry in json.loads(line, parse_float=Decimal)["entry"]:
            if kind in (None, entry["resource"]["resourceType"]):
                yield entry["resource"]


def are_good():
    """Each is, and every profile that the gateway names or that R4 has for its codes is among them."""
    for number, line in enumerate(LINES, 1):
        for problem in CHECKER.problems(line):
            raise Failure(f"line {number}: {problem}")
    used = {url for resource in resources() for url in resource.get("meta", {}).get("profile", [])}
    expect_equal(used, {profile["url"] for profile in profiles.PROFILES if profile["url"].startswith(profiles.GUIDE)}
                 - {profiles.CLOCK}, "profiles")
    codes = {coding["code"] for resource in resources("Observation") for coding in resource["code"]["coding"]
             if coding["system"] == profiles.LOINC}
    expect_equal(codes - set(profiles.OTHER_CODES), set(profiles.VITAL_SIGNS), "codes of vital signs")
    expect_equal(set(profiles.OTHER_CODES) - codes, set(), "other codes that no sample has")


def have_the_digits():
    """No number was made of another one: what a device sent as 98.60 stands there so."""
    text = "\n".join(LINES)
    for digits in ("98.60", "36.60", "74.855", "175.5", "20.0", "0.922", "86.550"):
        if f'"value":{digits},' not in text:
            raise Failure(f"{digits} is not there")


def changed(**change):
    """The first transaction that has this text, with another in its place."""
    (part, other), = change.values()
    for line in LINES:
        if part in line:
            return line.replace(part, other)
    raise Failure(f"no transaction has {part}")


WRONG = {
    "a type that there is not": ('"resourceType":"Observation"', '"resourceType":"Observations"'),
    "a member that there is not": ('"status":"final"', '"status":"final","colour":"red"'),
    "a number as a text": ('"value":138,', '"value":"138",'),
    "a time without zone": ("+00:00", ""),
    "no status": ('"status":"final",', ""),
    "two values": ('"valueQuantity":{', '"valueString":"x","valueQuantity":{'),
    "no gateway": ("StructureDefinition/observation-gatewayDevice", "StructureDefinition/bodySite"),
    "no device": ('"device":{', '"specimen":{'),
    "no subject": ('"subject":{', '"encounter":{'),
    "not the guide's category": ('"code":"phd"', '"code":"pha"'),
    "not MDC": ('"code":{"coding":[{"system":"urn:iso:std:iso:11073:10101"',
                '"code":{"coding":[{"system":"urn:oid:2.999"'),
    "a pressure in kPa": ('"unit":"mm[Hg]","system":"http://unitsofmeasure.org","code":"mm[Hg]"',
                          '"unit":"kPa","system":"http://unitsofmeasure.org","code":"kPa"'),
    "one pressure": ('"code":"8462-4"', '"code":"8478-0"'),
    "a weight in stones": ('"code":"kg"', '"code":"[stone_av]"'),
    "an absence of another kind": ('data-absent-reason","code":"not-a-number"', 'other","code":"not-a-number"'),
    "a clock of no kind": ('"code":"67975"', '"code":"67976"'),
    "an address in small letters": ('"value":"F1-F1-F1-F1-F1-F1"', '"value":"f1-f1-f1-f1-f1-f1"'),
    "no model": ('"modelNumber":"BP-1",', ""),
    "no specialization": ('"code":"528391"', '"code":"528000"'),
    "an identifier of no type": ('"type":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/v2-0203"',
                                 '"type":{"coding":[{"system":"urn:oid:2.999"'),
    "a bit that there is not": ('"code":"8410608.2"', '"code":"8410608.9"'),
    "a bit of another status": ('"code":"8410608.2"', '"code":"8417752.2"'),
    "a bit as a word": ('"valueBoolean":true', '"valueString":"Y"'),
    "a reference to nothing": ('"device":{"reference":"urn:uuid:', '"device":{"reference":"urn:uuid:0'),
    "a search for something else": ('"ifNoneExist":"identifier=urn:uuid', '"ifNoneExist":"identifier=urn:oid'),
    "another method": ('"method":"POST"', '"method":"PUT"'),
    "an extension of nobody": ("StructureDefinition/CoincidentTimeStampReference", "StructureDefinition/Other"),
    "a value that is no quantity": ('"valueQuantity":{', '"valueRange":{'),
    "a Media without content": ('"content":{', '"note":{'),
    "a Media with two": ('"content":{', '"content":[{}],"note":{'),
    "a member that Media has not": ('"partOf":[', '"derivedFrom":['),
    "a status of an observation": ('"status":"completed"', '"status":"final"'),
    "an image of another type": ('"contentType":"image/png"', '"contentType":"image/jpeg"'),
    "an image without its type": ('"contentType":"image/png",', ""),
    "a size as a text": ('"size":67', '"size":"67"'),
    "a size of something else": ('"size":67', '"size":68'),
    "no base64": ('"data":"iVBOR', '"data":"iV*BOR'),
    "bytes of another image": ('"data":"iVBORw0KGgoAAAANSUhEUgAAAAE', '"data":"iVBORw0KGgoAAAANSUhEUgAAAAI'),
    "a hash of something else": ('"hash":"', '"hash":"AAAA'),
    "an image of no observation": ('"partOf":[{"type":"Observation"', '"partOf":[{"type":"Patient"'),
}


def are_refused_when_wrong():
    missed = [name for name, change in WRONG.items() if not CHECKER.problems(changed(change=change))]
    if missed:
        raise Failure(f"nobody has anything against: {missed}")


def are_looked_at_by_each():
    """What each of the three validators alone refuses, so that none is there for nothing."""
    types = changed(change=WRONG["a number as a text"])
    if not fhirkit.validate(types):
        raise Failure("fhirkit takes a number as a text")
    try:
        Bundle.model_validate_json(changed(change=WRONG["a member that there is not"]))
        raise Failure("fhir.resources takes a member that there is not")
    except ValidationError:
        pass
    if not CHECKER.against_profiles(json.loads(changed(change=WRONG["a pressure in kPa"]))):
        raise Failure("pyfhircheck takes a pressure in kPa")


CASES = {"every-kind": are_good, "digits": have_the_digits, "refused": are_refused_when_wrong,
         "each-validator": are_looked_at_by_each}
