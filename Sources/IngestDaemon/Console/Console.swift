import ArgumentParser
import FoundationEssentials
import HTTPService
import NIOCore
import SystemPackage
import UnixSignals

/// `ingestd console`: a web page of this box, on loopback.
struct Console: AsynchronousCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Open a web page of this box: health, devices, pairing, destinations, plots.",
        discussion: """
            Prints the page's address, which opens once and in one browser. The page has the rights of the user who \
            starts this: root may allow devices and see readings, the group ingestd all else. It listens on loopback \
            only; from another machine, go through ssh. It ends with Ctrl-C, and after 30 min without a request. \
            For example:

              sudo ingestd console
              ssh -t -L 8088:127.0.0.1:8088 BOX sudo ingestd console
            """)

    private static let longestPause = Duration.seconds(30 * 60)

    @Option(help: ArgumentHelp("Where to listen: an address of loopback, and a port.", valueName: "address"))
    var listen = "127.0.0.1:8088"

    @OptionGroup var service: ServiceOptions

    func validate() throws { _ = try address() }

    /// - Throws: `ValidationError`.
    private func address() throws -> (host: String, port: Int) {
        let parts = listen.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let port = UInt16(parts[1]),
            parts[0] == "localhost" || parts[0] == "127.0.0.1"
        else {
            throw ValidationError(
                "--listen: expected 127.0.0.1 and a port, such as 127.0.0.1:8088; from another machine go through ssh -L"
            )
        }
        return ("127.0.0.1", Int(port))
    }

    func serve() async throws {
        let (host, port) = try address()
        let clock = SystemClock()
        let session = ConsoleSession(clock: clock)
        let client = ControlClient(path: try service.socket())
        let result: Result<Void, any Error>
        do {
            // A page of a service that cannot be asked would be empty.
            _ = try await client.status()
            let page = ConsoleServer(session: session, client: client, service: service)
            result = .success(try await serve(page, at: .ip4(host, port: port), clock: clock))
        } catch let failure as ControlClient.Failure {
            result = .failure(CommandFailure(failure, path: client.path))
        } catch let error as IOError {
            result = .failure(
                CommandFailure(
                    .unavailable,
                    "cannot listen on \(listen): \(Errno(rawValue: error.errnoCode)); choose another port by --listen"
                ))
        } catch {
            result = .failure(error)
        }
        await client.close()
        try result.get()
    }

    private func serve(
        _ page: ConsoleServer, at address: HTTPServer.Address, clock: SystemClock
    ) async throws {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let server = HTTPServer(page.routes, bounds: ConsoleServer.bounds)
        let session = page.session
        try await withThrowingTaskGroup { group in
            group.addTask {
                for await _ in signals { return }
            }
            group.addTask {
                while clock.now.since(session.lastRequest) < Self.longestPause {
                    try await clock.sleep(for: .seconds(60))
                }
                StandardError.print("Ended: for 30 min nobody has used the page.")
            }
            group.addTask {
                try await server.run(at: address) { port in
                    try StandardOutput.write(
                        "Open http://127.0.0.1:\(port)/#\(session.key)\n"
                            + "It opens once. Ctrl-C ends it.\n")
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
