import ArgumentParser
import FoundationEssentials

/// `ingestd add`: writes the entry of one device into a file of conf.d.
struct Add: AsynchronousCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Allow a device: write its entry into a file of conf.d.",
        discussion: """
            With every key that the model needs. The configuration is checked with it first, and nothing is \
            written if it were wrong. The running service takes it up at once. ingestd scan shows models and \
            addresses, ingestd remove takes the device out again. For example:

              ingestd add 1002
              ingestd add 1001 F1:F1:F1:F1:F1:F1 --alias "kitchen cuff" --subject patient-17
            """)

    @Argument(help: ArgumentHelp("The model's catalogue ID.", valueName: "id"))
    var id: Int

    @Argument(help: "The device's address; without it any device of the model is meant.")
    var address: String?

    @Option(help: "What you call it.")
    var alias: String?

    @Option(help: "Whose readings these are. Default: nobody's, unassigned. Needs the address.")
    var subject: String?

    @OptionGroup var service: ServiceOptions

    func serve() async throws {
        let catalogue = try loadedCatalogue()
        guard let model = catalogue[id] else {
            throw CommandFailure(.usage, "no model has ID \(id); ingestd peripherals lists them")
        }
        let device = try address.map { text throws(CommandFailure) in
            guard let device = BluetoothAddress(text) else {
                throw CommandFailure(
                    .usage, "\(TerminalText.line(text)): expected an address such as F1:F1:F1:F1:F1:F1")
            }
            return device
        }
        let piece = DevicePiece(
            besideConfiguration: service.path, named: alias ?? device?.description ?? String(id))
        let item = EntryText.item(model, address: device, alias: alias, subject: subject)
        let warnings = try piece.write(item)
        for warning in warnings { StandardError.print(warning.description) }
        try StandardOutput.write("\(piece.path):\n  \(TerminalText.line(item))\n")
        try await DevicePiece.reload(by: service)
    }

    private func loadedCatalogue() throws -> Catalogue {
        do throws(ConfigurationError) {
            return try Catalogue.load(additions: Catalogue.additions(besideConfiguration: service.path))
                .catalogue
        } catch {
            throw CommandFailure(.configuration, error.description)
        }
    }
}

/// `ingestd remove`: takes a device out of the configuration again.
struct Remove: AsynchronousCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Take a device out of the configuration: delete the file that ingestd add wrote.",
        discussion: """
            It is not read any more. What was read of it stays in the queue and is delivered; its bond stays, which \
            ingestd unpair removes. An entry in a file that somebody wrote by hand is shown with its place, to be \
            deleted there. For example:

              ingestd remove "kitchen cuff"
            """)

    @Argument(
        help: "The device's alias or address, or the model's catalogue ID.", completion: Completions.devices)
    var device: String

    @OptionGroup var service: ServiceOptions

    func serve() async throws {
        let check = ConfigurationCheck(
            path: service.path, readableProfiles: Profiles.names,
            host: .current(environment: ProcessInfo.processInfo.environment, fileSeverity: .warning))
        guard let configuration = check.configuration else {
            throw CommandFailure(.configuration, "\(check.summary) (ingestd check tells all)")
        }
        let entries = zip(configuration.peripherals, check.places).filter { entry, _ in
            entry.alias == device || entry.address?.description == device.uppercased()
                || String(entry.model.id) == device
        }
        guard let (_, place) = entries.first else {
            let near = Spelling.nearest(
                to: device, among: configuration.peripherals.compactMap(\.alias)
            ).map { "; did you mean \"\($0)\"?" }
            throw CommandFailure(
                .usage, "\(TerminalText.line(device)): no entry of the allow-list is called so\(near ?? "")")
        }
        guard entries.count == 1 else {
            let places = entries.map { "\($1.path):\($1.line)" }.joined(separator: ", ")
            throw CommandFailure(
                .usage, "\(device): there are \(entries.count), name one by its address: \(places)")
        }
        guard try DevicePiece.isOurs(place.path), check.places.count(where: { $0.path == place.path }) == 1
        else {
            throw CommandFailure(
                .badData,
                "\(place.path):\(place.line): somebody wrote this by hand; delete the entry there, then ingestd reload"
            )
        }
        try DevicePiece.delete(place.path, of: service.path)
        try StandardOutput.write("Deleted \(place.path).\n")
        try await DevicePiece.reload(by: service)
    }
}
