import ArgumentParser
import FoundationEssentials

/// What `run` takes, whatever the gateway listens with.
package struct RunOptions: ParsableArguments, Sendable {
    enum EventTarget: String, ExpressibleByArgument, CaseIterable {
        case journal
        case stdout
    }

    @Option(
        name: .customLong("config"), help: ArgumentHelp("The configuration.", valueName: "path"),
        completion: .file())
    var path = Configuration.defaultPath

    @Option(help: "Where events go: journal or stdout.")
    var events = EventTarget.journal

    package init() {}

    /// Runs the gateway until it is told to stop.
    /// - Parameters:
    ///   - open: opens what the gateway listens with, once the configuration was read. The process still has one
    ///     thread then, whose capabilities are those of the process.
    ///   - refuse: throws if the gateway must not run with a configuration; asked at each reload, too.
    package func serve(
        on open: () throws(CommandFailure) -> RadioSource,
        refusing refuse: @escaping @Sendable (Configuration) throws(CommandFailure) -> Void = { _ in }
    ) async throws {
        ReloadSignal.note()
        Allocator.giveBackLargeBlocks()
        Allocator.useSmallPages()
        let environment = ProcessInfo.processInfo.environment
        let read = { @Sendable () throws(CommandFailure) -> Configuration in
            let configuration = try checked(environment: environment)
            try refuse(configuration)
            return configuration
        }
        let configuration = try read()
        let source = try open()
        let output: any EntryOutput =
            switch events {
            case .journal where JournalSink.isAvailable: JournalSink()
            case .journal, .stdout: LineSink()
            }
        let gateway = Gateway(
            configuration: configuration, credentials: Credentials(environment: environment), output: output,
            controlPath: ControlSocket.path(
                environment: environment, stateDirectory: configuration.gateway.stateDirectory),
            reload: read)
        try await gateway.run(on: source)
    }

    /// Reads the configuration, telling what is suspicious in it.
    private func checked(environment: [String: String]) throws(CommandFailure) -> Configuration {
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
            throw CommandFailure(.configuration, lines.joined(separator: "\n"), event: check.rejection)
        }
        for warning in check.diagnostics { StandardError.print(warning.description) }
        return configuration
    }
}
