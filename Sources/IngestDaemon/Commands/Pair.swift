import ArgumentParser
import FoundationEssentials
import Synchronization

/// `ingestd pair`: pairs with a device by the running service.
struct Pair: AsynchronousCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Pair with a device of the allow-list.",
        discussion: """
            Shows the model's pairing instructions, waits up to two minutes until the device is heard, and \
            pairs with it. A passkey is asked for, or taken from the credential that the entry names. The \
            running service does it; its passive reading waits meanwhile. Ctrl-C stops it. For example:

              ingestd pair 1001
              ingestd pair "kitchen cuff"
            """)

    @Argument(
        help: "The model's catalogue ID, for any device of it, or the device's address or alias.",
        completion: Completions.devices)
    var target: String

    @Flag(help: "Write an entry that is pinned to the paired device into a file of conf.d.")
    var add = false

    @Option(help: "With --add: whose readings these are. Default: nobody's, unassigned.")
    var subject: String?

    @OptionGroup var service: ServiceOptions

    @Flag(help: "Print each step as a JSON object on a line.")
    var json = false

    func validate() throws {
        if subject != nil, !add { throw ValidationError("--subject has no meaning without --add") }
    }

    func serve() async throws {
        let target = try service.target(target)
        let screen = PairingScreen(printsJSON: json, showsEntry: !add)
        let paired = Mutex<OperatorStep?>(nil)
        try await ServiceOrder.follow(at: try service.socket()) { client throws(ControlClient.Failure) in
            try await client.beginPairing(target)
        } _: { step, answer in
            try screen.show(step)
            switch step.step {
            case .paired: paired.withLock { $0 = step }
            case .passkeyWanted:
                screen.answer(
                    { .init(passkey: PairingScreen.typedPasskey(), step: step.number) }, with: answer)
            case .confirmNumber:
                screen.answer(
                    { .init(sameNumber: PairingScreen.typedYes(), step: step.number) }, with: answer)
            default: break
            }
        }
        guard add, let step = paired.withLock({ $0 }), let id = step.peripheralID, let address = step.address
        else { return }
        try await pin(id, to: address)
    }

    /// Has an entry name the device that is paired: in the place of its model's, if `add` wrote that, or beside it.
    private func pin(_ id: Int, to address: BluetoothAddress) async throws {
        let check = ConfigurationCheck(
            path: service.path, readableProfiles: Profiles.names,
            host: .current(environment: ProcessInfo.processInfo.environment, fileSeverity: .warning))
        guard let configuration = check.configuration, let model = configuration.catalogue[id] else {
            throw CommandFailure(.configuration, "\(check.summary) (ingestd check tells all)")
        }
        if let entry = configuration.peripherals.first(where: { $0.address == address }) {
            try StandardOutput.write("Its entry names it already: \(entry.alias ?? address.description).\n")
            return
        }
        let former = zip(configuration.peripherals, check.places).first { entry, place in
            entry.model.id == id && entry.address == nil && check.places.count { $0.path == place.path } == 1
                && (try? DevicePiece.isOurs(place.path)) == true
        }
        let item = EntryText.item(
            model, address: address, alias: former?.0.alias, subject: subject, requiresBond: true)
        let piece =
            former.map { DevicePiece(at: $0.1.path, of: service.path) }
            ?? DevicePiece(besideConfiguration: service.path, named: address.description)
        for warning in try piece.write(item, replaces: former != nil) {
            StandardError.print(warning.description)
        }
        try StandardOutput.write("\(piece.path):\n  \(TerminalText.line(item))\n")
        try await DevicePiece.reload(by: service)
    }
}

/// `ingestd unpair`: removes bonds by the running service.
struct Unpair: AsynchronousCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpair",
        abstract: "Remove the bond with a device.",
        discussion: """
            With a model's ID, of all devices that entries of it name by address. The device keeps its side \
            of the bond: clear that there. For example:

              ingestd unpair "kitchen cuff"
            """)

    @Argument(
        help: "The device's address or alias, or a model's catalogue ID.", completion: Completions.devices)
    var target: String

    @OptionGroup var service: ServiceOptions

    @Flag(help: "Print the result as one JSON object.")
    var json = false

    func serve() async throws {
        let target = try service.target(target)
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
        name: .customLong("config"), help: ArgumentHelp("The service's configuration.", valueName: "path"),
        completion: .file())
    var path = Configuration.defaultPath

    var isNamed: Bool { path != Configuration.defaultPath }

    var absolutePath: String {
        path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
    }

    /// Where the service listens. That the installed configuration cannot be read is no obstacle: the installed
    /// service is at its usual place, and a command of the service's own is told the place. One that was named and cannot
    /// be read may be of another service.
    func socket() throws(CommandFailure) -> String {
        if isNamed, !FileManager.default.fileExists(atPath: path) {
            let words =
                BoundedFile.isHidden(path) ? "you may not see it: run it as root" : "there is no such file"
            throw CommandFailure(.configuration, "\(path): \(words)")
        }
        let environment = ProcessInfo.processInfo.environment
        // Its files of keys and certificates are the service's to read.
        let configuration =
            isNamed && environment["RUNTIME_DIRECTORY"] == nil
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

    /// The device that an argument names: by a catalogue ID, an address, or an alias of the configuration.
    func target(_ text: String) throws(CommandFailure) -> PairingTarget {
        if let target = PairingTarget(text) { return target }
        let devices = try configuration(environment: ProcessInfo.processInfo.environment).peripherals
        if let device = devices.first(where: { $0.alias == text }) {
            return device.address.map { .device($0) } ?? .model(device.model.id)
        }
        let near = Spelling.nearest(to: text, among: devices.compactMap(\.alias))
        throw CommandFailure(
            .usage,
            "\(TerminalText.line(text)): expected a catalogue ID such as 1001, an address such as F1:F1:F1:F1:F1:F1, or an "
                + "alias of the configuration" + (near.map { "; did you mean \"\($0)\"?" } ?? ""))
    }
}
