"""The profiles of the Personal Health Device guide that the gateway writes, and R4's vital signs, as
StructureDefinitions: what they demand of the elements that are used, written down from the guide's FSH
(github.com/HL7/phd, version 2.0.0) and from the R4 specification. Terminology is left out, but for what is here."""

import json

BASE = "http://hl7.org/fhir/StructureDefinition/"
GUIDE = "http://hl7.org/fhir/uv/phd/StructureDefinition/"
MDC = "urn:iso:std:iso:11073:10101"
UCUM = "http://unitsofmeasure.org"
LOINC = "http://loinc.org"
ABSENCE = "http://terminology.hl7.org/CodeSystem/data-absent-reason"
PHD = "http://hl7.org/fhir/uv/phd/CodeSystem/PhdObservationCategories"
V2 = "http://terminology.hl7.org/CodeSystem/v2-0136"
DEVICE_IDS = "http://terminology.hl7.org/CodeSystem/ContinuaDeviceIdentifiers"

# The value sets that the guide binds as required.
SPECIALIZATIONS = [528384, 528385, 528388, 528390, 528391, 528392, 528397, 528399, *range(528401, 528407), 528408,
                   528409, 528412, 528425, 528426, 528455, 528456, 528457, 528484, *range(528501, 528515), 528524,
                   528525, *range(528532, 528537)]
VERSIONS = [531974, 531975, 531976, 531977, 532352, 67912]
CLOCKS = [67975, 68226, 67983, 68072]
TIME_SYNCHRONISATION = range(532224, 532239)


def among(path, codes, system=MDC):
    """FHIRPath: every coding at the path is one of these."""
    quoted = "|".join(f"'{code}'" for code in codes)
    return f"{path}.coding.all(system = '{system}' and (code in ({quoted})))"


def element(path, low=0, high=None, **more):
    found = {"id": path, "path": path, "min": low, **more}
    if high is not None:
        found["max"] = str(high)
    return found


def rule(key, expression):
    return {"key": key, "severity": "error", "human": key, "expression": expression}


def definition(url, kind, rows, rules=()):
    """`rows`: path below the resource, lowest and highest number, and a value that is fixed."""
    elements = [{"id": kind, "path": kind, "constraint": [rule(key, text) for key, text in rules]}]
    for path, low, high, *more in rows:
        elements.append(element(f"{kind}.{path}", low, high, **(more[0] if more else {})))
    return {"resourceType": "StructureDefinition", "url": url, "name": url.rsplit("/", 1)[1], "status": "active",
            "fhirVersion": "4.0.1", "kind": "resource", "abstract": False, "type": kind, "baseDefinition": BASE + kind,
            "derivation": "constraint", "snapshot": {"element": elements}}


def extension(url, kind, context):
    elements = [element("Extension"), element("Extension.url", 1, 1, fixedUri=url),
                element("Extension.value[x]", 1, 1, type=[{"code": kind}])]
    return {"resourceType": "StructureDefinition", "url": url, "name": url.rsplit("/", 1)[1], "status": "active",
            "fhirVersion": "4.0.1", "kind": "complex-type", "abstract": False, "type": "Extension",
            "baseDefinition": BASE + "Extension", "derivation": "constraint", "context": context,
            "snapshot": {"element": elements}}


GATEWAY = BASE + "observation-gatewayDevice"
CLOCK = GUIDE + "CoincidentTimeStampReference"

# PhdBaseObservation
COMMON = [("extension", 1, "*"), ("category", 1, "*"), ("code", 1, 1), ("subject", 1, 1), ("effective[x]", 1, 1),
          ("device", 1, 1), ("device.reference", 1, 1), ("identifier", 0, "*")]
COMMON_RULES = [
    ("phd-gateway", f"extension('{GATEWAY}').count() = 1"),
    ("phd-gateway-reference", f"extension('{GATEWAY}').value.reference.exists()"),
    ("phd-clock", f"extension('{CLOCK}').count() <= 1"),
    ("phd-category", f"category.coding.where(system = '{PHD}' and code = 'phd').count() = 1"),
    ("phd-identifier", f"identifier.where(system = '{GUIDE}PhdBaseObservation').count() <= 1"),
    ("phd-identifier-value", f"identifier.where(system = '{GUIDE}PhdBaseObservation')"
                             ".all(type.empty() and value.exists())"),
    ("phd-mdc", f"code.coding.where(system = '{MDC}').count() = 1"),
    ("phd-interpretation", "interpretation.all(coding.where("
                           "system = 'http://hl7.org/fhir/uv/pocd/CodeSystem/measurement-status').count() = 1)"),
    ("phd-absence", f"dataAbsentReason.all(coding.exists() and coding.all(system = '{ABSENCE}'))"),
    ("phd-supplement", f"component.where(code.coding.exists(system = '{MDC}' and code = '68193'))"
                       f".all(value.coding.exists(system = '{MDC}') and dataAbsentReason.empty())"),
    ("phd-related", "derivedFrom.all(type = 'Observation')"),
]
QUANTITY = f"(system = '{UCUM}' and code.exists() and value.exists())"


def observation(name, rows=(), rules=()):
    return definition(GUIDE + name, "Observation", [*COMMON, *rows], [*COMMON_RULES, *rules])


VITAL_SIGN = [("category", 1, "*"), ("subject", 1, 1), ("effective[x]", 1, 1)]
VITAL_SIGN_RULES = [
    ("vital-category", "category.coding.exists(code = 'vital-signs' and "
                       "system = 'http://terminology.hl7.org/CodeSystem/observation-category')"),
    ("vs-2", "(component.empty() and hasMember.empty()) implies (dataAbsentReason.exists() or value.exists())"),
    ("vs-3", "component.all(value.exists() or dataAbsentReason.exists())"),
]


def pressure(key, code):
    found = f"component.where(code.coding.exists(system = '{LOINC}' and code = '{code}'))"
    return [(key, f"{found}.count() = 1"),
            (f"{key}-unit", f"{found}.value.all(system = '{UCUM}' and code = 'mm[Hg]' and value.exists())")]


def vital(name, loinc, units):
    quoted = "|".join(f"'{unit}'" for unit in units)
    return definition(BASE + name, "Observation", VITAL_SIGN, [
        *VITAL_SIGN_RULES, (f"{name}-code", f"code.coding.exists(system = '{LOINC}' and code = '{loinc}')"),
        (f"{name}-unit", f"value.all(system = '{UCUM}' and value.exists() and (code in ({quoted})))")])


# R4's profiles, by the LOINC code that asks for them.
VITAL_SIGNS = {
    "85354-9": definition(BASE + "bp", "Observation", VITAL_SIGN, [
        *VITAL_SIGN_RULES, *pressure("bp-systolic", "8480-6"), *pressure("bp-diastolic", "8462-4")]),
    "8867-4": vital("heartrate", "8867-4", ["/min"]),
    "9279-1": vital("resprate", "9279-1", ["/min"]),
    "2708-6": vital("oxygensat", "2708-6", ["%"]),
    "8310-5": vital("bodytemp", "8310-5", ["Cel", "[degF]"]),
    "29463-7": vital("bodyweight", "29463-7", ["kg", "g", "[lb_av]"]),
    "8302-2": vital("bodyheight", "8302-2", ["cm", "[in_i]"]),
    "39156-5": vital("bmi", "39156-5", ["kg/m2"]),
}

# Others by which an EHR files what is measured, with the category that it looks in; None: none.
OTHER_CODES = {"59408-5": "vital-signs", "41653-7": "laboratory", "14743-9": "laboratory", "99504-3": "laboratory",
               "105272-9": "laboratory", "4548-4": "laboratory", "41982-0": None,
               # What somebody did, and how they slept.
               **dict.fromkeys(["55423-8", "73985-4", "55411-3", "55424-6", "55430-3", "93831-6"], "activity"),
               "2093-3": "laboratory"}

DEVICE_RULES = [
    ("phd-identifier-system-id", f"identifier.where(type.coding.exists(system = '{DEVICE_IDS}' and code = 'SYSID'))"
                                 ".all(system = 'urn:oid:1.2.840.10004.1.1.1.0.0.1.0.0.1.2680' and value.exists())"),
    ("phd-identifier-address", f"identifier.where(type.coding.exists(system = '{DEVICE_IDS}' and code = 'BTMAC')).all("
                               "system = 'http://hl7.org/fhir/sid/eui-48/bluetooth' and "
                               "value.matches('^([0-9A-F]{2}-){5}[0-9A-F]{2}$'))"),
    ("phd-specialization", among("specialization.systemType", SPECIALIZATIONS)),
    ("phd-udi", "udiCarrier.all(carrierHRF.exists() and entryType = 'electronic-transmission' and carrierAIDC.empty())"),
    ("phd-version", among("version.type", VERSIONS)),
    ("phd-time", f"property.where(type.coding.exists(system = '{MDC}' and code = '68220')).count() <= 1"),
    ("phd-time-method", f"property.where(type.coding.exists(system = '{MDC}' and code = '68220')).valueCode.all("
                        + among("$this", TIME_SYNCHRONISATION) + ")"),
]
DEVICE = [("identifier", 1, "*"), ("type", 1, 1), ("specialization", 1, "*"), ("specialization.systemType", 1, 1),
          ("version", 1, "*"), ("version.type", 1, 1), ("version.value", 1, 1), ("version.component", 0, 0),
          ("parent", 0, 0)]
# CodeSystem ASN1ToHL7, for the statuses that Bluetooth's services have.
ASN1 = "http://terminology.hl7.org/CodeSystem/ASN1ToHL7"
BITS = "|".join(f"'{code}.{bit}'" for code, bits in {
    8410608: range(6), 8417752: range(12), 8418060: (0, 2, 3, 4, *range(7, 21))}.items() for bit in bits)

# The forms that elements with a choice may have; the FHIRPath at hand does not know types.
CHOICES = {
    GUIDE + "PhdNumericObservation": {"valueQuantity", "effectiveDateTime", "effectivePeriod"},
    GUIDE + "PhdCompoundNumericObservation": {"effectiveDateTime", "effectivePeriod"},
    GUIDE + "PhdCodedEnumerationObservation": {"valueCodeableConcept", "effectiveDateTime", "effectivePeriod"},
    GUIDE + "PhdBitsEnumerationObservation": {"effectiveDateTime", "effectivePeriod"},
    GUIDE + "PhdCoincidentTimeStampObservation": {"valueDateTime", "valueQuantity", "effectiveDateTime"},
}

PROFILES = [
    observation("PhdNumericObservation", [("value[x]", 0, 1)], [
        ("phd-value", "value.exists() xor dataAbsentReason.exists()"), ("phd-quantity", f"value.all({QUANTITY})")]),
    observation("PhdCompoundNumericObservation", [("value[x]", 0, 0), ("component", 1, "*")], [
        ("phd-compound-code", f"component.all(code.coding.where(system = '{MDC}').count() = 1)"),
        ("phd-compound-value", f"component.where(code.coding.exists(code = '68193').not()).value.all({QUANTITY})"),
        ("phd-compound-absence", "component.all(value.exists() xor dataAbsentReason.exists())")]),
    observation("PhdCodedEnumerationObservation", [("value[x]", 1, 1)], [
        ("phd-coded", f"value.coding.exists(system = '{MDC}')")]),
    observation("PhdBitsEnumerationObservation", [("value[x]", 0, 0), ("component", 1, "*")], [
        ("phd-bits-code", f"component.code.coding.all(system = '{ASN1}' and (code in ({BITS})))"),
        ("phd-bits-of", "component.code.coding.code.all($this.startsWith(%resource.code.coding.first().code))"),
        ("phd-bits-value", "component.all(value.exists() xor dataAbsentReason.exists())"),
        ("phd-bits-boolean", "component.value.all($this = true or $this = false)")]),
    definition(GUIDE + "PhdCoincidentTimeStampObservation", "Observation", [
        ("status", 1, 1, {"fixedCode": "final"}), ("code", 1, 1), ("subject", 1, 1), ("subject.reference", 1, 1),
        ("device", 1, 1), ("device.reference", 1, 1), ("derivedFrom", 0, 0), ("hasMember", 0, 0), ("specimen", 0, 0),
        ("focus", 0, 0)], [
            ("clock-code", among("code", CLOCKS)),
            ("clock-absence", f"dataAbsentReason.coding.all(system = '{ABSENCE}' and code = 'unknown')"),
            ("clock-either", "value.exists() xor dataAbsentReason.exists()")]),
    definition(GUIDE + "PhdDevice", "Device", [
        *DEVICE, ("manufacturer", 1, 1), ("modelNumber", 1, 1), ("specialization.version", 1, 1)], [
            *DEVICE_RULES, ("phd-type", f"type.coding.where(system = '{MDC}' and code = '65573').count() = 1")]),
    definition(GUIDE + "PhgDevice", "Device", DEVICE, [
        *DEVICE_RULES, ("phg-type", f"type.coding.where(system = '{MDC}').code = '531981'")]),
    definition(GUIDE + "PhdPatient", "Patient", [("identifier", 1, "*")], [
        ("patient-type", "identifier.all(type.coding.system = 'http://terminology.hl7.org/CodeSystem/v2-0203')")]),
    extension(GATEWAY, "Reference", [{"type": "element", "expression": "Observation"}]),
    extension(CLOCK, "Reference", [{"type": "element", "expression": "Observation"}]),
    extension(BASE + "data-absent-reason", "code", [{"type": "element", "expression": "Element"}]),
    *VITAL_SIGNS.values(),
]


def write(directory):
    """Puts each definition into a file of its own."""
    for profile in PROFILES:
        (directory / f"{profile['name']}.json").write_text(json.dumps(profile))
