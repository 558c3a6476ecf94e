import ArgumentParser
import IngestDaemon
import PeripheralSimulator

/// `ingestd-simulated run`: the gateway on simulated peripherals.
struct SimulatedRun: AsynchronousCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract:
            "Read simulated peripherals and deliver their readings to loopback addresses, until told to stop."
    )

    enum RadioKind: String, ExpressibleByArgument, CaseIterable {
        case simulated
    }

    @OptionGroup var options: RunOptions

    @Option(help: "simulated: the built-in peripherals, or those of --peripherals.")
    var radio = RadioKind.simulated

    @Option(
        help: ArgumentHelp(
            "For tests: the socket of another process that simulates the peripherals.", valueName: "socket"))
    var peripherals: String?

    func serve() async throws {
        let socket = peripherals
        try await options.serve(
            on: {
                .simulated { parts throws(CommandFailure) in
                    if let socket { try Self.hosted(socket, parts) } else { try Self.builtIn(parts) }
                }
            }, refusing: Self.refuseRealDestinations)
    }

    /// Simulated readings are nobody's, and must not reach a real backend.
    @Sendable private static func refuseRealDestinations(
        of configuration: Configuration
    ) throws(CommandFailure) {
        let real = configuration.destinations.filter { !$0.isLoopback }.map(\.name)
        guard real.isEmpty else {
            throw CommandFailure(
                .configuration,
                "--radio simulated delivers to loopback addresses only, and these destinations are "
                    + "elsewhere: \(real.joined(separator: ", "))")
        }
    }

    private static func builtIn(_ parts: RadioParts) throws(CommandFailure) -> OpenedRadio {
        let radio: SimulatedRadio
        do {
            radio = try SimulatedRadio.builtIn(clock: parts.clock, loop: parts.loop, zone: parts.zone)
        } catch {
            throw CommandFailure(.unavailable, "the simulated peripherals cannot be reached: \(error)")
        }
        return OpenedRadio(radio: radio, isSimulated: true, bondKeeper: radio.bondKeeper) {
            await summary(of: radio)
        }
    }

    /// What the peripherals saw confirmed, a line each: to be compared with what arrived.
    private static func summary(of radio: SimulatedRadio) async -> String {
        await radio.report().peripherals.map { peripheral in
            "simulated \(peripheral.address): \(peripheral.readings) readings, \(peripheral.confirmed) "
                + "confirmed, \(peripheral.linksAccepted) links"
        }.joined(separator: "\n")
    }

    private static func hosted(_ path: String, _ parts: RadioParts) throws(CommandFailure) -> OpenedRadio {
        let peripherals = HostedPeripherals(path: path, loop: parts.loop)
        do {
            let radio = BlueZRadio(
                management: try peripherals.management(), connector: peripherals, loop: parts.loop,
                clock: parts.clock, settings: parts.settings { false })
            return OpenedRadio(radio: radio, isSimulated: true)
        } catch {
            throw CommandFailure(.unavailable, "\(path): nobody simulates peripherals there")
        }
    }
}
