"""What an import does, and what it says where it cannot."""

import json
import os
import random
import socket
import subprocess
import zipfile
from concurrent.futures import ThreadPoolExecutor

from kit.gateway import INGESTD, Failure, wait_until

from . import export
from .box import Box, expect

# More than the program and its libraries take, and far less than any document here.
MOST_MEMORY = 120


def whole(directory, records=1000, **options):
    path = directory / "export.zip"
    parts = [*export.heart_rates(records), *export.others()]
    return export.write(path, export.document(parts, **options)), {"heart-rate": records, **export.OTHERS}


def is_imported_once(directory):
    """Every record becomes one of its kind; a second time none does."""
    file, kinds = whole(directory)
    box = Box(directory)
    first = box.take(file, "--subject", "anna")
    expect((0, ""), (first.status, first.err), "the import")
    expect(kinds, first.result["kinds"], "the kinds found")
    expect((sum(kinds.values()), 0), (first.result["added"], first.result["known"]), "added and known")
    expect({"HKQuantityTypeIdentifierEnvironmentalAudioExposure": 10}, first.result["unknown"], "what has no kind")
    expect((0, 0), (first.result["loose_pressures"], first.result["unreadable"]), "left out")
    expect(kinds, box.kinds(), "the kinds in the queue")
    again = box.take(file, "--subject", "anna")
    expect((0, 0, sum(kinds.values())), (again.status, again.result["added"], again.result["known"]), "again")
    expect(kinds, box.kinds(), "the kinds in the queue, again")


def reads_a_document_with_a_translated_name(directory):
    """Phones name it in their language; the zip says that the name is UTF-8."""
    file = export.write(directory / "export.zip", export.document([export.quantity("BodyMass", "kg", 72, 0)]),
                        member="apple_health_export/\u5bfc\u51fa.xml")
    outcome = Box(directory).take(file)
    expect((0, 1), (outcome.status, outcome.result["added"]), outcome.err or "the import")


def is_read_from_a_path_that_no_terminal_shows(directory):
    """The joiner of an emoji, a soft hyphen: the file is opened twice under its own name."""
    file = export.write(directory / "fam\u200dily\u00ad.zip",
                        export.document([export.quantity("BodyMass", "kg", 72, 0)]))
    outcome = Box(directory).take(file)
    expect((0, 1), (outcome.status, outcome.result and outcome.result["added"]), outcome.err or "the import")


def leaves_out_what_no_record_holds(directory):
    """One odd number or date is counted, and all around it is taken."""
    good = [export.quantity("BodyMass", "kg", 72, place) for place in range(3)]
    odd = [export.quantity("StepCount", "count", "1.84467e+19", 0)]
    file = export.write(directory / "export.zip", export.document([*good, *odd]))
    outcome = Box(directory).take(file)
    expect((0, 3, 1), (outcome.status, outcome.result["added"], outcome.result["unreadable"]), outcome.err)


def is_in_any_order(directory):
    """The order in the document decides no id: equal samples of several sources, all of it shuffled."""
    records = [*export.heart_rates(200), *export.others()]
    equals = [export.quantity("DietaryProtein", "g", 6, place // 6).replace("Anna", "AEB"[place % 3])
              for place in range(60)]
    box = Box(directory)
    for seed, added in ((None, len(equals) + 200 + sum(export.OTHERS.values())), (1, 0), (2, 0)):
        parts = [*equals, *records]
        if seed:
            random.Random(seed).shuffle(parts)
        outcome = box.take(export.write(directory / "export.zip", export.document(parts)))
        expect((0, "", added), (outcome.status, outcome.err, outcome.result["added"]), f"the import of order {seed}")


def has_many_equals(directory):
    """So many equal samples that no memory holds them, of which each becomes a record."""
    count = int(os.environ.get("EQUALS", 20_000))
    parts = (export.quantity("DietaryProtein", "g", 6, 0).replace("10.1", str(number)) for number in range(count))
    outcome = Box(directory).take(export.write(directory / "export.zip", export.document(parts)))
    expect((0, "", count), (outcome.status, outcome.err, outcome.result["added"]), "the import")
    print(f"   {count} equal samples: {outcome.seconds:.0f} s, {outcome.memory:.0f} MiB of memory")
    if outcome.memory > MOST_MEMORY:
        raise Failure(f"{outcome.memory:.0f} MiB of memory")


def is_said_in_words(directory):
    file, _ = whole(directory, records=1)
    outcome = Box(directory).run("import", "apple-health", file)
    lines = outcome.out.splitlines()
    expect("127 new records; 0 were there already", lines[0], "the first line")
    expect("left out: 10, no kind stands for HKQuantityTypeIdentifierEnvironmentalAudioExposure", lines[-1], "the last line")


def takes_sets_and_since(directory):
    file, _ = whole(directory, records=1)
    box = Box(directory)
    some = box.take(file, "--sets", "weight,biometrics", "--since", "2019-01-10T00:00+01:00")
    expect({"weight": 11, "blood-pressure": 1}, some.result["kinds"], "the kinds found")
    rest = box.take(file)
    expect(127 - 12, rest.result["added"], "what the whole import adds")


def reads_the_document_alone(directory):
    """The export.xml, without its zip; with a note that has control characters, as exports of iOS 16 have."""
    file = directory / "export.xml"
    note = export.quantity("BodyMass", "kg", 72, 0, inside='  <MetadataEntry key="note" value="a\x0bb"/>\n')
    file.write_text("".join(export.document([note])))
    outcome = Box(directory).take(file)
    expect((0, 1), (outcome.status, outcome.result["added"]), outcome.err or "the import")


def goes_by_the_service(directory):
    """While the gateway runs, it takes the import, delivers it, and tells of each commit."""
    file, kinds = whole(directory)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    received = directory / "received"
    with received.open("wb") as out:
        receiver = subprocess.Popen([INGESTD, "receive", "--json", "--port", str(port)], stdout=out,
                                    stderr=subprocess.DEVNULL)
    box = Box(directory, f'[{{name: clinic, type: webhook, url: "http://127.0.0.1:{port}/"}}]')
    box.start()
    try:
        first = box.take(file)
        expect((0, sum(kinds.values())), (first.status, first.result["added"]), first.err or "the import")
        expect(0, box.take(file).result["added"], "again")
        wait_until(lambda: len(received.read_text().splitlines()) >= sum(kinds.values()), "what was imported")
        wait_until(lambda: box.events("imported"), "the event")
        box.stop()
    finally:
        box.kill()
        receiver.terminate()
        receiver.wait()
    records = [json.loads(line)["record"] for line in received.read_text().splitlines()]
    expect(sum(kinds.values()), len({record["id"] for record in records}), "different records received")
    expect({"historical"}, {record["stage"] for record in records}, "their stage")
    expect(sum(kinds.values()), told(box), "the sum of the events")
    expect(0, len(box.events("read")), "events of each")


def told(box):
    """How many records the events of imports tell of."""
    counts = [int(event["INGEST_COUNT"]) for event in box.events("imported")]
    if not all(0 < count <= 500 for count in counts):
        raise Failure(f"events of {counts}")
    return sum(counts)


def is_counted_by_the_service(directory):
    """Nobody tells the service what it took: not a client that lies, and not one that dies."""
    file, kinds = whole(directory, records=20_000)
    box = Box(directory)
    box.start()
    try:
        lie = b'{"added":14210}'
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(box.state / "control.sock"))
            client.sendall(b"POST /v1/imports HTTP/1.1\r\nHost: box\r\nContent-Type: application/json\r\n"
                           b"Content-Length: %d\r\n\r\n%s" % (len(lie), lie))
            expect("404", client.recv(4096).decode().split()[1], "the answer to a number")
        program = subprocess.Popen([INGESTD, "import", "apple-health", str(file), "--config", str(box.configuration)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: sum(box.kinds().values()) >= 2000, "a part of the import")
        program.kill()
        program.wait()
        box.stop()
    finally:
        box.kill()
    part = sum(box.kinds().values())
    if part >= sum(kinds.values()):
        raise Failure("the import was at its end")
    expect(part, told(box), "the sum of the events")


def shows_foreign_text(directory):
    """What a terminal would obey is shown, in words, in the result and in errors; as JSON it is the same text."""
    evil = "Evil\u009b2J\u202eType\u200b"
    file = export.write(directory / "export.zip", export.document(
        [export.quantity("BodyMass", "kg", 72, 0).replace("HKQuantityTypeIdentifierBodyMass", evil + "&#10;x")]))
    box = Box(directory)
    outcome = box.run("import", "apple-health", file)
    expect("left out: 1, no kind stands for Evil\\u009b2J\\u202eType\\u200b\\u000ax", outcome.out.splitlines()[-1],
           "the last line")
    result = box.take(file)
    expect({evil + "\nx": 1}, result.result["unknown"], "the same in JSON")
    expect([], [character for character in "\u009b\u202e\u200b" if character in result.out], "what is obeyed")
    outcome = box.run("import", "apple-health", directory / "a\u001b[2J\u202e.zip")
    expect_error(outcome, 66, "a\\u001b[2J\\u202e.zip: there is no such file")


def goes_on_after_a_fault(directory):
    """A zip that was not copied whole gives what it has; the whole one adds the rest."""
    file, kinds = whole(directory, records=20_000)
    content = file.read_bytes()
    broken = directory / "broken.zip"
    broken.write_bytes(content[: len(content) // 2])
    box = Box(directory)
    outcome = box.take(broken)
    expect_error(outcome, 65, "broken.zip: the zip is damaged or broken off")
    part = outcome.result["added"]
    if not 1000 < part < 20_000:
        raise Failure(f"{part} records of a half")
    rest = box.take(file)
    expect((0, sum(kinds.values()) - part, part), (rest.status, rest.result["added"], rest.result["known"]), "the rest")
    expect(kinds, box.kinds(), "the kinds in the queue")


def expect_error(outcome, status, words):
    expect(status, outcome.status, f"the exit status ({outcome.err})")
    expect(1, len(outcome.err.splitlines()), f"lines of {outcome.err}")
    if words not in outcome.err:
        raise Failure(f"expected {words!r} in {outcome.err!r}")
    if outcome.memory > MOST_MEMORY:
        raise Failure(f"{outcome.memory:.0f} MiB of memory")


def laughs(levels=30):
    entities = "".join(f'<!ENTITY l{level} "{f"&l{level - 1};" * 10 if level else "ha"}">\n' for level in range(levels))
    return f"{export.HEAD}<!DOCTYPE HealthData [\n{entities}]>\n"


def says_what_is_wrong(directory):
    """One line that names the file and the way out, and little memory, whatever the file is."""
    box = Box(directory)

    def refuses(status, words, parts=None, name="export.zip", arguments=()):
        file = directory / name
        if parts is not None:
            export.write(file, parts)
        expect_error(box.take(file, *arguments), status, words)

    good = [export.quantity("BodyMass", "kg", 72, 0)]
    refuses(66, "nothing.zip: there is no such file", name="nothing.zip")
    refuses(65, "this is no export of Apple Health", name="state")
    (directory / "empty.zip").write_bytes(b"")
    refuses(65, "this is no export of Apple Health", name="empty.zip")
    (directory / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + os.urandom(5000))
    refuses(65, "this is no export of Apple Health", name="picture.png")
    with zipfile.ZipFile(directory / "other.zip", "w") as archive:
        archive.writestr("readme.txt", "hello")
    refuses(65, "this is no export of Apple Health", name="other.zip")
    refuses(65, "this is no export of Apple Health", ["<ClinicalDocument/>"])
    refuses(65, "its document breaks off at line ", export.document(good, end=""))
    refuses(65, "line 17 of its document is no XML", export.document([*good, "</Nothing>\n"]))
    refuses(65, "its document defines entities", export.document(good, head=laughs()))
    refuses(65, "is no XML", export.document([export.quantity("BodyMass", "kg", "&l9;", 0)]))
    refuses(65, "is no XML", export.document([export.DOCUMENT_TYPE]))
    refuses(65, "nests elements too deeply", export.document(["<a>" * 10_000]))
    refuses(65, "has a tag of more than a megabyte",
            export.document(['<Record type="', *("x" * 1_000_000 for _ in range(300)), '"/>']))
    refuses(65, "has too many different names", export.document(f"<e{number}/>" for number in range(300_000)))
    refuses(65, "has too many different names",
            export.document(f'<Record x{number}="1"/>' for number in range(300_000)))
    file, _ = whole(directory, records=1)
    refuses(64, "--sets: there is no set steps: expected some of routine,diabetes,", name=file.name,
            arguments=("--sets", "weight,steps"))
    refuses(64, "--since yesterday: expected such as 2024-01-01", name=file.name, arguments=("--since", "yesterday"))


def is_not_drowned(directory):
    """What a hostile file says again and again takes no memory, in a zip and by itself."""
    box = Box(directory)

    def refuses(words, parts):
        parts = list(parts)
        file = export.write(directory / "export.zip", export.document(parts))
        expect_error(box.take(file), 65, words)
        bare = directory / "export.xml"
        with bare.open("w") as out:
            out.writelines(export.document(parts))
        expect_error(box.take(bare), 65, words)
        bare.unlink()

    def numbered(count, length):
        return (f"{'n' * length}{number}" for number in range(count))

    refuses("has a name of more than 256 bytes", (f"<{name}/>" for name in numbered(200, 1_000_000)))
    refuses("has a name of more than 256 bytes", (f'<Record {name}="1"/>' for name in numbered(200, 1_000_000)))
    refuses("has a tag with more than 64 attributes",
            ["<Record", *(f' {name}="1"' for name in numbered(1000, 10)), "/>"])
    refuses("takes more than 8 MiB of memory to read", ["<Record", *(f' a{n}=""' for n in range(80_000)), "/>"])
    for begin in ("<!--", "<?note ", '<Record type="', "<Record", "<"):
        refuses("has a tag of more than a megabyte", [begin, *("x" * 1_000_000 for _ in range(100))])
    # An export with more files than it can have, and one that is packed so that unpacking takes what it says.
    with zipfile.ZipFile(directory / "members.zip", "w") as archive:
        for number in range(60_000):
            archive.writestr(f"{number:0100}", b"")
    expect_error(box.take(directory / "members.zip"), 65, "the zip has more files in it than an export")
    with zipfile.ZipFile(directory / "lzma.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("export.xml", "<HealthData/>")
    expect_error(box.take(directory / "lzma.zip"), 65, "packed as no phone packs it")
    # What is read on, and kept no longer than it is of use: parts of parts, in long texts.
    head = f'<Correlation type="HKCorrelationTypeIdentifierBloodPressure" {export.dates(0)} sourceName="{"x" * 1000}">'

    def tree(depth):
        for _ in range(16):
            yield head
            if depth > 1:
                yield from tree(depth - 1)
            yield "</Correlation>"

    text = "x" * 1_000_000
    parts = [head, *tree(4), "</Correlation>", "<![CDATA[", *(text for _ in range(50)), "]]>", *(text for _ in range(50))]
    outcome = box.take(export.write(directory / "tree.zip", export.document(parts)))
    expect((0, 0), (outcome.status, outcome.result["added"]), outcome.err)
    if outcome.memory > MOST_MEMORY:
        raise Failure(f"{outcome.memory:.0f} MiB of memory")


def survives_a_bomb(directory):
    """A zip that unpacks to a thousand times its size is told of, and takes no memory."""
    parts = (" " * 1_000_000 for _ in range(400))
    file = export.write(directory / "bomb.zip", export.document(parts))
    outcome = Box(directory).run("import", "apple-health", file)
    expect(0, outcome.status, outcome.err)
    if "times its size, which is unusual" not in outcome.out or outcome.memory > MOST_MEMORY:
        raise Failure(f"{outcome.out} {outcome.memory:.0f} MiB")


def leaves_room_in_the_queue(directory):
    """An import stops before the queue is full: what peripherals send has the rest."""
    file, _ = whole(directory, records=30_000)
    box = Box(directory, '[{name: clinic, type: webhook, url: "http://127.0.0.1:9/"}]', size="16MiB")
    outcome = box.take(file)
    expect_error(outcome, 75, "the queue is nearly full of records that are not delivered")
    used = (box.state / "queue.db").stat().st_size / (16 << 20)
    if not 0.8 < used < 1:
        raise Failure(f"{used:.2f} of the queue is used")


def waits_for_room(directory):
    """By the service an import waits until a destination has taken some, and then goes on to its end."""
    file, kinds = whole(directory, records=25_000)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    box = Box(directory, f'[{{name: clinic, type: webhook, url: "http://127.0.0.1:{port}/"}}]', size="16MiB")
    box.start()
    (directory / "err").touch()
    receiver = None
    pool = ThreadPoolExecutor()
    try:
        outcome = pool.submit(box.take, file)
        wait_until(lambda: "waiting until destinations" in (directory / "err").read_text(), "the wait", seconds=120)
        receiver = subprocess.Popen([INGESTD, "receive", "--port", str(port)], stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
        outcome = outcome.result(timeout=300)
        expect((0, sum(kinds.values())), (outcome.status, outcome.result["added"]), outcome.err)
        expect(1, len(outcome.err.splitlines()), "lines that tell of it")
        box.stop()
    finally:
        # The import ends with it.
        box.kill()
        pool.shutdown()
        if receiver:
            receiver.terminate()
            receiver.wait()


def is_large(directory):
    """A document of BYTES bytes, in little memory: nine of ten records are of a set that is not asked for."""
    size = int(os.environ.get("BYTES", 8_000_000))
    heart_rate = len(next(export.heart_rates(1)).encode())
    # A share of weights that goes into the queue.
    weights = max(size // 5000, 1)
    count = max((size - weights * 330) // heart_rate, 1)

    def records():
        yield from export.heart_rates(count)
        for number in range(weights):
            yield export.quantity("BodyMass", "kg", f"{70 + number % 7}.{number % 100:02d}", number)

    file = export.write(directory / "large.zip", export.document(records()))
    box = Box(directory)
    outcome = box.take(file, "--sets", "weight")
    expect((0, ""), (outcome.status, outcome.err), "the import")
    expect((weights, count), (outcome.result["added"], outcome.result["unwanted"]), "added and left out")
    expect({"weight": weights}, box.kinds(), "the kinds in the queue")
    with zipfile.ZipFile(file) as archive:
        unpacked = archive.getinfo("apple_health_export/export.xml").file_size
    print(f"   {unpacked / 1e6:.0f} MB of XML with {weights + count} records, {weights} of them taken: "
          f"{outcome.seconds:.0f} s, {outcome.memory:.0f} MiB of memory")
    if outcome.memory > MOST_MEMORY:
        raise Failure(f"{outcome.memory:.0f} MiB of memory")


CASES = {"once": is_imported_once, "order": is_in_any_order, "equals": has_many_equals, "words": is_said_in_words,
         "sets": takes_sets_and_since,
         "document": reads_the_document_alone, "translated": reads_a_document_with_a_translated_name,
         "path": is_read_from_a_path_that_no_terminal_shows,
         "service": goes_by_the_service, "counted": is_counted_by_the_service, "shown": shows_foreign_text,
         "drowned": is_not_drowned, "fault": goes_on_after_a_fault,
         "errors": says_what_is_wrong, "odd": leaves_out_what_no_record_holds, "bomb": survives_a_bomb,
         "room": leaves_room_in_the_queue,
         "wait": waits_for_room, "large": is_large}
