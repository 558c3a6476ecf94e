import ArgumentParser

/// `ingestd records`: prints what the queue holds, or sends a range of it to a destination again.
struct Records: AsynchronousCommand {
    static let configuration = CommandConfiguration(
        commandName: "records",
        abstract: "Print the records of the queue, or send some to a destination again.",
        discussion: """
            Prints measured values and names of persons. Times are a date, 2026-11-20, a moment, \
            2026-11-20T09:15, in the gateway's zone unless Z or an offset follows, or a duration before now, 7d. \
            They are compared with when a record was measured. Where each record stands at each destination is told \
            beside it; with --json by --id alone. For example:

              ingestd records --since 7d --device "kitchen cuff" --state waiting
              ingestd records --id 3f2b91c0
              ingestd records --since 2026-11-20T09:15 --until 2026-11-21 --resend clinic
            """)

    @Option(help: ArgumentHelp("Only what was measured then or later.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Only what was measured before.", valueName: "time"))
    var until: String?

    @Option(help: "Only of this kind.", completion: .list(Self.kinds))
    var kind: String?

    @Option(
        help: ArgumentHelp(
            "Only of this person; unassigned is nobody, - reads the name from standard input.",
            valueName: "subject"))
    var subject: String?

    @Option(
        help: "Only of this device: an alias, a catalogue ID or an address.", completion: Completions.devices)
    var device: String?

    @Option(
        help: "Only what is in this state at one destination at least.",
        completion: .list(RecordStanding.State.allCases.map(\.rawValue)))
    var state: String?

    @Option(help: ArgumentHelp("Only the newest so many.", valueName: "number"))
    var limit: Int?

    @Option(
        help: ArgumentHelp(
            "Send them to this destination again, under their ids; by the running service, or without one under its lock.",
            valueName: "destination"),
        completion: Completions.destinations)
    var resend: String?

    @Option(
        help: ArgumentHelp(
            "Only this one, and where it stands at each destination: its id, or its tag, which is INGEST_RECORD_ID.",
            valueName: "record"))
    var id: String?

    @Flag(help: "Print one record a line, as JSON.")
    var json = false

    @OptionGroup var service: ServiceOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit: expected a number from 1 on") }
        if resend != nil, since == nil { throw ValidationError("--resend: expected --since beside it") }
        let narrows = [kind, subject, device, state].contains { $0 != nil } || limit != nil
        if id != nil, narrows || since != nil || until != nil || resend != nil {
            throw ValidationError("--id stands alone: it names one record")
        }
        if resend != nil, narrows {
            throw ValidationError("--resend sends all of a time again: --since and --until alone narrow it")
        }
    }

    func serve() async throws {
        let access = try QueueAccess(service)
        if let id { return try show(id.lowercased(), access) }
        let zone = try access.configuration.zone()
        let now = SystemClock().wallNanoseconds / 1_000_000_000
        let range = try Self.range(
            from: try Self.moment(since, "--since", now, zone),
            until: try Self.moment(until, "--until", now, zone) ?? (resend == nil ? nil : now))
        if let resend {
            try await send(range, to: resend, access)
        } else {
            try print(try filter(range), access)
        }
    }

    /// What the queue holds and shows.
    private static let kinds = RecordKind.allCases.filter { $0.isDelivered || $0 == .undecoded }.map(
        \.rawValue)

    private func filter(_ range: Range<Int64>) throws(CommandFailure) -> RecordFilter {
        if let kind, !Self.kinds.contains(kind) {
            throw CommandFailure(.usage, "--kind \(kind): expected \(Self.kinds.joined(separator: ", "))")
        }
        let states = RecordStanding.State.allCases.map(\.rawValue)
        if let state, !states.contains(state) {
            throw CommandFailure(.usage, "--state \(state): expected \(states.joined(separator: ", "))")
        }
        return RecordFilter(
            measured: range, kind: kind.flatMap(RecordKind.init), device: device,
            subject: subject.map(StandardInput.argument), state: state.flatMap(RecordStanding.State.init))
    }

    private func show(_ name: String, _ access: QueueAccess) throws {
        guard DeadLetterSelection.isRecord(name) else { throw CommandFailure.notARecord(name) }
        let text = try access.read { reader in
            let key = try access.tagKey()
            let found = try reader.find(name, by: key, routings: access.configuration.routings)
            let screen = RecordScreen(key: key)
            return json ? screen.json(found) : screen.lines(found).joined(separator: "\n")
        }
        try StandardOutput.write(text + "\n")
    }

    private static func moment(
        _ text: String?, _ option: String, _ now: Int64, _ zone: TimeZoneRules
    ) throws(CommandFailure) -> Int64? {
        guard let text else { return nil }
        guard let moment = OperatorTime.read(text, now: now, zone: zone) else {
            throw CommandFailure(
                .usage,
                "\(option) \(text): expected 2026-11-20, 2026-11-20T09:15 or a duration such as 7d")
        }
        return moment
    }

    private static func range(from start: Int64?, until end: Int64?) throws(CommandFailure) -> Range<Int64> {
        let (start, end) = (start ?? .min, end ?? .max)
        guard start < end else { throw CommandFailure(.usage, "--until: expected a time after --since") }
        return start..<end
    }

    private func print(_ filter: RecordFilter, _ access: QueueAccess) throws {
        let isPlaced = !json || filter.state != nil
        let omitted = try access.read { reader in
            try reader.forEachRecord(
                filter, limit: limit, routings: isPlaced ? access.configuration.routings : nil
            ) { record, standings in
                let text = json ? record.json : Self.lines(of: record, at: standings)
                try StandardOutput.write(text + "\n")
            }
        }
        if omitted.undated > 0 {
            let records = omitted.undated.counted("record waits", "records wait")
            StandardError.print("\(records) for the clock of this box, and \(Self.omission(omitted.undated))")
        }
        if omitted.damaged > 0 {
            let records = omitted.damaged.counted("record is", "records are")
            StandardError.print("\(records) damaged in the queue, and \(Self.omission(omitted.damaged))")
        }
    }

    private static func omission(_ count: Int) -> String { count == 1 ? "is left out" : "are left out" }

    /// A line that says which, and indented ones with the values, and with where it stands.
    static func lines(of record: RecordSummary, at standings: [RecordStanding] = []) -> String {
        var lines = [
            "\(record.isTimeKnown ? record.wallTime : "time not known yet ")  \(record.id.prefix(8))  \(record.kind.rawValue)  "
                + TerminalText.line(record.subject ?? "unassigned")
                + (record.isTimeKnown && record.isTimeOfReception ? "  (time of reception)" : "")
        ]
        lines += indented(record.values.map { TerminalText.line($0.text) }, ",")
        lines += indented(standings.map { "\($0.destination): \($0.state.message)" }, ";")
        return lines.joined(separator: "\n")
    }

    /// Lines of at most 80 characters, as far as one part is not longer.
    private static func indented(_ parts: [String], _ separator: String) -> [String] {
        var lines: [String] = []
        var line = ""
        for part in parts {
            if !line.isEmpty, 4 + line.count + 2 + part.count > 80 {
                lines.append("    \(line)\(separator)")
                line = ""
            }
            line += (line.isEmpty ? "" : separator + " ") + part
        }
        return line.isEmpty ? lines : lines + ["    " + line]
    }

    private func send(_ range: Range<Int64>, to destination: String, _ access: QueueAccess) async throws {
        var resent = 0
        var after: Int64?
        repeat {
            let message = ControlMessage.Resend(
                destination: destination, since: range.lowerBound, until: range.upperBound, after: after)
            let part = try await access.change {
                try await $0.resend(message)
            } local: {
                try await $0.resend(message)
            }
            resent += part.resent
            after = part.next
            if after != nil {
                Progress.show("\(resent.counted("goes", "go")) to \(destination) again …")
            }
        } while after != nil
        Progress.end()
        var text = JSONText()
        text.beginObject()
        text.member("destination", destination)
        text.member("resent", resent)
        text.endObject()
        let words = "\(resent.counted("goes", "go")) to \(destination) again."
        try StandardOutput.write((json ? text.string : words) + "\n")
    }
}
