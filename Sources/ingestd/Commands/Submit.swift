import ArgumentParser
import FoundationEssentials
import IngestKit

/// `ingestd submit`: puts a measurement that somebody wrote into the queue.
struct Submit: AsynchronousCommand {
    static let configuration = CommandConfiguration(
        commandName: "submit",
        abstract: "Put a measurement that was read off by eye into the queue.",
        discussion: """
            It goes to the destinations like any reading. The same measurement of the same time and person is \
            taken once. Kinds, each with its units, of which the first is taken where none is written; a glucose \
            that may be in either needs its unit:

            \(EntryForm.all.map { "  \($0.name): \($0.unitNames)" }.joined(separator: "\n"))

            The running service takes it; where none runs it goes into the queue directly.
            """)

    @Argument(help: "What was measured, such as glucose or blood-pressure.")
    var kind: String

    @Argument(help: "The number, with the digits that were shown; of a blood pressure two, 120/80.")
    var value: String

    @Argument(help: "The unit, such as mmol/L.")
    var unit: String?

    @Option(help: "Beats a minute, measured with a blood-pressure or spo2.")
    var pulse: String?

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
            valueName: "file"))
    var image: String?

    @OptionGroup var service: ServiceOptions

    @Flag(help: "Print the result as one JSON object.")
    var json = false

    func serve() async throws {
        let environment = ProcessInfo.processInfo.environment
        let configuration = try service.configuration(environment: environment)
        let entry = try entry(in: try configuration.zone())
        let picture = try image.map(Self.read)
        let inlet = try await EntryInlet.open(
            configuration, isNamed: service.isNamed, environment: environment)
        let result: Result<ControlMessage.Entered, any Error>
        do {
            result = .success(try await inlet.enter([entry], image: picture))
        } catch {
            result = .failure(error)
        }
        await inlet.close()
        do {
            try tell(try result.get(), entry)
        } catch let failure as CommandFailure
            where time == nil && [.tryAgain, .unavailable].contains(failure.status)
        {
            // It may be in the queue all the same. Its moment is a part of its name.
            let moment = EntryTime(instant: entry.start, utcOffset: entry.utcOffset).text
            throw CommandFailure(
                failure.status,
                "\(failure.message); to try again, add --time \(moment), so that it counts once")
        }
    }

    private func entry(in zone: TimeZoneRules) throws(CommandFailure) -> RecordEntry {
        guard let form = EntryForm.named(kind) else {
            throw CommandFailure(
                .usage,
                "\(kind): expected one of \(EntryForm.all.map(\.name).joined(separator: ", "))")
        }
        try Self.check(subject: subject)
        let now = SystemClock().wallNanoseconds / 1_000_000_000
        var moment = EntryTime(instant: now, utcOffset: zone.offset(at: now))
        if let time {
            guard let written = EntryTime(time, in: zone) else {
                throw CommandFailure(
                    .usage, "--time \(time): expected such as 2026-11-20T09:15 or 2026-11-20T09:15:00+01:00")
            }
            // As far ahead as a device's clock may be.
            guard written.instant <= now + 300 else {
                throw CommandFailure(.badData, "--time \(time) is in the future")
            }
            moment = written
        }
        do {
            return .manual(
                form, try form.read(value, unit: unit, pulse: pulse), at: moment,
                isTimeWritten: time != nil, subject: subject)
        } catch {
            throw CommandFailure(.badData, error.description)
        }
    }

    static func check(subject: String?) throws(CommandFailure) {
        guard let subject, !DeadLetterSelection.isSubject(subject) else { return }
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

    private func tell(_ answer: ControlMessage.Entered, _ entry: RecordEntry) throws {
        let id = answer.last ?? ""
        if let error = answer.image?.error {
            StandardError.print("ingestd: \(error): the record goes without its image")
        }
        guard json else {
            var lines = [answer.added > 0 ? "In the queue as \(id)." : "Was in the queue already, as \(id)."]
            if let words = answer.image.flatMap(Self.words) { lines.append(words) }
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

    /// What became of the image; nil where it goes nowhere, which is said as an error.
    private static func words(for image: ControlMessage.EnteredImage) -> String? {
        if image.error != nil { return nil }
        return image.added
            ? "The image goes along to \(image.destinations.joined(separator: ", "))."
            : "The image was in the queue already."
    }
}
