"""Tests of the comparison: evidence with one thing wrong, and the check that has to notice it."""

import copy

from . import comparison


def first_confirmed(evidence):
    """A reading that a peripheral saw confirmed."""
    return next(reading for reading, state in evidence.made().items() if state == "confirmed")


def records_of(evidence, reading):
    return [record for delivery in evidence.deliveries for record in delivery["records"]
            if (record["address"], record["characteristic"], record["hex"]) == reading]


def lose_a_reading(evidence):
    reading = first_confirmed(evidence)
    for delivery in evidence.deliveries:
        delivery["records"] = [record for record in delivery["records"]
                               if (record["address"], record["characteristic"], record["hex"]) != reading]


def lose_a_stored_reading(evidence):
    reading = next(reading for reading, state in evidence.made().items() if state == "stored")
    for delivery in evidence.deliveries:
        delivery["records"] = [record for record in delivery["records"]
                               if (record["address"], record["characteristic"], record["hex"]) != reading]


def double_a_reading(evidence):
    record = dict(records_of(evidence, first_confirmed(evidence))[0], id="00000000-0000-5000-8000-000000000000")
    evidence.deliveries.append({"key": "another", "digest": "another", "records": [record]})


def invent_a_reading(evidence):
    record = dict(records_of(evidence, first_confirmed(evidence))[0], id="00000000-0000-5000-8000-000000000000",
                  hex="00")
    evidence.deliveries.append({"key": "another", "digest": "another", "records": [record]})


def change_a_repetition(evidence):
    evidence.deliveries.append(dict(evidence.deliveries[0], digest="another"))


def change_a_record(evidence):
    record = dict(evidence.deliveries[0]["records"][0], digest="another")
    evidence.deliveries.append({"key": "another", "digest": "another", "records": [record]})


def skip_an_event(evidence):
    """Everywhere, for it may have been told twice."""
    number = evidence.queue["last event"] // 2
    for events in evidence.runs:
        events[:] = [event for event in events if event.get("INGEST_SEQ") != str(number)]


def forget_the_last_event(evidence):
    for events in evidence.runs:
        events[:] = [event for event in events if event.get("INGEST_SEQ") != str(evidence.queue["last event"])]


def read_twice(evidence):
    events = evidence.runs[-1]
    number = evidence.queue["last event"] + 1
    told = next(event for run in evidence.runs for event in run if event["INGEST_EVENT"] == "read")
    events.append(dict(told, INGEST_SEQ=str(number)))
    evidence.queue["last event"] = number


TAMPERINGS = [
    (lose_a_reading, comparison.every_reading_arrived),
    (lose_a_reading, comparison.totals_are_equal),
    (lose_a_stored_reading, comparison.every_reading_arrived),
    (double_a_reading, comparison.no_reading_twice),
    (double_a_reading, comparison.totals_are_equal),
    (invent_a_reading, comparison.none_invented),
    (change_a_repetition, comparison.repeated_as_they_were),
    (change_a_record, comparison.repeated_as_they_were),
    (skip_an_event, comparison.events_have_no_gaps),
    (forget_the_last_event, comparison.events_have_no_gaps),
    (read_twice, comparison.told_once),
]


def unnoticed(evidence, tamper, check):
    """What is wrong with a check that does not tell the tampered evidence from the true one."""
    tampered = copy.deepcopy(evidence)
    tamper(tampered)
    return [] if len(check(tampered)) > len(check(evidence)) else [f"{check.__name__} did not notice"]
