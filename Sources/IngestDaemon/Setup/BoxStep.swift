/// The box: its service, its adapter and its clock.
struct BoxStep: Sendable {
    /// How long a start may take until the service answers: the unit's 90 s, and some to spare.
    static let patience = Duration.seconds(120)
    private static let pace = Duration.seconds(1)
    private static let looks = 10

    let dialogue: Dialogue
    let service: any SetupService
    let clock: any GatewayClock

    func run() async throws {
        var status = try await runningStatus()
        while let problem = try await adapterProblem(&status) {
            guard
                try await dialogue.confirm("Adapter: \(problem). Look again?", standard: true, unasked: false)
            else { throw CommandFailure(.unavailable, problem) }
        }
        let names = status.adapters.map(\.name).joined(separator: ", ")
        try dialogue.say("Service: runs, version \(status.version). Adapter: \(names).")
        if status.isClockRight {
            try dialogue.say("Clock: right.")
        } else {
            try dialogue.say(
                "Clock: not known to be right. Readings wait until it is: timedatectl, or \"A box without the "
                    + "time\" in the document on operating.")
        }
        if let defect = status.kernelDefect {
            try dialogue.say("Kernel: \(defect) is known to crash with Bluetooth: ingestd status says more.")
        }
    }

    /// Why no adapter can be used; one takes some seconds after it was plugged in, or the service was started.
    private func adapterProblem(_ status: inout GatewayStatus) async throws -> String? {
        var problem: String?
        for _ in 0..<Self.looks {
            problem = try await adapterProblem(status)
            guard problem != nil else { break }
            try await clock.sleep(for: Self.pace)
            status = try await runningStatus()
        }
        return problem
    }

    private func adapterProblem(_ status: GatewayStatus) async throws -> String? {
        guard !status.adapters.isEmpty else { return "no Bluetooth adapter was found: plug one in" }
        guard !status.adapters.contains(where: \.isListening) else { return nil }
        guard status.peripherals.isEmpty else {
            let reasons = status.adapters.compactMap { adapter in
                adapter.reason.map { "\(adapter.name) \($0)" }
            }
            return "no Bluetooth adapter can be used: \(reasons.joined(separator: ", "))"
        }
        // With nothing on the allow-list none listens: a scan tells whether one can.
        do {
            _ = try await service.scan(seconds: 1)
            return nil
        } catch let failure as CommandFailure where failure.status == .unavailable {
            return failure.message
        } catch is CommandFailure {
            // Another order is under way, which has an adapter.
            return nil
        }
    }

    private func runningStatus() async throws -> GatewayStatus {
        if let status = try await service.status() { return status }
        let order = "systemctl enable --now ingestd"
        guard service.isRoot, service.isInstalled else {
            throw CommandFailure(.unavailable, "the service does not run. Start it, as root: \(order)")
        }
        guard try await dialogue.confirm("The service does not run. Start it now (\(order))?", standard: true)
        else { throw CommandFailure(.unavailable, "the service does not run: \(order)") }
        guard await service.enable() else {
            throw CommandFailure(.unavailable, "\(order) failed: systemctl status ingestd says why")
        }
        return try await Self.answer(of: service, by: clock)
    }

    /// Waits until the service answers.
    static func answer(
        of service: any SetupService, by clock: any GatewayClock,
        where isWanted: (GatewayStatus) -> Bool = { _ in true }
    ) async throws -> GatewayStatus {
        let end = clock.now + patience
        repeat {
            // One that is just starting may break off.
            if let status = try? await service.status(), isWanted(status) { return status }
            try await clock.sleep(for: pace)
        } while clock.now < end
        throw CommandFailure(
            .unavailable,
            "the service has not started within \(patience.components.seconds) s: systemctl status ingestd says why"
        )
    }
}
