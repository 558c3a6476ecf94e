import ArgumentParser
import FoundationEssentials
import Glibc
import Synchronization

/// `ingestd scan`: lists what is in the air.
struct Scan: AsynchronousCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract: "List the devices in range, with their models and entries for the allow-list.",
        discussion: """
            The strongest signal first. Each device that the catalogue knows comes with its entry for the allow-list, \
            to be put under peripherals in a file of conf.d. Devices are asked for their names (an active scan) \
            while this runs; reading waits meanwhile. A device has to be awake: start it first. The running service \
            scans; where none runs, the command itself, which then needs CAP_NET_ADMIN. Ctrl-C stops it. With --add \
            it asks which one to allow, by a number, and writes its entry as ingestd add does. For example:

              ingestd scan --known
              ingestd scan --known --add
            """)

    @Option(help: ArgumentHelp("How long to listen, 1 to 120.", valueName: "seconds"))
    var seconds = 15

    @Flag(help: "Only devices that a model of the catalogue fits.")
    var known = false

    @Flag(help: "Print one JSON object a device.")
    var json = false

    @Flag(help: "Ask which of them to allow, and write its entry into a file of conf.d.")
    var add = false

    @OptionGroup var service: ServiceOptions

    func validate() throws {
        if add, json { throw ValidationError("--add asks, and --json is for programs") }
        guard ControlMessage.Scan.seconds.contains(seconds) else {
            throw ValidationError("--seconds: expected 1 to 120")
        }
    }

    func serve() async throws {
        // Up to the first suspension the process has one thread, whose capabilities are those of the process.
        let environment = ProcessInfo.processInfo.environment
        let configuration = try service.configuration(environment: environment)
        let socket = try service.socket()
        if add, isatty(STDIN_FILENO) != 1 {
            throw CommandFailure(
                .usage, "--add asks, and standard input is no terminal: ingestd add ID ADDRESS")
        }
        let devices: [AirDevice]
        if ControlSocket.isAnswered(socket) != false {
            devices = try await scanByService(at: socket)
        } else {
            let management: ManagementDescriptor
            do throws(ManagementError) {
                management = try ManagementDescriptor.openAndDropPrivileges()
            } catch {
                throw error == .noPermission
                    ? CommandFailure(
                        .noPermission,
                        "no service listens at \(socket), and without CAP_NET_ADMIN this cannot scan itself: "
                            + "systemctl start ingestd, or run it as root")
                    : CommandFailure(error)
            }
            let scan = OwnScan(configuration: configuration, duration: .seconds(seconds))
            devices = try await scan.run(on: management)
        }
        if add { try await choose(among: devices, configuration) } else { try show(devices, configuration) }
    }

    /// Asks which of the devices to allow, as `setup` does.
    private func choose(among devices: [AirDevice], _ configuration: Configuration) async throws {
        Progress.end()
        let dialogue = Dialogue(terminal: ConsoleTerminal(), asks: true)
        var list = DeviceList()
        let found = devices.map {
            FoundDevice($0, catalogue: configuration.catalogue, readableProfiles: Profiles.names)
        }
        for line in list.add(found) { try dialogue.terminal.write(line) }
        guard !list.shown.isEmpty else {
            return try dialogue.say("No device of a known model was heard: start it, as for a measurement.")
        }
        let running = RunningService(options: service)
        let choice = DeviceChoice(dialogue: dialogue, service: running)
        let step = DeviceStep(
            dialogue: dialogue, service: running, written: WrittenFiles(), path: service.absolutePath,
            answers: DeviceStep.Answers(isNotPaired: true))
        _ = try await step.setUp(try await choice.choose(among: list, configuration), configuration)
    }

    private func scanByService(at socket: String) async throws -> [AirDevice] {
        let message = ControlMessage.Scan(seconds: seconds)
        let heard = Mutex<[AirDevice]>([])
        try await ServiceOrder.follow(at: socket) { client throws(ControlClient.Failure) in
            try await client.beginScan(message)
        } _: { step, _ in
            switch step.step {
            case .readingUnderWay: Progress.show(step.text ?? "")
            case .scanning: Self.showProgress(found: step.found ?? 0, left: step.seconds ?? 0)
            case .done: heard.withLock { $0 = step.devices ?? [] }
            default: break
            }
        }
        return heard.withLock { $0 }
    }

    static func showProgress(found: Int, left: Int) {
        Progress.show("\(found.counted("device")), \(left) s to go")
    }

    private func show(_ devices: [AirDevice], _ configuration: Configuration) throws {
        Progress.end()
        var found = devices.map {
            FoundDevice($0, catalogue: configuration.catalogue, readableProfiles: Profiles.names)
        }
        if known { found.removeAll { $0.matches.isEmpty && $0.listed == nil } }
        if json {
            for device in found { try StandardOutput.write(device.json + "\n") }
            return
        }
        for device in found {
            try StandardOutput.write(FoundDeviceText(device).lines.joined(separator: "\n") + "\n")
        }
        let hidden = devices.count - found.count
        try StandardOutput.write(
            (found.isEmpty ? "" : "\n") + found.count.counted("device")
                + (hidden > 0 ? ", and \(hidden) of no known model" : "")
                + (found.isEmpty ? ": start the device, as for a measurement, and scan again" : "") + "\n")
    }
}
