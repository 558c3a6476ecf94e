import ExportBridge

/// One import of an Apple Health export: reads it once to count what is equal, then again, and has each batch committed
/// before it reads on.
final class HealthImport {
    /// Records in one commit: enough that its sync does not matter, and few enough that a reading that comes meanwhile
    /// does not wait.
    private static let batch = 500
    /// How often it is tried again while the queue is nearly full.
    private static let pause = Duration.seconds(10)
    /// From here on a zip's compression is worth a word; XML of samples packs to a thirtieth.
    private static let remarkableRatio = 200.0

    private let export: HealthExport
    private let inlet: EntryInlet
    private let progress: ProgressLine
    private let counter: XMLStream
    private let parser: XMLStream
    private var added = 0
    private var given = 0
    private var ratio = 0.0

    init(
        _ selection: HealthExport.Selection, into inlet: EntryInlet, progress: ProgressLine
    ) throws(CommandFailure) {
        export = HealthExport(selection, equalSamples: TemporarySamples.init)
        do throws(XMLError) {
            counter = try XMLStream(Handler(export: export))
            parser = try XMLStream(Handler(export: export))
        } catch {
            throw CommandFailure(.tryAgain, "there is no memory left to read the export with")
        }
        self.inlet = inlet
        self.progress = progress
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
        count(first)
        progress.beginPace(at: 0.5)
        let file: ExportFile
        do {
            file = try ExportFile(first.path)
        } catch {
            return error
        }
        var failure: (any Error)?
        do {
            while try file.feed(parser) {
                if export.entryCount >= Self.batch { try await give(try export.takeEntries()) }
                progress.show((1 + file.progress) / 2, records: given)
            }
        } catch {
            failure = error
        }
        do {
            // What came before the fault is whole.
            if !(failure is ControlMessage.Refusal) { try await giveRest() }
        } catch {
            failure = failure ?? error
        }
        ratio = file.ratio
        progress.end(records: failure == nil ? given : nil)
        return switch failure {
        case let refusal as ControlMessage.Refusal: CommandFailure(refusal)
        case let failure as HealthExport.Failure: Self.failure(failure, TerminalText.line(first.path))
        default: failure
        }
    }

    /// Counts equal samples. What is wrong with the document is found again, and told then.
    private func count(_ file: ExportFile) {
        while (try? file.feed(counter)) ?? false { progress.show(file.progress / 2, records: 0) }
        export.beginAgain()
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
        try await give(try export.takeEntries())
        while true {
            let entries = try export.takeEqualEntries(Self.batch)
            if entries.isEmpty { return }
            try await give(entries)
        }
    }

    private func give(_ taken: [RecordEntry]) async throws {
        var entries = taken[...]
        while !entries.isEmpty {
            let answer = try await enter(Array(entries.prefix(Self.batch)))
            added += answer.added
            given += min(entries.count, Self.batch)
            entries = entries.dropFirst(Self.batch)
        }
    }

    /// Waits while the service has no room for more: its destinations make some.
    private func enter(_ entries: [RecordEntry]) async throws -> ControlMessage.Entered {
        while true {
            do {
                return try await inlet.enter(entries)
            } catch let refusal as ControlMessage.Refusal {
                guard case .service = inlet else { throw refusal }
                progress.note("the queue is nearly full: waiting until destinations have taken some of it")
                try await Task.sleep(for: Self.pause)
            }
        }
    }

    // MARK: What came of it

    private var sums: [(name: String, count: Int)] {
        let tally = export.tally
        return [
            ("added", added), ("known", given - added), ("earlier", tally.earlier),
            ("unwanted", tally.unwanted), ("unreadable", tally.unreadable),
            ("loose-pressures", max(0, tally.loosePressures)),
        ]
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

    /// Some lines.
    var message: String {
        let tally = export.tally
        let kinds = tally.taken.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { "\($0.key.rawValue) \($0.value)" }
        var lines = [
            "\(added.counted("new record")); \((given - added).counted("was", "were")) there already"
        ]
        if !kinds.isEmpty { lines.append("found: " + kinds.joined(separator: ", ")) }
        let rest = [
            (tally.earlier, "from before --since"), (tally.unwanted, "of sets that were not asked for"),
            (tally.unreadable, "without a date or a number that can be read"),
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
