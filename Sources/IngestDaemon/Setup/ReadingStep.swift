/// The first reading: waited for until each destination has dealt with it.
struct ReadingStep: Sendable {
    private static let pace = Duration.seconds(1)

    let dialogue: Dialogue
    let service: any SetupService
    let clock: any GatewayClock
    let patience: Duration

    /// - Parameter number: of the newest record before the device was set up; nil where the queue cannot be read.
    /// - Returns: whether a reading was delivered.
    func run(_ device: SetupDevice, after number: Int64?) async throws -> Bool {
        try dialogue.say(
            "Take a reading with \(device.label); if you have just taken one, wait half a minute first. Before and while "
                + "you measure:"
        )
        let instructions = device.model.instructions
        for text in [instructions.beforeMeasurement, instructions.duringMeasurement] where !text.isEmpty {
            try dialogue.say("  \(text)")
        }
        try dialogue.say(
            "Waiting up to \(Self.text(patience)). Ctrl-C leaves; the service goes on by itself.")
        var shown: Set<String> = []
        var last = ""
        let end = clock.now + patience
        repeat {
            if let found = await service.newestRecord(after: number ?? 0, of: device), number != nil {
                if let line = Self.line(of: found), shown.insert(line).inserted { try dialogue.say(line) }
                if let isDelivered = try report(found, device) { return isDelivered }
            }
            if let status = try? await service.status() {
                if let line = Self.line(of: device, in: status), line != last {
                    last = line
                    try dialogue.say(line)
                }
                for line in Self.lines(ofDestinationsIn: status) where shown.insert(line).inserted {
                    try dialogue.say(line)
                }
            }
            try await clock.sleep(for: Self.pace)
        } while clock.now < end
        try dialogue.say(
            "No reading was delivered within \(Self.text(patience)). The service goes on by itself: ingestd status, and "
                + "journalctl -u ingestd -f, show how it fares.")
        return false
    }

    /// - Returns: whether it was delivered, once each destination has dealt with it.
    private func report(_ found: FoundRecord, _ device: SetupDevice) throws -> Bool? {
        guard let record = found.record else { return nil }
        let open: Set<RecordStanding.State> = [.waiting, .onItsWay]
        guard found.obstacle != .incomplete, !found.standings.contains(where: { open.contains($0.state) })
        else { return nil }
        if found.obstacle == .undecoded {
            try dialogue.say("It cannot be decoded: is \(device.label) of the model \(device.model.id)?")
            return false
        }
        guard found.obstacle == nil else { return nil }
        for standing in found.standings {
            switch standing.state {
            case .done:
                try dialogue.say(
                    "Delivered to \(standing.destination): \(record.kind.rawValue) of \(device.label), "
                        + "\(record.wallTime.dropFirst(11).prefix(5))")
            case .setAside:
                try dialogue.say(
                    "\(standing.destination) did not take it: \(standing.error ?? "set aside") (ingestd failed list)"
                )
            default: try dialogue.say("\(standing.destination): \(standing.state.message)")
            }
        }
        return found.standings.contains { $0.state == .done }
    }

    private static func line(of found: FoundRecord) -> String? {
        if found.obstacle == .undated { return "It gave a reading, which waits for the clock of the box." }
        return found.record.map { "It gave a reading: \($0.kind.rawValue)." }
    }

    private static func line(of device: SetupDevice, in status: GatewayStatus) -> String? {
        let peripheral = status.peripherals.first { peripheral in
            device.address.map { peripheral.address == $0.description } ?? (peripheral.id == device.model.id)
        }
        switch peripheral?.state {
        case .unheard: return "Not heard yet since it was added."
        case .waiting: return "It is in range, and is read next."
        case .reading: return "It is being read."
        case .quieting, .cooling: return "It was read."
        case .backingOff: return "A read failed; it is tried again by itself."
        case .bondMissing: return "It must be paired: ingestd pair \(device.target)"
        case .idle, nil: return nil
        }
    }

    private static func lines(ofDestinationsIn status: GatewayStatus) -> [String] {
        status.destinations.filter { $0.pending > 0 && $0.state != "up" }.map { destination in
            "\(destination.name): \(destination.state)" + (destination.lastError.map { " (\($0))" } ?? "")
                + ", tried again by itself"
        }
    }

    private static func text(_ duration: Duration) -> String {
        let seconds = duration.components.seconds
        return seconds % 60 == 0 ? "\(seconds / 60) min" : "\(seconds) s"
    }
}
