import ArgumentParser
import FoundationEssentials

/// `ingestd doctor`: looks at everything that has to be right for readings to arrive.
struct Doctor: AsynchronousCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Look at the box, Bluetooth, the configuration and each destination, and say what to do.",
        discussion: """
            Prints one finding a line, ok, warning or error, and below those that are not ok what to do next. \
            It changes nothing and delivers nothing. As root it sees the most. \
            Exits 0 if there is no error, warnings or not, and 1 if there is one. For example:

              sudo ingestd doctor
              sudo ingestd doctor --send clinic
            """)

    @OptionGroup var service: ServiceOptions

    @Flag(help: "Print the findings as one JSON object.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Try this destination alone, and send it a test record of nobody, marked as one, if it takes such.",
            valueName: "destination"))
    var send: String?

    @Flag(help: "Print the evidence for a bug report: no readings, secrets, addresses or persons.")
    var report = false

    func validate() throws {
        guard !report || (!json && send == nil) else {
            throw ValidationError("--report stands alone: it has neither --json nor --send")
        }
    }

    func serve() async throws {
        let environment = ProcessInfo.processInfo.environment
        // What cannot be read is a finding.
        let socket = try? service.socket()
        let examination = await Examination(path: service.path, socket: socket, environment: environment)
        let findings: [Finding]
        if let send {
            guard let sent = await examination.sendTest(to: send) else { throw failure(send, examination) }
            findings = sent
        } else {
            findings = await examination.findings()
        }
        let list = FindingList(findings: findings)
        if report {
            let report = DoctorReport(examination)
            try StandardOutput.write(
                report.text(report.sections(examination, findings), journal: DoctorReport.journal()))
        } else {
            try StandardOutput.write(json ? list.json + "\n" : list.lines.map { $0 + "\n" }.joined())
        }
        if list.errors > 0 { throw ExitCode(1) }
    }

    /// Why there is no such destination.
    private func failure(_ name: String, _ examination: Examination) -> CommandFailure {
        guard let configuration = examination.check.configuration else {
            return CommandFailure(.configuration, "\(examination.check.summary) (ingestd check tells all)")
        }
        let near = Spelling.nearest(to: name, among: configuration.destinations.map(\.name))
            .map { "; did you mean \($0)?" }
        return CommandFailure(
            .usage, "no destination of the configuration is named \(TerminalText.line(name))\(near ?? "")")
    }
}
