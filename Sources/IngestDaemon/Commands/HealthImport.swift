import ExportBridge

/// One import of an export of HealthKit: reads it to count what is equal, then again, and has each batch committed before
/// it reads on. JSON of Health Auto Export is looked through before that (`AutoExportReader`).
final class HealthImport {
    /// Records in one commit: enough that its sync does not matter, and few enough that a reading that comes meanwhile
    /// does not wait.
    private static let batch = 500
    /// How often it is tried again while the queue is nearly full.
    private static let pause = Duration.seconds(10)
    /// From here on a zip's compression is worth a word; XML of samples packs to a thirtieth.
    private static let remarkableRatio = 200.0

    /// What becomes of the entries.
    enum Way {
        /// They are counted, and nothing else.
        case dryRun
        /// - Parameter waits: whether it waits while the service has no room for more: its destinations make some.
        case queue(EntryInlet, waits: Bool)
    }

    private let export: HealthExport
    private let subject: String?
    private let way: Way
    private let progress: ProgressLine
    /// How often the document is read.
    private let passes: Int
    /// For each time that the document is read.
    private var parsers: [ExportParser] = []
    private var added = 0
    private var given = 0
    private var ratio = 0.0

    /// - Parameter isJSON: of the file that is read then.
    init(
        _ selection: HealthExport.Selection, isJSON: Bool, by way: Way, progress: ProgressLine
    ) throws(CommandFailure) {
        export = HealthExport(selection, equalSamples: TemporarySamples.init)
        subject = selection.subject
        self.way = way
        self.progress = progress
        passes = isJSON ? 3 : 2
        let reader = AutoExportReader(export)
        for _ in 0..<passes {
            do throws(XMLError) {
                parsers.append(
                    isJSON
                        ? .json(JSONStream(reader), reader)
                        : .xml(try XMLStream(Handler(export: export))))
            } catch {
                throw CommandFailure(.tryAgain, "there is no memory left to read the export with")
            }
        }
    }

    private final class Handler: XMLHandler {
        let export: HealthExport

        init(export: HealthExport) {
            self.export = export
        }

        func wantsAttributes(of element: String) -> Bool { HealthExport.isOfUse(element) }
        func begin(_ element: String, _ attributes: [String: String]) { export.begin(element, attributes) }
        func end(_ element: String) { export.end(element) }
    }

    /// Reads to the end, or as far as it goes.
    /// - Returns: why it did not go on.
    func read(_ first: ExportFile) async -> (any Error)? {
        var failure: (any Error)?
        do {
            try await readAll(first)
        } catch {
            failure = error
        }
        do {
            // What came before the fault is whole.
            if !(failure is ControlMessage.Refusal) { try await giveRest() }
        } catch {
            failure = failure ?? error
        }
        progress.end(records: failure == nil ? given : nil)
        return switch failure {
        case let refusal as ControlMessage.Refusal: CommandFailure(refusal)
        case let failure as HealthExport.Failure: Self.failure(failure, TerminalText.line(first.path))
        default: failure
        }
    }

    private func readAll(_ first: ExportFile) async throws {
        var file = first
        for (pass, parser) in parsers.dropLast().enumerated() {
            if pass > 0 { file = try again(first) }
            // What is wrong with the document is found again, and told then.
            while (try? file.feed(parser)) ?? false { show(pass, file) }
            if case .json(_, let reader) = parser { reader.beginAgain() }
        }
        export.beginAgain()
        progress.beginPace(at: Double(passes - 1) / Double(passes))
        file = try again(first)
        defer { ratio = file.ratio }
        while try file.feed(parsers[passes - 1]) {
            if export.entryCount >= Self.batch { try await give() }
            show(passes - 1, file)
        }
    }

    private func again(_ first: ExportFile) throws -> ExportFile {
        let file = try ExportFile(first.path)
        guard file.isJSON == first.isJSON else { throw HealthExport.Failure.changed }
        return file
    }

    private func show(_ pass: Int, _ file: ExportFile) {
        progress.show((Double(pass) + file.progress) / Double(passes), records: given)
    }

    private static func failure(_ failure: HealthExport.Failure, _ path: String) -> CommandFailure {
        switch failure {
        case .changed:
            CommandFailure(
                .badData,
                "\(path): it was changed while it was read: import it again; what was imported stays, and is not "
                    + "doubled")
        case .noTemporaryFile(let words):
            CommandFailure(
                .tryAgain,
                "a temporary file for the import cannot be written (\(words)): make room, or name another directory "
                    + "in the environment variable TMPDIR")
        }
    }

    private func giveRest() async throws {
        try await give()
        while case let entries = try export.takeEqualEntries(Self.batch), !entries.isEmpty {
            try await give(entries)
        }
    }

    private func give() async throws {
        switch way {
        case .dryRun:
            given += export.entryCount
            try export.dropEntries()
        case .queue: try await give(try export.takeEntries())
        }
    }

    private func give(_ taken: [RecordEntry]) async throws {
        guard case .queue(let inlet, let waits) = way else { return }
        var entries = taken[...]
        while !entries.isEmpty {
            let answer = try await enter(Array(entries.prefix(Self.batch)), inlet, waits: waits)
            added += answer.added
            given += min(entries.count, Self.batch)
            entries = entries.dropFirst(Self.batch)
        }
    }

    private func enter(
        _ entries: [RecordEntry], _ inlet: EntryInlet, waits: Bool
    ) async throws -> ControlMessage.Entered {
        while true {
            do {
                return try await inlet.enter(entries)
            } catch let refusal as ControlMessage.Refusal {
                guard waits, case .service = inlet else { throw refusal }
                progress.note("the queue is nearly full: waiting until destinations have taken some of it")
                try await Task.sleep(for: Self.pause)
            }
        }
    }

    // MARK: What came of it

    private var sums: [(name: String, count: Int)] {
        let tally = export.tally
        let left = [
            ("earlier", tally.earlier), ("unwanted", tally.unwanted), ("unreadable", tally.unreadable),
            ("summarised", tally.summarised), ("loose-pressures", max(0, tally.loosePressures)),
        ]
        return (isDryRun ? [("records", given)] : [("added", added), ("known", given - added)]) + left
    }

    private var isDryRun: Bool {
        if case .dryRun = way { true } else { false }
    }

    private var unknown: [(name: String, count: Int)] {
        let tally = export.tally
        let units = tally.unknownUnits.map { ("unit \($0.key)", $0.value) }
        let others = tally.otherUnknown > 0 ? [("others", tally.otherUnknown)] : []
        return (tally.unknown.map { ($0.key, $0.value) } + units).sorted { $0.0 < $1.0 } + others
    }

    var json: String {
        var text = JSONText()
        text.beginObject()
        if isDryRun {
            text.member("dry_run", true)
            if let subject { text.member("subject", subject) }
            if let first = export.tally.first { text.member("first", first.text) }
            if let last = export.tally.last { text.member("last", last.text) }
        }
        for (name, count) in sums { text.member(name.replacing("-", with: "_"), count) }
        text.key("kinds")
        text.beginObject()
        for (kind, count) in export.tally.taken.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            text.member(kind.rawValue, count)
        }
        text.endObject()
        text.key("unknown")
        text.beginObject()
        for (name, count) in unknown {
            text.key(foreign: name)
            text.value(count)
        }
        text.endObject()
        text.endObject()
        return text.string
    }

    private var dryLines: [String] {
        var lines = ["dry run: nothing was put into the queue"]
        let owner = subject.map(TerminalText.line) ?? "nobody (unassigned)"
        lines.append(
            "\(given.counted("record")) to submit, of \(owner); what was submitted already is not again")
        if let first = export.tally.first, let last = export.tally.last {
            lines.append("measured from \(first.text) to \(last.text)")
        }
        return lines
    }

    private func words(_ added: Int, _ known: Int) -> String {
        "\(added.counted("new record")); \(known.counted("was", "were")) there already"
    }

    /// One line without what is in the document, for the journal.
    var summary: String {
        let tally = export.tally
        let left =
            tally.earlier + tally.unwanted + tally.unreadable + tally.summarised
            + max(0, tally.loosePressures) + unknown.reduce(0) { $0 + $1.count }
        return words(added, given - added) + (left > 0 ? "; \(left) left out" : "")
    }

    /// Some lines.
    var message: String {
        let tally = export.tally
        let kinds = tally.taken.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { "\($0.key.rawValue) \($0.value)" }
        var lines = isDryRun ? dryLines : [words(added, given - added)]
        if !kinds.isEmpty { lines.append("found: " + kinds.joined(separator: ", ")) }
        let rest = [
            (tally.earlier, "from before --since"), (tally.unwanted, "of sets that were not asked for"),
            (tally.unreadable, "without a date or a number that can be read"),
            (tally.summarised, "added up or averaged over a time, and no sample"),
            (max(0, tally.loosePressures), "a pressure that belongs to no blood pressure"),
        ]
        for (count, words) in rest where count > 0 { lines.append("left out: \(count), \(words)") }
        for (name, count) in unknown {
            lines.append("left out: \(count), no kind stands for \(TerminalText.line(name))")
        }
        if ratio > Self.remarkableRatio {
            lines.append("the zip unpacks to \(Int(ratio)) times its size, which is unusual")
        }
        return lines.map { $0 + "\n" }.joined()
    }
}
