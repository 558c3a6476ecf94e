"""Makes exports as the Health app does: the same elements in the same order, of any size, written as they are made."""

import zipfile
from datetime import datetime, timedelta, timezone

# As iOS 16 writes it, which is no XML: the list of VisionPrescription is not closed.
DOCUMENT_TYPE = """<!DOCTYPE HealthData [
<!-- HealthKit Export Version: 12 -->
<!ELEMENT HealthData (ExportDate,Me,(Record|Correlation|Workout|ActivitySummary|ClinicalRecord|VisionPrescription)*)>
<!ATTLIST HealthData
  locale CDATA #REQUIRED
>
<!ATTLIST VisionPrescription
  type             CDATA #REQUIRED
  dateIssued       CDATA #REQUIRED
<!ELEMENT RightEye EMPTY>
]>
"""
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
ROOT = """<HealthData locale="de_DE">
 <ExportDate value="2026-11-20 09:15:00 +0100"/>
 <Me HKCharacteristicTypeIdentifierDateOfBirth="1960-05-17" HKCharacteristicTypeIdentifierBloodType="NotSet"/>
"""
END = "</HealthData>\n"
WATCH = ('sourceName="Anna’s Watch" sourceVersion="10.1" device="&lt;&lt;HKDevice: 0x281c4d7d0&gt;, '
         'name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,1, software:10.1&gt;"')
ZONE = timezone(timedelta(hours=1))
FIRST = datetime(2019, 1, 1, tzinfo=ZONE)


def moment(minutes):
    return (FIRST + timedelta(minutes=minutes)).strftime("%Y-%m-%d %H:%M:%S %z")


def dates(minutes, length=0):
    start, end = moment(minutes), moment(minutes + length)
    return f'creationDate="{end}" startDate="{start}" endDate="{end}"'


def quantity(name, unit, value, minutes, length=0, inside=""):
    head = (f' <Record type="HKQuantityTypeIdentifier{name}" {WATCH} unit="{unit}" {dates(minutes, length)} '
            f'value="{value}"')
    return f"{head}>\n{inside} </Record>\n" if inside else f"{head}/>\n"


def heart_rates(count):
    inside = '  <MetadataEntry key="HKMetadataKeyHeartRateMotionContext" value="1"/>\n'
    for number in range(count):
        yield quantity("HeartRate", "count/min", 55 + number % 90, 5 * number, inside=inside)


def others(scale=1):
    """Of every kind something; how many records of each kind they make is `OTHERS`, for a scale of 1."""
    for number in range(40 * scale):
        yield quantity("StepCount", "count", 10 + number, 10 * number, 10)
    for number in range(20 * scale):
        yield quantity("BodyMass", "kg", f"{70 + number % 7}.{number % 10}50", 1440 * number)
    for number in range(10 * scale):
        yield quantity("OxygenSaturation", "%", f"0.9{number % 10}", 60 * number)
        yield quantity("BloodGlucose", "mmol&lt;180.15588000005408&gt;/L", f"5.{number % 10}", 60 * number)
        yield quantity("DietaryProtein", "g", 12 + number, 60 * number)
        yield quantity("EnvironmentalAudioExposure", "dBASPL", 41 + number % 5, 60 * number)
        yield (f' <Record type="HKCategoryTypeIdentifierSleepAnalysis" {WATCH} {dates(1440 * number, 90)} '
               'value="HKCategoryValueSleepAnalysisAsleepCore"/>\n')
        yield (f' <Record type="HKCategoryTypeIdentifierMenstrualFlow" {WATCH} {dates(1440 * number)} '
               'value="HKCategoryValueMenstrualFlowLight"/>\n')
    pressures = [(quantity("BloodPressureSystolic", "mmHg", 120 + number, 1440 * number),
                  quantity("BloodPressureDiastolic", "mmHg", 80 + number, 1440 * number), number)
                 for number in range(10)]
    for systolic, diastolic, _ in pressures:
        yield systolic + diastolic
    for systolic, diastolic, number in pressures:
        yield (f' <Correlation type="HKCorrelationTypeIdentifierBloodPressure" {WATCH} {dates(1440 * number)}>\n'
               f" {systolic} {diastolic} </Correlation>\n")
    for number in range(5):
        yield (f' <Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="30.{number}" '
               f'durationUnit="min" {WATCH} {dates(1440 * number, 31)}>\n  <WorkoutStatistics '
               f'type="HKQuantityTypeIdentifierActiveEnergyBurned" {dates(1440 * number, 31)} sum="211.{number}" '
               'unit="kcal"/>\n  <WorkoutRoute sourceName="Watch"><FileReference path="/workout-routes/a.gpx"/>'
               "</WorkoutRoute>\n </Workout>\n")
    yield ' <ActivitySummary dateComponents="2024-03-01" activeEnergyBurned="312" activeEnergyBurnedUnit="kcal"/>\n'


OTHERS = {"activity": 41, "weight": 20, "pulse-oximetry": 10, "glucose": 10, "nutrition": 10, "sleep": 10,
          "reproductive-health": 10, "blood-pressure": 10, "workout": 5}


def document(records, head=HEAD + DOCUMENT_TYPE, end=END):
    """The whole text, in parts."""
    yield head + ROOT
    yield from records
    yield end


def write(path, parts, member="apple_health_export/export.xml"):
    """A zip as iOS makes it: the clinical document stands beside, and may come first."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("apple_health_export/export_cda.xml", "<ClinicalDocument/>")
        archive.writestr("apple_health_export/workout-routes/a.gpx", "<gpx/>")
        with archive.open(member, "w", force_zip64=True) as out:
            held, size = [], 0
            for part in parts:
                held.append(part)
                size += len(part)
                if size > 1 << 20:
                    out.write("".join(held).encode())
                    held, size = [], 0
            out.write("".join(held).encode())
    return path
