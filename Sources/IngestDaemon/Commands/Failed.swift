import ArgumentParser

/// `ingestd failed`: works what is set aside.
struct Failed: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "failed",
        abstract: "List, show, try again or give up records that are set aside.",
        discussion: """
            A record is set aside for a destination that does not take it; it is kept, and others get it all the \
            same. Records that could not be decoded are listed too. For example:

              ingestd failed list
              ingestd failed show 3f2b91c0
              ingestd failed retry --all
            """,
        subcommands: [FailedList.self, FailedShow.self, FailedRetry.self, FailedDrop.self])
}

/// Which of them.
struct FailedFilter: ParsableArguments {
    @Option(help: "Only what is set aside for this destination.", completion: Completions.destinations)
    var destination: String?

    @Option(
        help: "Only of this peripheral: an alias, a catalogue ID or an address.",
        completion: Completions.devices)
    var peripheral: String?

    func selection(_ records: [String]) throws(CommandFailure) -> DeadLetterSelection {
        let records = records.map { $0.lowercased() }
        if let wrong = records.first(where: { !DeadLetterSelection.isRecord($0) }) {
            throw CommandFailure.notARecord(wrong)
        }
        // So many go over the control socket at once.
        guard records.count <= 1000 else {
            throw CommandFailure(.usage, "expected at most 1000 ids, or --all")
        }
        return DeadLetterSelection(records: records, destination: destination, peripheral: peripheral)
    }
}

extension FailedFilter {
    /// Nothing is set aside for what is misspelt.
    func check(_ queue: QueueReader) throws {
        guard let destination, try !queue.knows(destination) else { return }
        throw CommandFailure(.usage, ControlMessage.Refusal(unknown: destination).error)
    }
}

/// What `retry` and `drop` take.
struct FailedTarget: ParsableArguments {
    @Argument(help: "Ids of records, their first characters, or tags.")
    var records: [String] = []

    @Flag(help: "Everything that is set aside, as far as the other options do not narrow it.")
    var all = false

    @OptionGroup var filter: FailedFilter

    @Flag(help: "Do not ask.")
    var yes = false

    @Flag(help: "Print the result as one JSON object.")
    var json = false

    @OptionGroup var service: ServiceOptions

    func selection() throws(CommandFailure) -> DeadLetterSelection {
        guard all != !records.isEmpty else {
            throw CommandFailure(.usage, "expected ids of records, or --all: ingestd failed list")
        }
        return try filter.selection(records)
    }

    /// What `--all` stands for, as a part of a sentence.
    var everything: String {
        var words = "Everything that is set aside"
        if let destination = filter.destination { words += " for \(destination)" }
        if let peripheral = filter.peripheral { words += " of \(peripheral)" }
        return words
    }
}

/// `ingestd failed list`.
struct FailedList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List what is set aside, the oldest reading first.",
        discussion: """
            What the server said is in ingestd failed show only. For example:

              ingestd failed list
              ingestd failed list --destination clinic
            """)

    @OptionGroup var filter: FailedFilter

    @Flag(help: "Print one JSON object a line.")
    var json = false

    @OptionGroup var service: ServiceOptions

    func run() throws {
        let access = try QueueAccess(service)
        let screen = FailedScreen(zone: try access.configuration.zone())
        let selection = try filter.selection([])
        var rows: [FailedScreen.Row] = []
        try access.read { reader in
            try filter.check(reader)
            try reader.forEachDeadLetter(selection) { letter in
                if json {
                    try StandardOutput.write(screen.json(letter) + "\n")
                } else {
                    rows.append(screen.row(letter))
                }
            }
        }
        if json { return }
        guard !rows.isEmpty else { return try StandardOutput.write("Nothing is set aside.\n") }
        for line in screen.table(rows) { try StandardOutput.write(line + "\n") }
    }
}

/// `ingestd failed show`.
struct FailedShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show records that are set aside, with what the server said.",
        discussion: """
            And where each stands at the other destinations. Prints measured values. Records that are not set aside \
            are shown by ingestd records --id. For example:

              ingestd failed show 3f2b91c0
            """)

    @Argument(help: "Ids of records, their first characters, or tags, which events have as INGEST_RECORD_ID.")
    var records: [String]

    @OptionGroup var filter: FailedFilter

    @Flag(help: "Print one JSON object a line.")
    var json = false

    @OptionGroup var service: ServiceOptions

    func run() throws {
        let selection = try filter.selection(records)
        let access = try QueueAccess(service)
        let screen = FailedScreen(zone: try access.configuration.zone())
        let routings = access.configuration.routings
        var isFirst = true
        try access.read { reader in
            let key = try access.tagKey()
            let others = RecordScreen(key: key)
            try filter.check(reader)
            // Each is looked up again in the queue, which cannot be done while it is gone through.
            var letters: [DeadLetter] = []
            try reader.forEachDeadLetter(try reader.resolve(selection, by: key)) { letters.append($0) }
            for letter in letters {
                let standings = try reader.standings(of: letter.id, routings: routings)
                if json {
                    let text = screen.json(letter, isWhole: true) {
                        others.add(letter.id.text, standings, to: &$0)
                    }
                    try StandardOutput.write(text + "\n")
                } else {
                    let gap = isFirst ? "" : "\n"
                    let lines = screen.details(letter, further: others.fields(of: letter.id.text, standings))
                    try StandardOutput.write(gap + lines.joined(separator: "\n") + "\n")
                }
                isFirst = false
            }
        }
    }
}

/// `ingestd failed retry`.
struct FailedRetry: AsynchronousCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Send records that are set aside again.",
        discussion: """
            Under their ids, in the order in which they were read. With --subject, records that are set aside as \
            unassigned become this person's at the destinations that file under one. By the running service, or \
            without one under its lock. For example:

              ingestd failed retry 3f2b91c0
              ingestd failed retry --all --destination clinic
            """)

    @Option(
        help: ArgumentHelp(
            "Whose the records are, of those that were set aside as unassigned; - reads it from standard input.",
            valueName: "subject"))
    var subject: String?

    @OptionGroup var target: FailedTarget

    func serve() async throws {
        let subject = subject.map(StandardInput.argument)
        let selection = try selection(for: subject)
        let access = try QueueAccess(target.service)
        var released = 0
        var left: [String: Int] = [:]
        var after: Int64?
        repeat {
            let message = ControlMessage.Retry(selection: selection, subject: subject, after: after)
            let part = try await access.change {
                try await $0.retry(message)
            } local: {
                try await $0.retry(message)
            }
            released += part.released
            left.merge(part.left, uniquingKeysWith: +)
            after = part.next
            if after != nil { Progress.show("\(released.counted("goes", "go")) out again …") }
        } while after != nil
        Progress.end()
        try StandardOutput.write(report(released, left))
    }

    private func selection(for subject: String?) throws(CommandFailure) -> DeadLetterSelection {
        if let subject {
            guard Subject.isName(subject) else {
                throw CommandFailure(
                    .usage, "--subject: expected the name of a person, as in the configuration")
            }
            if target.records.isEmpty {
                let selection = try target.filter.selection([])
                try Confirmation.ask(
                    "\(target.everything) as unassigned becomes \(subject)'s.", isGiven: target.yes)
                return selection
            }
        }
        return try target.selection()
    }

    private func report(_ released: Int, _ left: [String: Int]) -> String {
        let left = left.sorted { $0.key < $1.key }
        if target.json {
            var text = JSONText()
            text.beginObject()
            text.member("released", released)
            text.key("left")
            text.beginObject()
            for (reason, count) in left { text.member(reason, count) }
            text.endObject()
            text.endObject()
            return text.string + "\n"
        }
        let lines =
            ["\(released.counted("goes", "go")) out again."]
            + left.map { reason, count in
                let words = DeadLetterObstacle(rawValue: reason)?.message ?? reason
                return "\(count) set aside still, because \(count == 1 ? "it" : "each") \(words)."
            }
        return lines.joined(separator: "\n") + "\n"
    }
}

/// `ingestd failed drop`.
struct FailedDrop: AsynchronousCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop", abstract: "Give up records that are set aside.",
        discussion: """
            They go nowhere any more, and leave the queue in its time. Where a record is set aside for several \
            destinations --destination names one. By the running service, or without one under its lock. \
            For example:

              ingestd failed drop 3f2b91c0 --destination clinic
            """)

    @OptionGroup var target: FailedTarget

    func serve() async throws {
        let selection = try target.selection()
        let access = try QueueAccess(target.service)
        if target.all { try Confirmation.ask("\(target.everything) is given up.", isGiven: target.yes) }
        var dropped = 0
        while true {
            let part = try await access.change {
                try await $0.drop(selection)
            } local: {
                try await $0.drop(selection)
            }
            dropped += part.dropped
            guard part.isPart else { break }
            Progress.show("\(dropped) given up …")
        }
        Progress.end()
        var text = JSONText()
        text.beginObject()
        text.member("dropped", dropped)
        text.endObject()
        try StandardOutput.write((target.json ? text.string : "\(dropped) given up.") + "\n")
    }
}
