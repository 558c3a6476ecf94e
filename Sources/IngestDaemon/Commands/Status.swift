import ArgumentParser
import FoundationEssentials
import Glibc

/// `ingestd status`: tells how the running service fares.
struct Status: AsynchronousCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show how the running service fares.",
        discussion: """
            The adapters, each peripheral of the allow-list, each destination and the queue. The exit status is \
            0 when all is well, 1 when something needs somebody, which is said at the top, 69 when no \
            service runs, 75 when it does not answer, and 77 when you may not ask. For example:

              ingestd status
              ingestd status --watch
              ingestd status --json
            """)

    /// Of `--watch`.
    private static let interval = Duration.seconds(2)

    @OptionGroup var service: ServiceOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    @Flag(help: "Show it again every 2 s, until Ctrl-C.")
    var watch = false

    func serve() async throws {
        let client = ControlClient(path: try service.socket())
        let result: Result<Bool, any Error>
        do {
            result = .success(try await show(by: client))
        } catch let failure as ControlClient.Failure {
            result = .failure(CommandFailure(failure, path: client.path))
        } catch {
            result = .failure(error)
        }
        await client.close()
        if !(try result.get()) { throw ExitCode(1) }
    }

    /// - Returns: whether all is well. With `--watch` it does not return.
    private func show(by client: ControlClient) async throws -> Bool {
        let isTerminal = isatty(STDOUT_FILENO) == 1
        let environment = ProcessInfo.processInfo.environment
        // no-color.org; a dumb terminal takes no escapes at all.
        let isDumb = environment["TERM"] == "dumb"
        let usesColours = isTerminal && !isDumb && environment["NO_COLOR", default: ""].isEmpty
        if watch, isTerminal, !isDumb, !json {
            try await AlternateScreen.show {
                while true {
                    try AlternateScreen.draw(
                        try text(try await client.status(), usesColours: usesColours) + "\n")
                    try await Task.sleep(for: Self.interval)
                }
            }
        }
        while true {
            let status = try await client.status()
            let text = try text(status, usesColours: usesColours) + "\n"
            // The table is made harmless before it is coloured.
            try json ? StandardOutput.write(text) : StandardOutput.draw(text)
            guard watch else { return status.isHealthy }
            try await Task.sleep(for: Self.interval)
        }
    }

    private func text(_ status: GatewayStatus, usesColours: Bool) throws -> String {
        guard json else { return StatusTable(status, usesColours: usesColours).lines.joined(separator: "\n") }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(status), as: UTF8.self)
    }
}
