import ArgumentParser
import FoundationEssentials

/// `ingestd import`: puts what another program exported into the queue.
struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Put an export of another program into the queue.",
        discussion: """
            For example:

              ingestd import apple-health export.zip --subject patient-17
            """,
        subcommands: [AppleHealth.self, Folder.self])

    /// `ingestd import apple-health`.
    struct AppleHealth: AsynchronousCommand {
        static let configuration = CommandConfiguration(
            commandName: "apple-health",
            abstract: "Put an export of Apple Health into the queue.",
            discussion: """
                FILE is the export.zip that the Health app makes (its profile picture, Export All Health Data), the \
                export.xml in it, or the JSON of the app Health Auto Export. Its records are historical. What is in \
                the queue, or was, is not taken again: an import that broke off is simply run again. For example:

                  ingestd import apple-health export.zip --dry-run
                  ingestd import apple-health export.zip --subject patient-17
                  ingestd import apple-health HealthAutoExport.json --since 2024-01-01
                """)

        @Argument(help: "The export.zip, or a JSON document.", completion: .file())
        var file: String

        @OptionGroup var choice: ImportChoice

        @Flag(help: "Read all of it and say what it holds; nothing is put into the queue.")
        var dryRun = false

        @OptionGroup var service: ServiceOptions

        @Flag(help: "Print the result as one JSON object.")
        var json = false

        func serve() async throws {
            let environment = ProcessInfo.processInfo.environment
            let configuration = try service.configuration(environment: environment)
            let selection = try choice.selection(in: try configuration.zone())
            // Before anything is taken in hand.
            let source = try ExportFile(file)
            guard !dryRun else { return try await take(source, selection, by: .dryRun) }
            let inlet = try await EntryInlet.open(
                configuration, isNamed: service.isNamed, environment: environment)
            let result: Result<Void, any Error>
            do {
                result = .success(try await take(source, selection, by: .queue(inlet, waits: true)))
            } catch {
                result = .failure(error)
            }
            await inlet.close()
            try result.get()
        }

        private func take(
            _ source: ExportFile, _ selection: HealthExport.Selection, by way: HealthImport.Way
        ) async throws {
            let run = try HealthImport(
                selection, isJSON: source.isJSON, by: way, progress: ProgressLine())
            let failure = await run.read(source)
            try StandardOutput.write(json ? run.json + "\n" : run.message)
            if let failure { throw failure }
        }
    }
}

/// What of an export is taken, and whose it is.
struct ImportChoice: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What of it, with commas: \(HealthKitSet.allCases.map(\.rawValue).joined(separator: ",")). Default: all.",
            valueName: "sets"))
    var sets: String?

    @Option(
        help: ArgumentHelp(
            "Only what began then or later: 2024-01-01, or with a time.", valueName: "time"))
    var since: String?

    @Option(help: "Whom it belongs to. Default: nobody, unassigned.")
    var subject: String?

    func selection(in zone: TimeZoneRules) throws(CommandFailure) -> HealthExport.Selection {
        var chosen = Set(HealthKitSet.allCases)
        if let sets {
            chosen = []
            for name in sets.split(separator: ",", omittingEmptySubsequences: false) {
                guard let set = HealthKitSet(rawValue: String(name)) else {
                    throw CommandFailure(
                        .usage,
                        "--sets: there is no set \(name): expected some of "
                            + HealthKitSet.allCases.map(\.rawValue).joined(separator: ","))
                }
                chosen.insert(set)
            }
        }
        var earliest: Int64?
        if let since {
            guard let time = EntryTime(since, in: zone) ?? EntryTime(since + "T00:00", in: zone) else {
                throw CommandFailure(
                    .usage, "--since \(since): expected such as 2024-01-01 or 2024-01-01T08:00+01:00")
            }
            earliest = time.instant
        }
        try Submit.check(subject: subject)
        return HealthExport.Selection(sets: chosen, since: earliest, subject: subject)
    }
}
