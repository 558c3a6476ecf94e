import ArgumentParser
import FoundationEssentials
import ServiceLifecycle
import Synchronization
import UnixSignals

/// `ingestd pair`: pairs with a device by the running service.
struct Pair: AsynchronousCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Pair with a device of the allow-list.",
        discussion: """
            Shows the model's pairing instructions, waits up to two minutes until the device is heard, and \
            pairs with it. A passkey is asked for, or taken from the credential that the entry names. The \
            running service does it; its passive reading waits meanwhile. Ctrl-C stops it.
            """)

    @Argument(help: "The model's catalogue ID, for any device of it, or the device's address.")
    var target: String

    @OptionGroup var service: ServiceOptions

    @Flag(help: "Print each step as a JSON object on a line.")
    var json = false

    func serve() async throws {
        let target = try ServiceOptions.target(target)
        let client = ControlClient(path: try service.socket())
        let result: Result<Void, any Error>
        do {
            result = .success(try await pair(target, by: client))
        } catch let failure as ControlClient.Failure {
            result = .failure(CommandFailure(failure, path: client.path))
        } catch {
            result = .failure(error)
        }
        await client.close()
        try result.get()
    }

    private func pair(_ target: PairingTarget, by client: ControlClient) async throws {
        let id = try await client.beginPairing(target)
        let printsJSON = json
        let interruption = Interruption()
        try await withThrowingTaskGroup { group in
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) {
                    interruption.happened.withLock { $0 = true }
                    try? await client.cancel(id)
                    throw CommandFailure(.interrupted, "stopped")
                }
            }
            group.addTask {
                try await Self.follow(id, by: client, PairingScreen(printsJSON: printsJSON))
            }
            defer { group.cancelAll() }
            do {
                try await group.next()
            } catch  where interruption.happened.withLock({ $0 }) {
                // The service may tell of the pairing's end before it has answered.
                throw CommandFailure(.interrupted, "stopped")
            }
        }
    }

    /// Whether the operator has stopped the command.
    private final class Interruption: Sendable {
        let happened = Mutex(false)
    }

    /// Shows the steps and answers what they ask, until the last one.
    private static func follow(
        _ id: String, by client: ControlClient, _ screen: PairingScreen
    ) async throws {
        var last = 0
        while true {
            for step in try await client.steps(of: id, after: last) {
                last = step.number
                try screen.show(step)
                switch step.step {
                case .passkeyWanted:
                    screen.answer {
                        .init(passkey: PairingScreen.typedPasskey(), step: step.number)
                    } with: {
                        // What comes too late is nobody's.
                        try? await client.answer($0, to: id)
                    }
                case .confirmNumber:
                    screen.answer {
                        .init(sameNumber: PairingScreen.typedYes(), step: step.number)
                    } with: {
                        try? await client.answer($0, to: id)
                    }
                case .failed:
                    throw CommandFailure(ExitStatus(step.reason ?? .other), step.text)
                case .paired: return
                default: break
                }
            }
        }
    }
}

/// `ingestd unpair`: removes bonds by the running service.
struct Unpair: AsynchronousCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpair",
        abstract: "Remove the bond with a device.",
        discussion: """
            With a model's ID, of all devices that entries of it name by address. The device keeps its side \
            of the bond: clear that there.
            """)

    @Argument(help: "The device's address, or a model's catalogue ID.")
    var target: String

    @OptionGroup var service: ServiceOptions

    @Flag(help: "Print the result as one JSON object.")
    var json = false

    func serve() async throws {
        let target = try ServiceOptions.target(target)
        let client = ControlClient(path: try service.socket())
        let result: Result<[BluetoothAddress], ControlClient.Failure>
        do {
            result = .success(try await client.unpair(target))
        } catch {
            result = .failure(error)
        }
        await client.close()
        switch result {
        case .failure(let failure): throw CommandFailure(failure, path: client.path)
        case .success(let addresses):
            if json {
                var text = JSONText()
                text.beginObject()
                text.member("addresses", addresses.map(\.description))
                text.endObject()
                try StandardOutput.write(text.string + "\n")
            } else {
                for address in addresses { try StandardOutput.write("Unpaired \(address).\n") }
            }
        }
    }
}

/// How a command finds the service.
struct ServiceOptions: ParsableArguments {
    @Option(
        name: .customLong("config"), help: ArgumentHelp("The service's configuration.", valueName: "path"))
    var path = Configuration.defaultPath

    var isNamed: Bool { path != Configuration.defaultPath }

    /// Where the service listens. That the installed configuration cannot be read is no obstacle: the installed
    /// service is at its usual place. One that was named and cannot be read may be of another service.
    func socket() throws(CommandFailure) -> String {
        if isNamed, !FileManager.default.fileExists(atPath: path) {
            throw CommandFailure(.configuration, "\(path): there is no such file, or you may not see it")
        }
        let environment = ProcessInfo.processInfo.environment
        // Its files of keys and certificates are the service's to read.
        let configuration =
            isNamed
            ? try configuration(environment: environment)
            : ConfigurationCheck(
                path: path, readableProfiles: Profiles.names,
                host: .current(environment: environment, fileSeverity: .warning)
            ).configuration
        return ControlSocket.find(configuration: configuration, isNamed: isNamed, environment: environment)
    }

    /// The same, where the command cannot do without it.
    func configuration(environment: [String: String]) throws(CommandFailure) -> Configuration {
        let check = ConfigurationCheck(
            path: path, readableProfiles: Profiles.names,
            host: .current(environment: environment, fileSeverity: .warning))
        if let configuration = check.configuration { return configuration }
        let first = check.diagnostics.first { $0.severity == .error }?.description ?? path
        throw CommandFailure(.configuration, "\(first) (ingestd check tells all)")
    }

    static func target(_ text: String) throws(CommandFailure) -> PairingTarget {
        do {
            return try ControlMessage.Target(target: text).parsed()
        } catch {
            throw CommandFailure(.usage, "\(text): \(error.error)")
        }
    }
}
