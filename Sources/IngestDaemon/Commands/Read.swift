import ArgumentParser
import Synchronization

/// `ingestd read`: reads a device once, by the running service.
struct Read: AsynchronousCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Read a device of the allow-list once, and show what it gives.",
        discussion: """
            Waits until the device shows itself, also one that was read a moment ago, and shows each reading \
            before it is queued. With --dry-run nothing is queued, confirmed to the device or remembered: a device \
            that waits for the confirmation gives the reading again, one that does not may not. Prints measured values. The running service does it; its passive \
            reading waits meanwhile. Ctrl-C stops it. For example:

              ingestd read "kitchen cuff"
              ingestd read 1001 --dry-run
            """)

    @Argument(
        help: "The model's catalogue ID, for any device of it, or the device's address or alias.",
        completion: Completions.devices)
    var target: String

    @Option(help: ArgumentHelp("How long the device is waited for, 1 to 600.", valueName: "seconds"))
    var timeout = 120

    @Flag(help: "Show the reading, and have nothing come of it.")
    var dryRun = false

    @Flag(help: "Print one record a line, as JSON.")
    var json = false

    @OptionGroup var service: ServiceOptions

    func validate() throws {
        guard ControlMessage.Read.seconds.contains(timeout) else {
            throw ValidationError("--timeout: expected 1 to 600 seconds")
        }
    }

    func serve() async throws {
        let target = try service.target(target)
        let message = ControlMessage.Read(target: target.description, timeout: timeout, isDryRun: dryRun)
        let screen = ReadScreen(printsJSON: json)
        try await ServiceOrder.follow(at: try service.socket()) { client throws(ControlClient.Failure) in
            try await client.beginRead(message)
        } _: { step, _ in
            try screen.show(step)
        }
        let undecoded = screen.undecoded.withLock { $0 }
        guard undecoded == 0 else {
            throw CommandFailure(
                .badData,
                "\(undecoded) of its readings cannot be decoded: is \(target) of the model that its entry names?"
            )
        }
    }
}

/// The terminal of `ingestd read`.
private final class ReadScreen: Sendable {
    let undecoded = Mutex(0)
    private let printsJSON: Bool

    init(printsJSON: Bool) {
        self.printsJSON = printsJSON
    }

    func show(_ step: OperatorStep) throws {
        switch step.step {
        case .record:
            Progress.end()
            if step.error != nil { undecoded.withLock { $0 += 1 } }
            guard let record = step.record else { return }
            try StandardOutput.write((printsJSON ? record : Self.lines(of: record, step.error)) + "\n")
        case .done:
            Progress.end()
            if !printsJSON, let text = step.text { try StandardOutput.write(TerminalText.line(text) + "\n") }
        case .readingUnderWay, .waiting, .reading:
            if let text = step.text { Progress.show(text) }
        default: break
        }
    }

    private static func lines(of json: String, _ error: String?) -> String {
        guard let record = RecordSummary(json: json) else { return TerminalText.line(json) }
        let lines = Records.lines(of: record)
        return error.map { lines + "\n    cannot be decoded: \(TerminalText.line($0))" } ?? lines
    }
}
