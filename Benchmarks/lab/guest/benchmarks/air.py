"""What the emulated devices have told of themselves."""

import json


def wakings(address):
    """When a device began to advertise, in seconds since 1970."""
    with open("/run/lab/air.jsonl", encoding="utf-8") as file:
        events = [json.loads(line) for line in file if line.endswith("\n")]
    return [event["time"] for event in events if event["what"] == "awake" and event["address"] == address]
