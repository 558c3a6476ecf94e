/// The device: heard, chosen, named, written, paired.
struct DeviceStep: Sendable {
    /// What was said on the command line.
    struct Answers: Sendable {
        var model: Int?
        var address: String?
        var alias: String?
        var subject: String?
        var isNotPaired = false
    }

    let dialogue: Dialogue
    let service: any SetupService
    let written: WrittenFiles
    /// Of the configuration; absolute.
    let path: String
    let answers: Answers

    /// - Parameter configuration: as it is now.
    func run(_ configuration: Configuration) async throws -> SetupDevice {
        if answers.model != nil || answers.address != nil || !dialogue.asks {
            return try await setUp(try given(configuration), configuration)
        }
        let choice = DeviceChoice(dialogue: dialogue, service: service)
        return try await setUp(try await choice.run(configuration), configuration)
    }

    /// Names the device that was chosen, writes its entry, has the service take it up, and pairs with it if its model
    /// needs that.
    func setUp(_ choice: DeviceChoice.Choice, _ configuration: Configuration) async throws -> SetupDevice {
        if let listed = choice.listed {
            try dialogue.say("It is on the allow-list already.")
            return SetupDevice(model: choice.model, address: choice.address, alias: listed.alias)
        }
        var device = SetupDevice(model: choice.model, address: choice.address)
        let (alias, subject) = try await name(device, isPrivate: choice.isPrivate, configuration)
        device.alias = alias
        try await write(device, subject: device.address == nil ? nil : subject, replaces: false)
        guard device.model.bonding == .required, choice.isBonded != true else { return device }
        guard !answers.isNotPaired else {
            try dialogue.say("It must be paired, if it is not yet: ingestd pair \(device.target)")
            return device
        }
        let pairing = PairingStep(dialogue: dialogue, service: service)
        if let address = try await pairing.run(device), device.address == nil {
            // The bond tells who it is: its entry names it from now on.
            device.address = address
            try await write(device, subject: subject, replaces: true)
        }
        return device
    }

    private func given(_ configuration: Configuration) throws -> DeviceChoice.Choice {
        guard let id = answers.model else {
            throw CommandFailure(
                .usage, "--model is missing: the number of the device's model (ingestd scan)")
        }
        guard let model = configuration.catalogue[id] else {
            throw CommandFailure(
                .usage, "--model \(id): no model has this ID; ingestd peripherals lists them")
        }
        let address = try answers.address.map { text throws(CommandFailure) in
            guard let address = BluetoothAddress(text) else {
                throw CommandFailure(.usage, "--address: expected an address such as F1:F1:F1:F1:F1:F1")
            }
            return address
        }
        return DeviceChoice.Choice(model: model, address: address)
    }

    private func name(
        _ device: SetupDevice, isPrivate: Bool, _ configuration: Configuration
    ) async throws -> (alias: String, subject: String?) {
        let aliases = configuration.peripherals.compactMap(\.alias)
        let alias = try await dialogue.ask(
            "What do you call it", flag: "--alias", given: answers.alias,
            standard: DestinationStep.free(device.model.type, among: aliases)
        ) { text throws(WrongAnswer) in
            if let problem = problem(device, alias: text, subject: nil, "alias") {
                throw WrongAnswer(problem)
            }
            return text
        }
        guard device.address != nil || isPrivate && device.model.bonding == .required else {
            guard answers.subject == nil else {
                throw CommandFailure(.usage, "--subject needs --address: readings of any device are nobody's")
            }
            try dialogue.say("No address stands for it, so its readings belong to nobody (unassigned).")
            return (alias, nil)
        }
        let person = configuration.destinations.compactMap(\.form.person).first
        // An Enter too many must not make a person's readings nobody's.
        let subject = try await dialogue.ask(
            "Whose readings are these" + (person == nil ? " (unassigned if nobody's)" : ""),
            flag: "--subject",
            given: answers.subject, standard: person, unasked: "unassigned"
        ) { text throws(WrongAnswer) in
            guard text != "unassigned" else { return "" }
            var named = device
            // Only beside an address, which a private one gets when it is paired.
            named.address = device.address ?? BluetoothAddress(value: 0xC0FF_EE00_0001)
            if let problem = problem(named, alias: alias, subject: text, "subject") {
                throw WrongAnswer(problem)
            }
            return text
        }
        return (alias, subject.isEmpty ? nil : subject)
    }

    private func piece(_ alias: String) -> DevicePiece {
        DevicePiece(besideConfiguration: path, named: alias)
    }

    /// What is wrong with the answer for a key, as `ingestd check` says it.
    private func problem(_ device: SetupDevice, alias: String, subject: String?, _ key: String) -> String? {
        let piece = piece(alias)
        if key == "alias", FileStatus(piece.path) != nil { return "there is a file \(piece.path)" }
        let item = EntryText.item(device.model, address: device.address, alias: alias, subject: subject)
        return piece.check(item).diagnostics.first {
            $0.path == piece.path && $0.severity == .error && $0.key?.hasSuffix(".\(key)") == true
        }?.message
    }

    private func write(_ device: SetupDevice, subject: String?, replaces: Bool) async throws {
        let piece = piece(device.label)
        let item = EntryText.item(
            device.model, address: device.address, alias: device.alias, subject: subject)
        let warnings = try piece.write(item, replaces: replaces)
        written.add(piece.path)
        try dialogue.say("Wrote \(piece.path):\n  \(TerminalText.line(item))")
        for warning in warnings { try dialogue.say("  \(warning.description)") }
        let isRunning = try await service.reload()
        try dialogue.say(
            isRunning ? "The service has taken it up." : "No service runs: systemctl start ingestd")
    }
}
