import ArgumentParser
import BlueZBridge
import FoundationEssentials
import IngestKit

/// `ingestd run`: the gateway.
struct Run: AsynchronousCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Read the listed peripherals and deliver their readings, until told to stop.",
        discussion: """
            Meant to run as ingestd.service. Events go to the journal, or with --events stdout as one \
            JSON object a line to standard output.
            """)

    enum EventTarget: String, ExpressibleByArgument, CaseIterable {
        case journal
        case stdout
    }

    enum RadioKind: String, ExpressibleByArgument, CaseIterable {
        case bluez
        case simulated
    }

    @Option(name: .customLong("config"), help: ArgumentHelp("The configuration.", valueName: "path"))
    var path = Configuration.defaultPath

    @Option(help: "Where events go: journal or stdout.")
    var events = EventTarget.journal

    @Option(help: "bluez, or simulated: the built-in peripherals, whose records are marked as such.")
    var radio = RadioKind.bluez

    @Option(
        help: ArgumentHelp(
            "With --radio simulated, for tests: the socket of another process that simulates the peripherals.",
            valueName: "socket"))
    var peripherals: String?

    func validate() throws {
        guard peripherals == nil || radio == .simulated else {
            throw ValidationError("--peripherals goes with --radio simulated")
        }
    }

    func serve() async throws {
        // Up to the first suspension the process has one thread, whose capabilities are those of
        // the process.
        ReloadSignal.note()
        Allocator.giveBackLargeBlocks()
        Allocator.useSmallPages()
        let environment = ProcessInfo.processInfo.environment
        let configuration = try configuration(environment: environment)
        let source: RadioSource
        switch radio {
        case .bluez: source = .kernel(try openManagement())
        case .simulated: source = peripherals.map { .hosted($0) } ?? .simulated
        }
        let output: any EntryOutput =
            switch events {
            case .journal where JournalSink.isAvailable: JournalSink()
            case .journal, .stdout: LineSink()
            }
        let gateway = Gateway(
            configuration: configuration, credentials: Credentials(environment: environment), output: output,
            controlPath: ControlSocket.path(
                environment: environment, stateDirectory: configuration.gateway.stateDirectory),
            reload: { () throws(CommandFailure) in try self.configuration(environment: environment) })
        try await gateway.run(on: source)
    }

    /// Reads the configuration, telling what is suspicious in it.
    private func configuration(environment: [String: String]) throws(CommandFailure) -> Configuration {
        // A certificate that is missing is no reason to stop reading peripherals.
        let check = ConfigurationCheck(
            path: path, readableProfiles: Profiles.names,
            host: .current(environment: environment, fileSeverity: .warning))
        guard let configuration = check.configuration else {
            // Set where standard error is the journal (systemd.exec(5)).
            let isJournal = environment["JOURNAL_STREAM"] != nil
            let lines = check.diagnostics.map { finding in
                isJournal && finding.severity == .error ? finding.eventText : finding.description
            }
            throw CommandFailure(
                .configuration, lines.joined(separator: "\n"), event: check.rejection)
        }
        for warning in check.diagnostics { StandardError.print(warning.description) }
        if radio == .simulated { try refuseRealDestinations(of: configuration) }
        return configuration
    }

    /// Simulated readings are nobody's, and must not reach a real backend.
    private func refuseRealDestinations(of configuration: Configuration) throws(CommandFailure) {
        let real = configuration.destinations.filter { !$0.isLoopback }.map(\.name)
        guard real.isEmpty else {
            throw CommandFailure(
                .configuration,
                "--radio simulated delivers to loopback addresses only, and these destinations are "
                    + "elsewhere: \(real.joined(separator: ", "))")
        }
    }

    private func openManagement() throws(CommandFailure) -> ManagementDescriptor {
        do {
            return try ManagementDescriptor.openAndDropPrivileges()
        } catch {
            throw CommandFailure(error)
        }
    }
}
