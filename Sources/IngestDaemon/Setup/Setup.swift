import ArgumentParser
import FoundationEssentials
import Glibc
import UnixSignals

/// `ingestd setup`: guides from an empty box to a delivered first reading.
struct Setup: AsynchronousCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Guide from an empty box to a delivered first reading.",
        discussion: """
            Asks, step by step: the service, its adapter and its clock; the destination, which is tested before it is \
            written; the device, which is heard, chosen, named and paired. Then it waits until the first reading is \
            delivered. Files of conf.d are written whole, and each is named. Ctrl-C leaves at any time. Run it as \
            root. Each question has a flag, for scripts, which say --yes beside. For example:

              sudo ingestd setup
              sudo ingestd setup --yes --destination-type webhook --url https://clinic.example/readings
              sudo ingestd setup --yes --model 1002 --address F1:F1:F1:F1:F1:F1 --subject patient-17 --no-wait
            """)

    @Flag(help: "Ask nothing: take the answers of flags, and what an empty line means for the rest.")
    var yes = false

    @Option(
        help: ArgumentHelp("Type of the destination; adds one also where there is one.", valueName: "type"))
    var destinationType: String?

    @Option(help: ArgumentHelp("Name of the destination. Default: its type.", valueName: "name"))
    var destinationName: String?

    @Option(help: "Where the destination is.")
    var url: String?

    @Option(
        help: ArgumentHelp(
            "A file with the destination's token or password, or - for standard input.", valueName: "file"))
    var tokenFile: String?

    @Option(help: ArgumentHelp("A further key of the destination; may be repeated.", valueName: "key=value"))
    var destinationKey: [String] = []

    @Flag(help: "Write the destination also if its test fails.")
    var untested = false

    @Option(help: ArgumentHelp("The device's model, by its catalogue ID.", valueName: "id"))
    var model: Int?

    @Option(help: "The device's address; without it any device of the model is meant.")
    var address: String?

    @Option(help: "What you call the device. Default: what it is.")
    var alias: String?

    @Option(help: "Whose readings these are. Default: nobody's, unassigned.")
    var subject: String?

    @Flag(help: "Set up no device.")
    var noDevice = false

    @Flag(help: "Do not pair, also if the model needs it.")
    var noPair = false

    @Flag(help: "Do not wait for the reading.")
    var noWait = false

    @Option(help: ArgumentHelp("How long to wait for the reading, 1s to 24h.", valueName: "duration"))
    var wait = "10m"

    @OptionGroup var service: ServiceOptions

    /// Whether something but the configuration was said.
    private var isTold: Bool {
        yes || untested || noDevice || noPair || noWait || model != nil || !destinationKey.isEmpty
            || [destinationType, destinationName, url, tokenFile, address, alias, subject].contains {
                $0 != nil
            }
    }

    func serve() async throws {
        let isTerminal = isatty(STDIN_FILENO) == 1
        guard isTerminal || isTold else {
            throw CommandFailure(
                .usage,
                "standard input is no terminal, and no flag answers a question: see ingestd setup --help")
        }
        // What is written is for the service's group at most, from its first byte.
        umask(0o077)
        let written = WrittenFiles()
        let asks = isTerminal && !yes
        let dialogue = Dialogue(terminal: ConsoleTerminal(), asks: asks)
        do {
            try await untilSignalled { try await guide(dialogue, written) }
        } catch let failure as CommandFailure {
            try Self.leave(written, dialogue)
            guard asks else { throw failure }
            // In lines that fit.
            try dialogue.say("ingestd: \(failure.message)")
            throw ExitCode(failure.status.rawValue)
        }
    }

    private static func leave(_ written: WrittenFiles, _ dialogue: Dialogue) throws {
        guard !written.paths.isEmpty else { return }
        try dialogue.say("Written, and still there:")
        for path in written.paths { try dialogue.say("  \(path)") }
    }

    private func untilSignalled(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        try await withThrowingTaskGroup { group in
            group.addTask {
                for await _ in signals { break }
                try Task.checkCancellation()
                throw CommandFailure(.interrupted, "stopped")
            }
            group.addTask { try await body() }
            defer { group.cancelAll() }
            do {
                try await group.next()
            } catch is CancellationError {
                throw CommandFailure(.interrupted, "stopped")
            }
        }
    }

    private func guide(_ dialogue: Dialogue, _ written: WrittenFiles) async throws {
        guard let patience = DurationText.read(wait), (.seconds(1) ... .seconds(86_400)).contains(patience)
        else {
            throw CommandFailure(.usage, "--wait: expected 1s to 24h, such as 10m")
        }
        try dialogue.say("This sets up ingestd, from the box to the first reading that is delivered.")
        try dialogue.say("Ctrl-C leaves; nothing half-done stays, and what is written is named.")
        let path = service.absolutePath
        let running = RunningService(options: service)
        let clock = SystemClock()
        _ = try configuration()
        try Self.expectWritable(path)
        try await BoxStep(dialogue: dialogue, service: running, clock: clock).run()
        try await DestinationStep(
            dialogue: dialogue, service: running, clock: clock, test: ProbeTest(), written: written,
            path: path, answers: try destinationAnswers()
        ).run(try configuration())
        guard !noDevice else { return try dialogue.say("Done.") }
        var answers = DeviceStep.Answers(
            model: model, address: address, alias: alias, subject: subject, isNotPaired: noPair)
        var isDelivered = true
        repeat {
            let number = await running.newestNumber()
            let device = try await DeviceStep(
                dialogue: dialogue, service: running, written: written, path: path, answers: answers
            ).run(try configuration())
            if !noWait {
                let isThere = try await ReadingStep(
                    dialogue: dialogue, service: running, clock: clock, patience: patience
                ).run(device, after: number)
                isDelivered = isDelivered && isThere
            }
            answers = DeviceStep.Answers(isNotPaired: noPair)
        } while try await dialogue.confirm("Another device?", standard: false)
        try dialogue.say("Done. What came: ingestd records. How the box fares: ingestd status")
        guard isDelivered else { throw ExitCode(ExitStatus.tryAgain.rawValue) }
    }

    private func configuration() throws -> Configuration {
        try service.configuration(environment: ProcessInfo.processInfo.environment)
    }

    private static func expectWritable(_ path: String) throws {
        let directory = ConfigurationPieces.directory(beside: path)
        let above = URL(filePath: directory).deletingLastPathComponent().path
        let place = FileManager.default.fileExists(atPath: directory) ? directory : above
        guard FileManager.default.isWritableFile(atPath: place) else {
            throw CommandFailure(.noPermission, "\(directory): you may not write there: run it as root")
        }
    }

    private func destinationAnswers() throws -> DestinationStep.Answers {
        let secret = try tokenFile.map { file throws(CommandFailure) in
            try SecretFile.read(file, flag: "--token-file", limit: Dialogue.longestAnswer)
        }
        return DestinationStep.Answers(
            type: destinationType, name: destinationName, keys: destinationKey, url: url, secret: secret,
            isUntested: untested)
    }
}
