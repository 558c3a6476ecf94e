"""What becomes of the JSON of Health Auto Export, of a dry run, and of a folder of exports."""

import json
import os
import shutil
import socket
import subprocess
import threading
import time

from kit.gateway import INGESTD, Failure, wait_until

from . import app
from .box import Box, expect
from .cases import MOST_MEMORY, expect_error, whole


def is_imported_once(directory):
    """Every sample becomes one record of its kind; a second time none does, whatever the order is."""
    box = Box(directory)
    file = app.write(directory / "HealthAutoExport.json", app.document())
    first = box.take(file, "--subject", "anna")
    expect((0, ""), (first.status, first.err), "the import")
    expect(app.KINDS, first.result["kinds"], "the kinds found")
    expect((sum(app.KINDS.values()), 0), (first.result["added"], first.result["known"]), "added and known")
    expect(({"handwashing": 1}, 0, 0), tuple(first.result[name] for name in ("unknown", "unreadable", "summarised")),
           "left out")
    expect(app.KINDS, box.kinds(), "the kinds in the queue")
    content = app.document()
    content["data"] = dict(reversed(content["data"].items()))
    content["data"]["metrics"] = [dict(reversed(one.items())) for one in reversed(content["data"]["metrics"])]
    again = box.take(app.write(file, content), "--subject", "anna")
    expect((0, 0, sum(app.KINDS.values())), (again.status, again.result["added"], again.result["known"]), "again")


def leaves_out_sums(directory):
    """What the app adds up or averages is counted, and is no record."""
    hours = [app.metric("step_count", "count", *(app.sample(812, 3600 * n) for n in range(5))),
             app.metric("heart_rate", "count/min", {"Min": 55, "Avg": 61.5, "Max": 90, "date": app.date(0)}),
             app.metric("sleep_analysis", "hr", {"date": "2024-02-06", "totalSleep": 7.5, "core": 4})]
    outcome = Box(directory).run("import", "apple-health", app.write(directory / "a.json", app.document(hours, [])))
    expect((0, ""), (outcome.status, outcome.err), "the import")
    expect(["0 new records; 0 were there already",
            "left out: 7, added up or averaged over a time, and no sample"], outcome.out.splitlines(), "what it says")


def goes_by_the_service(directory):
    """The running service takes it and delivers it, with the digits of the document."""
    with serving(directory) as (box, received):
        outcome = box.take(app.write(directory / "a.json", app.document()), "--subject", "anna")
        expect((0, sum(app.KINDS.values())), (outcome.status, outcome.result["added"]), outcome.err or "the import")
        wait_until(lambda: len(received()) >= sum(app.KINDS.values()), "what was imported")
        records = received()
    expect(sum(app.KINDS.values()), len({record["id"] for record in records}), "different records received")
    expect({("historical", "anna")}, {(record["stage"], record["subject"]) for record in records}, "stage and person")
    weights = {record["measurements"][0]["value"] for record in records if record["kind"] == "weight"}
    expect({str(70.25 + n) for n in range(20)}, weights, "the weights")


def is_run_dry(directory):
    """A dry run says what an import would submit, and makes not even a queue."""
    box = Box(directory)
    file = app.write(directory / "a.json", app.document())
    archive, kinds = whole(directory, records=30)
    for source, found in ((file, app.KINDS), (archive, kinds)):
        outcome = box.take(source, "--dry-run", "--subject", "anna")
        expect((0, ""), (outcome.status, outcome.err), "the dry run")
        expect((True, "anna", sum(found.values()), found),
               tuple(outcome.result[name] for name in ("dry_run", "subject", "records", "kinds")), "what it says")
        expect([], os.listdir(box.state), "what is in the state directory")
    outcome = box.run("import", "apple-health", file, "--dry-run")
    expect(["dry run: nothing was put into the queue",
            "151 records to submit, of nobody (unassigned); what was submitted already is not again",
            "measured from 2019-01-01T00:00:00+01:00 to 2019-01-20T00:00:11+01:00"],
           outcome.out.splitlines()[:3], "the first lines")
    expect("left out: 1, no kind stands for handwashing", outcome.out.splitlines()[-1], "the last line")
    expect(151, box.take(file).result["added"], "what the import adds then")
    broken = directory / "broken.json"
    broken.write_bytes(file.read_bytes()[:-100])
    expect_error(box.take(broken, "--dry-run"), 65, "its document breaks off at byte")


def says_what_is_wrong(directory):
    """One line that names the file and the way out, and little memory, whatever the document is."""
    box = Box(directory)
    file = directory / "a.json"

    def refuses(words, content, status=65):
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        expect_error(box.take(file), status, words)

    good = json.dumps(app.document())
    refuses("its document breaks off at byte", good[:-1])
    refuses("its document breaks off at byte", good[:2000])
    refuses("its document breaks off at byte 1", "{")
    refuses("byte 2 of its document is no JSON", "{a")
    refuses("is no JSON", good.replace("70.25", "070.25"))
    refuses("is no JSON", good + "x")
    refuses("is no UTF-8", good.encode().replace(b"Scale", b"Sc\xffle").replace(b"Outdoor", b"\xc3utdoor"))
    refuses("this is no export of Apple Health", good.encode("utf-16"))
    refuses("this is no export of Apple Health", "[1]")
    refuses("this is no export of Apple Health", '{"metrics":[]}')
    refuses("nests objects too deeply", '{"data":' + "[" * 1_000_000)
    refuses("nests objects too deeply", '{"data":' + '{"a":' * 1_000_000)

    def takes(content, **expected):
        file.write_text(content)
        outcome = box.take(file)
        expect((0, ""), (outcome.status, outcome.err), "the import")
        expect(expected, {name: outcome.result[name] for name in expected}, "what it says")
        if outcome.memory > MOST_MEMORY:
            raise Failure(f"{outcome.memory:.0f} MiB of memory")

    takes('{"data":{}}', added=0)
    weight = '{"data":{"metrics":[{"name":"weight_body_mass","units":"kg","data":[%s]}]}}'
    one = '{"date":"2024-02-06 14:30:07 +0000","qty":%s}'
    odd = ["9" * 20, "1e400", "-5", "0", '"72"', "null", "[1]", "{}", "9" * 1_000_000, '"' + "9" * 1_000_000 + '"']
    takes(weight % ",".join(one % number for number in odd), added=0, unreadable=len(odd))
    takes(weight % f'{one % 72},7,null,"x",[[]]', added=1, unreadable=4)
    # A text of 20 MB, a name of 20 MB, and more metrics than any document has.
    big = "x" * 20_000_000
    takes(weight % f'{{"source":"{big}","{big}":1,"date":"2024-02-06 14:30:08 +0000","qty":72}}', added=1)
    takes('{"data":{"metrics":[%s]}}' % ",".join('{"name":"n%d","data":[{}]}' % n for n in range(100_000)), added=0)
    takes('{"data":{%s}}' % ",".join('"n%d":[{}]' % n for n in range(100_000)), added=0)


def is_large(directory):
    """A document of BYTES bytes, in little memory: nearly all of it is of a set that is not asked for."""
    file = directory / "large.json"
    heart_rates, weights = app.write_large(file, int(os.environ.get("BYTES", 8_000_000)))
    box = Box(directory)
    outcome = box.take(file, "--sets", "weight")
    expect((0, ""), (outcome.status, outcome.err), "the import")
    expect((weights, heart_rates), (outcome.result["added"], outcome.result["unwanted"]), "added and left out")
    expect({"weight": weights}, box.kinds(), "the kinds in the queue")
    print(f"   {file.stat().st_size / 1e6:.0f} MB of JSON with {weights + heart_rates} samples, {weights} of them taken: "
          f"{outcome.seconds:.0f} s, {outcome.memory:.0f} MiB of memory")
    if outcome.memory > MOST_MEMORY:
        raise Failure(f"{outcome.memory:.0f} MiB of memory")


# MARK: The folder


class Folder:
    def __init__(self, directory):
        self.path = directory / "folder"
        (self.path / "incoming").mkdir(parents=True)

    def put(self, name, content):
        """As a sync client does: written under a hidden name, then renamed."""
        hidden = self.path / "incoming" / f".{name}.tmp"
        if isinstance(content, bytes):
            hidden.write_bytes(content)
        else:
            app.write(hidden, content)
        hidden.rename(self.path / "incoming" / name)

    def files(self, place):
        return sorted(os.listdir(self.path / place))


def weight(number, second):
    return app.document([app.metric("weight_body_mass", "kg", app.sample(number, second))], [])


def takes_a_folder(directory):
    """Each file once; a bad one is told and put aside; one that comes meanwhile is found; one that grows is waited for."""
    folder = Folder(directory)
    with serving(directory) as (box, received):
        folder.put("a.json", weight(71.5, 1))
        folder.put("broken.json", json.dumps(weight(79.75, 2)).encode()[:-30])
        folder.put("picture.zip", b"PNG")
        shutil.copy(whole(directory, records=1)[0], folder.path / "incoming" / "export.zip")
        (folder.path / "incoming" / "link.json").symlink_to("/etc/passwd")
        (folder.path / "incoming" / ".hidden.json").write_text("{")
        (folder.path / "incoming" / "part.json.part").write_text("{")
        text = json.dumps(weight(73.5, 3))
        growing = folder.path / "incoming" / "growing.json"

        def grow():
            for part in range(0, len(text), len(text) // 8 + 1):
                with growing.open("a") as file:
                    file.write(text[part:part + len(text) // 8 + 1])
                time.sleep(2)

        writer = threading.Thread(target=grow)
        later = threading.Timer(5, lambda: folder.put("later.json", weight(72.5, 4)))
        writer.start()
        later.start()
        outcome = box.run("import", "folder", folder.path, "--subject", "anna")
        writer.join()
        expect(0, outcome.status, f"the exit status ({outcome.err})")
        expect(["a.json", "export.zip", "growing.json", "later.json"], folder.files("done"), "done")
        expect(["broken.json", "link.json", "picture.zip"], folder.files("bad"), "bad")
        expect([".hidden.json", "part.json.part"], folder.files("incoming"), "left in incoming")
        wait_until(lambda: len(received()) >= 3 + 127, "what was imported")
        weights = {record["measurements"][0]["value"]: record["subject"] for record in received()
                   if record["kind"] == "weight"}
        expect({"anna"}, set(weights.values()), "whose they are")
        if not {"71.5", "72.5", "73.5"} <= set(weights):
            raise Failure(f"weights {weights}")
        lines = outcome.err.splitlines()
        expect(7, len(lines), f"lines of {outcome.err}")
        for words in ("a.json is in done now: 1 new record; 0 were there already",
                      "broken.json is in bad now: its document breaks off at byte",
                      "link.json is in bad now: it is no regular file",
                      "picture.zip is in bad now: this is no export of Apple Health"):
            expect(1, len([line for line in lines if words in line]), f"lines with {words!r} in {outcome.err}")
        if "79.75" in outcome.err + outcome.out:
            raise Failure("a measured number is told")
        # The same once more, under its name: nothing comes twice, and it takes the other's place.
        folder.put("a.json", weight(71.5, 1))
        outcome = box.run("import", "folder", folder.path, "--subject", "anna")
        expect((0, "ingestd: a.json is in done now: 0 new records; 1 was there already\n"),
               (outcome.status, outcome.err), "again")
        expect(0, box.run("import", "folder", folder.path).status, "an empty folder")


def leaves_what_cannot_be_taken(directory):
    """While no service runs, and while its queue has no room, a file stays, and is taken later."""
    folder = Folder(directory)
    box = Box(directory, '[{name: clinic, type: webhook, url: "http://127.0.0.1:9/"}]', size="16MiB")
    folder.put("a.json", weight(71.5, 1))
    expect_error(box.run("import", "folder", folder.path), 69, "no service listens at")
    expect((["a.json"], []), (folder.files("incoming"), folder.files("done")), "the folder")
    expect([], os.listdir(box.state), "what is in the state directory")
    box.start()
    try:
        expect(0, box.run("import", "folder", folder.path).status, "the exit status")
        expect(([], ["a.json"]), (folder.files("incoming"), folder.files("done")), "the folder")
        many = app.metric("weight_body_mass", "kg", *(app.sample(70, 60 * n + 1) for n in range(30_000)))
        folder.put("many.json", app.document([many], []))
        outcome = box.run("import", "folder", folder.path)
        expect(75, outcome.status, outcome.err)
        expect((["many.json"], ["a.json"]), (folder.files("incoming"), folder.files("done")), "the folder")
        box.stop()
    finally:
        box.kill()
    expect_error(box.run("import", "folder", directory / "nowhere"), 66, "there is no such directory")


# MARK: A gateway and its backend


class serving:
    """A gateway that runs, and what its backend has got, numbers with their digits."""

    def __init__(self, directory):
        self.directory = directory

    def __enter__(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.received = self.directory / "received"
        with self.received.open("wb") as out:
            self.receiver = subprocess.Popen([INGESTD, "receive", "--json", "--port", str(port)], stdout=out,
                                             stderr=subprocess.DEVNULL)
        self.box = Box(self.directory, f'[{{name: clinic, type: webhook, url: "http://127.0.0.1:{port}/"}}]')
        self.box.start()
        return self.box, self.records

    def records(self):
        return [json.loads(line, parse_float=str, parse_int=str)["record"]
                for line in self.received.read_text().splitlines()]

    def __exit__(self, kind, *rest):
        try:
            if kind is None:
                self.box.stop()
        finally:
            self.box.kill()
            self.receiver.terminate()
            self.receiver.wait()


CASES = {"app": is_imported_once, "app-sums": leaves_out_sums, "app-service": goes_by_the_service,
         "dry-run": is_run_dry, "app-errors": says_what_is_wrong, "folder": takes_a_folder,
         "folder-left": leaves_what_cannot_be_taken, "app-large": is_large}
