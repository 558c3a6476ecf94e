"""The annotated records of docs/records.md are what the program would write, and have the names that it says."""

import json
import re
import subprocess
import uuid

from kit.gateway import INGESTD, Failure, expect_equal

from .documents import NAMESPACE
from .schema import RECORD, RECORDS, ROOT, WITHOUT_RECORDS, expect_valid

TEXT = (ROOT / "docs/records.md").read_text().partition("\n## One record of each kind\n")[2]


def annotated():
    """Of each record that is shown: the record with its numbers as texts, its bytes as the table has them, the text of
    its name."""
    for block in re.split(r"^### ", TEXT, flags=re.MULTILINE)[1:]:
        shown = re.search(r"^```json\n(.*?)^```$", block, re.MULTILINE | re.DOTALL)[1]
        octets = "".join(re.findall(r"^\| `([0-9a-f ]+)` \|", block, re.MULTILINE)).replace(" ", "")
        yield shown, octets, re.search(r"^    (.+)$", block.rpartition("made of:")[2], re.MULTILINE)[1]


def exactly(text):
    """Numbers as they are written, because 36.60 is not 36.6."""
    return json.loads(text, parse_int=str, parse_float=str)


def every_kind():
    kinds = [json.loads(shown)["kind"] for shown, _, _ in annotated()]
    expect_equal(set(kinds) | WITHOUT_RECORDS, set(RECORD["properties"]["kind"]["enum"]), "the kinds")


def are_valid():
    for shown, octets, name in annotated():
        record = json.loads(shown)
        expect_valid(RECORDS, record)
        expect_equal(record["id"], str(uuid.uuid5(NAMESPACE, name)), f"the id of {record['kind']}")
        expect_equal(octets, record.get("raw", {}).get("hex", ""), f"the bytes of {record['kind']}")


def are_what_their_bytes_say():
    for shown, octets, _ in annotated():
        record = exactly(shown)
        if "raw" not in record:
            continue
        form = ["--advertisement"] if record["raw"]["characteristic"] == "ADV" else [
            "--characteristic", record["raw"]["characteristic"]]
        answer = exactly(subprocess.run([INGESTD, "decode", *form, octets], capture_output=True, text=True, timeout=30,
                                        check=False).stdout)
        if record["kind"] == "undecoded":
            expect_equal(answer["ok"], False, "decode of what is undecoded")
            continue
        for measurement in record["measurements"]:
            measurement.pop("code", None)
        for member in ("kind", "measurements", "sequence", "user"):
            expect_equal(record.get(member), answer.get(member), f"{member} of {record['kind']}")
        # What the device says elsewhere, as a sensor its type, is in the record alone.
        if not set(answer.get("flags", [])) <= set(record.get("flags", [])):
            raise Failure(f"flags of {record['kind']}: {answer['flags']}")


CASES = {"annotated-every-kind": every_kind, "annotated-valid": are_valid,
         "annotated-decoded": are_what_their_bytes_say}
