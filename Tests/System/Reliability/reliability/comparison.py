"""What the peripherals gave, what the receiver took and what the gateway told: do they agree?

Each check returns what is wrong, a line each; nothing is as it should be.
"""

from collections import Counter, defaultdict

from kit.tags import tag


class Evidence:
    """
    ledger      entries of the peripherals: linked, link-ended, made, offered, confirmed
    deliveries  requests that the receiver took, in their order
    runs        the events of each run of the gateway, in their order
    queue       what the queue says of itself at the end
    statuses    how runs ended that nobody killed
    state       the gateway's state directory, with the key of the tags in the events
    links       how many links were up at each kill
    """

    def __init__(self, ledger, deliveries, runs, queue, statuses, state, links):
        self.ledger = ledger
        self.deliveries = deliveries
        self.runs = runs
        self.queue = queue
        self.statuses = statuses
        self.state = state
        self.links = links

    def made(self):
        """Every reading: by address, characteristic and the bytes of all its packets; whether it is confirmed.
        Of stored ones nothing is confirmed: they stay in the peripheral."""
        confirmed = {(entry["address"], entry["characteristic"], entry["hex"])
                     for entry in self.ledger if entry["event"] == "confirmed"}
        readings = {}
        for entry in self.ledger:
            if entry["event"] == "made":
                place = entry["address"], entry["characteristic"]
                readings[(*place, "".join(entry["packets"]))] = (
                    "stored" if entry["stored"] else
                    "confirmed" if all((*place, packet) in confirmed for packet in entry["packets"]) else "waiting")
        return readings

    def received(self):
        """The ids under which the receiver has each reading."""
        ids = defaultdict(set)
        for delivery in self.deliveries:
            for record in delivery["records"]:
                ids[record["address"], record["characteristic"], record["hex"]].add(record["id"])
        return ids


def every_reading_arrived(evidence):
    received = evidence.received()
    return [f"{state} and not received: {' '.join(reading)}"
            for reading, state in evidence.made().items() if reading not in received]


def no_reading_twice(evidence):
    return [f"received under {len(ids)} ids: {' '.join(reading)} {' '.join(sorted(ids))}"
            for reading, ids in evidence.received().items() if len(ids) > 1]


def none_invented(evidence):
    made = evidence.made()
    return [f"received and never made: {' '.join(reading)}" for reading in evidence.received() if reading not in made]


def totals(evidence):
    """By peripheral: readings made, confirmed, and received by their ids."""
    made, ids = evidence.made(), defaultdict(set)
    for (address, _, _), found in evidence.received().items():
        ids[address] |= found
    return {address: (sum(reading[0] == address for reading in made),
                      sum(reading[0] == address and state == "confirmed" for reading, state in made.items()),
                      len(ids[address]))
            for address in sorted({reading[0] for reading in made})}


def totals_are_equal(evidence):
    wrong = [f"{address}: {made} made, {received} received"
             for address, (made, _, received) in totals(evidence).items() if made != received]
    count = sum(entry["event"] == "made" for entry in evidence.ledger)
    if count != len(evidence.made()):
        wrong.append("the peripherals made equal readings, which nothing can tell apart")
    if evidence.queue["records"] != count:
        wrong.append(f"{count} made, {evidence.queue['records']} in the queue")
    return wrong


def repeated_as_they_were(evidence):
    """Requests with one key have the same bytes, and records with one id the same content."""
    bodies, contents = defaultdict(set), defaultdict(set)
    for delivery in evidence.deliveries:
        bodies[delivery["key"]].add(delivery["digest"])
        for record in delivery["records"]:
            contents[record["id"]].add(record["digest"])
    return ([f"requests of key {key} differ" for key, found in bodies.items() if len(found) > 1 or key is None]
            + [f"records of id {id} differ" for id, found in contents.items() if len(found) > 1])


def events_have_no_gaps(evidence):
    """Numbers go up by one in each run, which begins with one that was told or with the next."""
    wrong, last, told = [], 0, {}
    for run, events in enumerate(evidence.runs, 1):
        previous = None
        for event in events:
            if "INGEST_SEQ" not in event:
                continue
            number = int(event["INGEST_SEQ"])
            if previous is None and number > last + 1 or previous is not None and number != previous + 1:
                wrong.append(f"run {run}: {number} after {last if previous is None else previous}")
            previous = number
            content = {name: value for name, value in event.items() if name != "__REALTIME_TIMESTAMP"}
            if told.setdefault(number, content) != content:
                wrong.append(f"run {run}: {number} told another thing before")
            last = max(last, number)
    if last != evidence.queue["last event"]:
        wrong.append(f"{last} is the last, of {evidence.queue['last event']}")
    return wrong


def told_once(evidence):
    """Each record is read once and submitted once, by the numbers of the events."""
    numbers = defaultdict(set)
    for event in (event for events in evidence.runs for event in events):
        if event["INGEST_EVENT"] in ("read", "submitted", "failed", "decode-error"):
            numbers[event["INGEST_EVENT"], event.get("INGEST_RECORD_ID")].add(event.get("INGEST_SEQ"))
    received = {tag(id, evidence.state) for ids in evidence.received().values() for id in ids}
    wrong = [f"{name} of {id}: {len(found)} times" for (name, id), found in numbers.items() if len(found) > 1]
    for name in ("read", "submitted"):
        ids = {id for told, id in numbers if told == name}
        wrong += [f"{id} was received, without {name}" for id in received - ids]
        wrong += [f"{id} was {name}, and not received" for id in ids - received]
    return wrong + [f"{name} of {id}" for name, id in numbers if name in ("failed", "decode-error")]


def queue_is_empty_and_sound(evidence):
    expected = {"integrity": "ok", "outbox": 0, "dead letters": 0, "undecoded": 0}
    return [f"{name}: {evidence.queue[name]}" for name, value in expected.items() if evidence.queue[name] != value]


def nothing_else_ended_it(evidence):
    return [f"a run ended by itself: {status}" for status in evidence.statuses]


CHECKS = [every_reading_arrived, no_reading_twice, none_invented, totals_are_equal, repeated_as_they_were,
          events_have_no_gaps, told_once, queue_is_empty_and_sound, nothing_else_ended_it]


def situations(evidence):
    """How often what the kills are meant to hit came to pass."""
    offers = Counter((entry["address"], entry["characteristic"], entry["hex"]) for entry in evidence.ledger
                     if entry["event"] == "offered" and entry["characteristic"] in ("2A1C", "2A35", "2A9D", "2A9C"))
    numbers = Counter(event["INGEST_SEQ"] for events in evidence.runs for event in events if "INGEST_SEQ" in event)
    known = {event["INGEST_SEQ"] for events in evidence.runs for event in events
             if event["INGEST_EVENT"] == "duplicate-ignored"}
    keys = Counter(delivery["key"] for delivery in evidence.deliveries)
    return {"readings offered again": sum(count > 1 for count in offers.values()),
            "of these in the queue already": len(known),
            "requests taken twice or more": sum(count > 1 for count in keys.values()),
            "events told again": sum(count > 1 for count in numbers.values()),
            "kills in three links or more": sum(count > 2 for count in evidence.links)}
