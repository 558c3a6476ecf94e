/// Which of the devices in range it is.
struct DeviceChoice: Sendable {
    struct Choice: Sendable {
        var model: PeripheralModel
        /// By which it is pinned.
        var address: BluetoothAddress?
        /// Whether its address changes, so that nothing pins it before it is paired.
        var isPrivate = false
        var listed: AirDevice.Listing?
        var isBonded: Bool?
    }

    private enum Answer {
        case again
        case heard(FoundDevice)
        case typed(PeripheralModel, BluetoothAddress)
    }

    /// How long one look into the air takes, and how many there are until it is asked whether to go on.
    private static let seconds = 5
    private static let looks = 12

    let dialogue: Dialogue
    let service: any SetupService

    func run(_ configuration: Configuration) async throws -> Choice {
        var list = DeviceList()
        try dialogue.say(
            "Device: put it into its pairing mode if it has to be paired, as its manual says; else start it as for a "
                + "measurement. Keep it near the box, and not beside a phone that knows it.")
        while true {
            try await listen(&list, configuration)
            let answer = try await dialogue.ask(
                "Its number, r to listen on, or model ID and ADDRESS", flag: "--model", standard: "r"
            ) { text throws(WrongAnswer) in try Self.read(text, list, configuration.catalogue) }
            if let choice = try await choice(answer, list, configuration) { return choice }
        }
    }

    /// The same among devices that were heard already.
    func choose(among list: DeviceList, _ configuration: Configuration) async throws -> Choice {
        while true {
            let answer = try await dialogue.ask("Its number, or model ID and ADDRESS", flag: nil) {
                text throws(WrongAnswer) in try Self.read(text, list, configuration.catalogue)
            }
            if let choice = try await choice(answer, list, configuration) { return choice }
        }
    }

    /// - Returns: nil if none was chosen.
    private func choice(
        _ answer: Answer, _ list: DeviceList, _ configuration: Configuration
    ) async throws -> Choice? {
        switch answer {
        case .again: return nil
        case .heard(let device): return try await choice(device, configuration)
        case .typed(let model, let address):
            let heard = list.shown.first { $0.address == address }
            return Choice(model: model, address: address, listed: heard?.listed, isBonded: heard?.isBonded)
        }
    }

    /// Listens until there is something new to choose, and shows each device as soon as it was heard.
    private func listen(_ list: inout DeviceList, _ configuration: Configuration) async throws {
        try dialogue.say("Listening for up to a minute, until there is something new ...")
        for _ in 0..<Self.looks {
            let heard: [AirDevice]
            do {
                heard = try await service.scan(seconds: Self.seconds)
            } catch let failure as CommandFailure where dialogue.asks {
                try dialogue.say("  \(failure.message)")
                return
            }
            let found = heard.map {
                FoundDevice($0, catalogue: configuration.catalogue, readableProfiles: Profiles.names)
            }
            let lines = list.add(found)
            for line in lines { try dialogue.terminal.write(line) }
            if !lines.isEmpty, list.hasNew { break }
        }
        if list.shown.isEmpty {
            try dialogue.say("No device of a known model was heard: is it awake, and near?")
        }
        if let note = list.note { try dialogue.say(note) }
    }

    private static func read(
        _ text: String, _ list: DeviceList, _ catalogue: Catalogue
    ) throws(WrongAnswer) -> Answer {
        if text.lowercased() == "r" { return .again }
        let words = text.split(separator: " ")
        if words.count == 2, let id = Int(words[0]), let address = BluetoothAddress(words[1]) {
            guard let model = catalogue[id] else {
                throw WrongAnswer("no model has ID \(id); ingestd peripherals lists them")
            }
            return .typed(model, address)
        }
        guard words.count == 1, let number = Int(text), list.shown.indices.contains(number - 1) else {
            throw WrongAnswer(
                (list.shown.isEmpty ? "" : "expected a number from 1 to \(list.shown.count), ")
                    + "r, or an ID and an address such as 1001 F1:F1:F1:F1:F1:F1")
        }
        return .heard(list.shown[number - 1])
    }

    private func choice(_ device: FoundDevice, _ configuration: Configuration) async throws -> Choice {
        let isPrivate = device.addressKind == .resolvable || device.addressKind == .nonResolvable
        let address = isPrivate ? nil : device.address
        if let listed = device.listed, let model = configuration.catalogue[listed.id] {
            let isPinned = configuration.peripherals.contains { $0.address == device.address }
            return Choice(
                model: model, address: isPinned ? device.address : nil, listed: listed,
                isBonded: device.isBonded)
        }
        let models = device.matches.filter(\.isReadable).compactMap { configuration.catalogue[$0.id] }
        guard let first = models.first else { throw CommandFailure(.badData, "no model fits this device") }
        var model = first
        if models.count > 1 {
            let models = models.prefix(DeviceList.mostLines)
            for (place, model) in models.enumerated() {
                try dialogue.say("  \(place + 1)  \(model.name) (ID \(model.id))")
            }
            model = try await dialogue.ask(
                "Which model, by its number (Enter if you do not know)", flag: "--model", standard: "1"
            ) { text throws(WrongAnswer) in
                guard let number = Int(text), models.indices.contains(number - 1) else {
                    throw WrongAnswer("expected a number from 1 to \(models.count)")
                }
                return models[number - 1]
            }
        }
        return Choice(model: model, address: address, isPrivate: isPrivate, isBonded: device.isBonded)
    }
}
