import ArgumentParser
import FoundationEssentials

/// A measurement that somebody wrote: arguments of `ingestd submit`, or the words of a line that it reads.
struct WrittenEntry: ParsableArguments {
    /// In the place of a kind: the entries come on standard input.
    static let standardInput = "-"

    @Argument(
        help: "What was measured, such as glucose or blood-pressure; - reads standard input.",
        completion: .list(EntryForm.all.map(\.name)))
    var kind: String

    @Argument(help: "The number, with the digits that were shown; of a blood pressure two, 120/80.")
    var value: String?

    @Argument(help: "The unit, such as mmol/L.")
    var unit: String?

    @Option(help: "Beats a minute, measured with a blood-pressure or spo2.")
    var pulse: String?

    @Option(
        help: ArgumentHelp(
            "A glucose: before, after, fasting, random or bedtime. What was eaten: breakfast, lunch, dinner or snack.",
            valueName: "word"))
    var meal: String?

    @Option(
        help: ArgumentHelp(
            "When: 2026-11-20T09:15 by the gateway's clock, or with an offset such as +01:00. Default: now.",
            valueName: "time"))
    var time: String?

    @Option(help: "Whom it belongs to. Default: nobody, unassigned.")
    var subject: String?

    @Option(
        help: ArgumentHelp(
            "A photograph of the display, JPEG or PNG, 8 MiB at most, for destinations that take images (fhir).",
            valueName: "file"),
        completion: .file())
    var image: String?
}

/// `ingestd submit`: puts measurements that somebody wrote into the queue.
struct Submit: AsynchronousCommand {
    static let configuration = CommandConfiguration(
        commandName: "submit",
        abstract: "Put a measurement that was read off by eye into the queue.",
        usage: "ingestd submit - < file\n       ingestd submit KIND VALUE [UNIT] [options]",
        discussion: """
            With - it reads the measurements from standard input, one a line, in the same words as on the command \
            line, with quotation marks around what has blanks. \
            Arguments are seen by everybody on this box while the command runs, and some systems log them: what is \
            somebody's belongs on standard input. Of lines with a mistake none is taken.

            It goes to the destinations like any reading. The same measurement of the same time and person is \
            taken once. Kinds, each with its units, of which the first is taken where none is written; a glucose \
            that may be in either needs its unit:

            \(EntryForm.all.map { "  \($0.name): \($0.unitNames)" }.joined(separator: "\n"))

            The running service takes it; where none runs it goes into the queue directly. For example:

              ingestd submit glucose 5.4 mmol/L --time 2026-11-20T09:15
              ingestd submit - < measurements
              echo blood-pressure 120/80 --pulse 64 --subject patient-17 | ingestd submit -
            """)

    @OptionGroup var written: WrittenEntry

    @OptionGroup var service: ServiceOptions

    @Flag(help: "Print the result as one JSON object; of standard input one a line.")
    var json = false

    /// What goes into the queue.
    private struct Item {
        let entry: RecordEntry
        /// The file of its photograph, which is read when its turn comes: all of them may be large.
        let image: String?
        let isTimeWritten: Bool
    }

    func serve() async throws {
        let environment = ProcessInfo.processInfo.environment
        let configuration = try service.configuration(environment: environment)
        let zone = try configuration.zone()
        let items =
            try written.kind == WrittenEntry.standardInput ? lines(in: zone) : [item(of: written, in: zone)]
        let inlet = try await EntryInlet.open(
            configuration, isNamed: service.isNamed, environment: environment)
        let result: Result<Void, any Error>
        do {
            result = .success(try await enter(items, by: inlet, routings: configuration.routings))
        } catch {
            result = .failure(error)
        }
        await inlet.close()
        try result.get()
    }

    /// Puts the entries into the queue, one after the other, and prints a line for each.
    private func enter(
        _ items: [Item], by inlet: EntryInlet, routings: [DestinationRouting]
    ) async throws {
        for (index, item) in items.enumerated() {
            do {
                let answer = try await inlet.enter([item.entry], image: try item.image.map(Self.read))
                try tell(answer, of: item.entry, routings)
            } catch let failure as CommandFailure {
                var words = failure.message
                if items.count > 1 {
                    words = "\(index) of \(items.count) \(index == 1 ? "is" : "are") in the queue: \(words)"
                }
                if !item.isTimeWritten, [.tryAgain, .unavailable].contains(failure.status) {
                    // It may be in the queue all the same. Its moment is a part of its name.
                    let moment = EntryTime(instant: item.entry.start, utcOffset: item.entry.utcOffset).text
                    words += "; to try again, add --time \(moment), so that it counts once"
                }
                throw CommandFailure(failure.status, words)
            }
        }
    }

    // MARK: Standard input

    /// The most that is read, in bytes: more than anybody writes at once.
    private static let inputLimit = 1 << 20
    private static let lineLimit = 1000

    private func lines(in zone: TimeZoneRules) throws -> [Item] {
        guard written.value == nil, written.pulse == nil, written.meal == nil, written.time == nil,
            written.subject == nil, written.image == nil
        else {
            throw CommandFailure(.usage, "with - all of a measurement stands on its line of standard input")
        }
        var items: [Item] = []
        var mistakes: [CommandFailure] = []
        var (number, bytes) = (0, 0)
        while let line = readLine() {
            number += 1
            bytes += line.utf8.count
            guard bytes <= Self.inputLimit else {
                throw CommandFailure(.badData, "standard input: expected at most 1 MiB at once")
            }
            let place = "standard input, line \(number)"
            do {
                guard let words = Self.words(of: line) else {
                    throw CommandFailure(.badData, "a quotation mark is not closed")
                }
                guard !words.isEmpty else { continue }
                guard items.count < Self.lineLimit else {
                    throw CommandFailure(.badData, "expected at most \(Self.lineLimit) measurements at once")
                }
                items.append(try item(of: try Self.entry(of: words), in: zone))
            } catch let failure as CommandFailure {
                mistakes.append(CommandFailure(failure.status, "\(place): \(failure.message)"))
                if mistakes.count == 10 { break }
            }
        }
        if let first = mistakes.first {
            throw CommandFailure(first.status, mistakes.map(\.message).joined(separator: "\n"))
        }
        guard !items.isEmpty else {
            throw CommandFailure(.badData, "standard input: expected a measurement on a line")
        }
        return items
    }

    private static func entry(of words: [String]) throws(CommandFailure) -> WrittenEntry {
        do {
            return try WrittenEntry.parse(words)
        } catch {
            let line = WrittenEntry.message(for: error).split(separator: "\n").first.map(String.init)
            throw CommandFailure(.usage, line ?? "expected KIND VALUE [UNIT]")
        }
    }

    /// The words of a line; those with blanks stand in quotation marks of either kind. Nil where one is not closed.
    static func words(of line: String) -> [String]? {
        var words: [String] = []
        var word: String?
        var quote: Character?
        for character in line {
            if let open = quote {
                if character == open { quote = nil } else { word = (word ?? "") + String(character) }
            } else if character == "\"" || character == "'" {
                quote = character
                word = word ?? ""
            } else if character.isWhitespace {
                if let word { words.append(word) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        guard quote == nil else { return nil }
        return words + (word.map { [$0] } ?? [])
    }

    // MARK: A measurement

    private func item(of written: WrittenEntry, in zone: TimeZoneRules) throws(CommandFailure) -> Item {
        let entry = try entry(of: written, in: zone)
        // A mistake is told before anything is in the queue.
        if let image = written.image { _ = try Self.read(image: image) }
        return Item(entry: entry, image: written.image, isTimeWritten: written.time != nil)
    }

    private func entry(of written: WrittenEntry, in zone: TimeZoneRules) throws(CommandFailure) -> RecordEntry
    {
        guard let form = EntryForm.named(written.kind) else {
            throw CommandFailure(
                .usage,
                "\(written.kind): expected one of \(EntryForm.all.map(\.name).joined(separator: ", "))")
        }
        guard let value = written.value else {
            throw CommandFailure(.usage, "\(written.kind): expected a value behind it")
        }
        try Self.check(subject: written.subject)
        let now = SystemClock().wallNanoseconds / 1_000_000_000
        var moment = EntryTime(instant: now, utcOffset: zone.offset(at: now))
        if let time = written.time {
            guard let written = EntryTime(time, in: zone) else {
                throw CommandFailure(
                    .usage, "--time \(time): expected such as 2026-11-20T09:15 or 2026-11-20T09:15:00+01:00")
            }
            guard !written.isSkipped else {
                throw CommandFailure(
                    .badData,
                    "--time \(time) never was: the gateway's zone put its clocks forward over it; add the offset "
                        + "that is meant, such as +01:00")
            }
            // As far ahead as a device's clock may be.
            guard written.instant <= now + 300 else {
                throw CommandFailure(.badData, "--time \(time) is in the future")
            }
            moment = written
        }
        do {
            return .manual(
                form, try form.read(value, unit: written.unit, pulse: written.pulse),
                flags: try form.flags(meal: written.meal), at: moment, isTimeWritten: written.time != nil,
                subject: written.subject)
        } catch {
            throw CommandFailure(.badData, error.description)
        }
    }

    static func check(subject: String?) throws(CommandFailure) {
        guard let subject, !Subject.isName(subject) else { return }
        throw CommandFailure(.usage, "--subject: expected the name of a person, as in the configuration")
    }

    private static func read(image path: String) throws(CommandFailure) -> ControlMessage.Image {
        do {
            let image = try EntryImage.read(path: path)
            return ControlMessage.Image(type: image.type, data: image.data)
        } catch {
            throw CommandFailure(error == .unreadable ? .noInput : .badData, "--image \(path): \(error)")
        }
    }

    private func tell(
        _ answer: ControlMessage.Entered, of entry: RecordEntry, _ routings: [DestinationRouting]
    ) throws {
        let id = answer.last ?? ""
        if let error = answer.image?.error {
            StandardError.print("ingestd: \(error): the record goes without its image")
        }
        guard json else {
            var lines = [TerminalText.line(Self.text(of: entry))]
            lines.append(answer.added > 0 ? "In the queue as \(id)." : "Was in the queue already, as \(id).")
            let takers = routings.filter { $0.acceptsEntries(of: entry.kind) }.map(\.name)
            lines.append(
                takers.isEmpty
                    ? "It goes nowhere: no destination takes \(entry.kind.rawValue)."
                    : "It goes to \(takers.joined(separator: ", ")).")
            if let words = answer.image.flatMap(Self.message) { lines.append(words) }
            return try StandardOutput.write(lines.joined(separator: "\n") + "\n")
        }
        var text = JSONText()
        text.beginObject()
        text.member("id", id)
        text.member("added", answer.added > 0)
        if let image = answer.image {
            text.key("image")
            text.beginObject()
            text.member("added", image.added)
            text.member("destinations", image.destinations)
            if let error = image.error { text.member("error", error) }
            text.endObject()
        }
        text.endObject()
        try StandardOutput.write(text.string + "\n")
    }

    /// The measurement as it was understood: values, time and person.
    private static func text(of entry: RecordEntry) -> String {
        let values = (entry.values.map { "\($0.type) \($0.number) \($0.unit)" } + entry.flags)
            .joined(separator: ", ")
        let moment = EntryTime(instant: entry.start, utcOffset: entry.utcOffset).text
        return "\(values), measured \(moment), of \(entry.subject ?? "nobody (unassigned)")."
    }

    /// What became of the image; nil where it goes nowhere, which is said as an error.
    private static func message(for image: ControlMessage.EnteredImage) -> String? {
        if image.error != nil { return nil }
        return image.added
            ? "The image goes along to \(image.destinations.joined(separator: ", "))."
            : "The image was in the queue already."
    }
}
