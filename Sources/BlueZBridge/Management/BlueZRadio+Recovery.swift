/// Switches an adapter off and on that does not work any more (`AdapterRecovery`).
extension BlueZRadio {
    /// Powering off ends links and resets the controller, with a time-out of the kernel for each.
    private static let powerTimeout = Duration.seconds(60)
    /// Between the questions whether something remains of an attempt: the first pause, and from which on it does.
    private static let firstPause = Duration.milliseconds(250)
    private static let longestPause = Duration.seconds(16)

    /// Notes that a command has failed, if that says that the controller does not answer.
    func note(_ error: ManagementError, of index: UInt16) {
        // What switching it off and on has come to shows in what follows.
        guard inventory[index]?.isResetting == false else { return }
        switch error {
        case .noAnswer(let opcode), .status(ManagementProtocol.Status.timeout, let opcode),
            .status(ManagementProtocol.Status.hciTimeout, let opcode):
            inventory[index]?.recovery.want(.unanswered(opcode: opcode), at: clock.now)
            checkRecovery(index)
        default: break
        }
    }

    /// Asks the controller for its clock, which is of no use but that it has to answer: of what else a silent adapter is
    /// told, the kernel does all by itself. It tells nobody how that ended (net/bluetooth/mgmt.c, get_clock_info_sync); so
    /// the time tells.
    func askController(_ index: UInt16) async throws(ManagementError) {
        var questions = ControllerQuestions()
        while questions.answers == nil {
            let asked = clock.now
            do {
                try await command(
                    ManagementProtocol.Opcode.getClockInformation, index, [UInt8](repeating: 0, count: 7))
            } catch .status(let status, _) where status != ManagementProtocol.Status.invalidIndex {
                // There is no link whose clock could be told.
            }
            questions.ended(after: clock.now.since(asked))
        }
        if questions.answers == true { return }
        let error = ManagementError.noAnswer(opcode: ManagementProtocol.Opcode.getClockInformation)
        note(error, of: index)
        throw error
    }

    /// Notes that it was brought into shape.
    func hasWorked(_ index: UInt16) {
        let wasBeyondHelp = inventory[index]?.recovery.isBeyondHelp
        inventory[index]?.recovery.answered()
        if inventory[index]?.recovery.isBeyondHelp != wasBeyondHelp { publish() }
        checkRecovery(index)
    }

    /// Notes how a connection attempt ended.
    func noteAttempt(isBusy: Bool, on index: UInt16) {
        inventory[index]?.recovery.attempted(isBusy: isBusy, at: clock.now)
        if isBusy { checkRecovery(index) }
    }

    /// Returns when nothing remains of an attempt that has come to no link. Usually nothing does.
    ///
    /// Where the attempt was given up at the moment at which the controller connected, the kernel may keep it for ever:
    /// it does not scan while a connection is about to be made (hci_update_passive_scan_sync), and takes a further
    /// request to abort it for the first one (hci_abort_conn). Seen on Linux 6.12.
    func endAttempt(_ device: DeviceAddress, on adapter: AdapterID) async {
        var pause = Self.firstPause
        while await hangUp(device, on: adapter), inventory[adapter.index] != nil {
            guard pause < Self.longestPause else {
                inventory[adapter.index]?.recovery.want(.endlessAttempt, at: clock.now)
                return checkRecovery(adapter.index)
            }
            await withCheckedContinuation { continuation in
                loop.after(pause) { continuation.resume() }
            }
            pause *= 2
        }
    }

    /// A link over the adapter is up, or has ended.
    func countLink(_ change: Int, on index: UInt16) {
        inventory[index]?.links += change
        if change < 0 { checkRecovery(index) }
    }

    /// Does what has become due, and looks again when more will.
    func checkRecovery(_ index: UInt16) {
        guard let adapter = inventory[index], adapter.isSelected, !adapter.isResetting else { return }
        if let timer = adapter.recoveryTimer { loop.cancel(timer) }
        inventory[index]?.recoveryTimer = nil
        let now = clock.now
        // One that is switched off hears nothing.
        if adapter.problem == nil, let due = adapter.recovery.silenceDue, due <= now {
            inventory[index]?.recovery.want(.nothingHeard, at: now)
        }
        guard let recovery = inventory[index]?.recovery else { return }
        let due = recovery.due(hasLinks: adapter.links > 0)
        if let due, due <= now { return wantReconciled(index) }
        guard let next = due ?? recovery.silenceDue else { return }
        // Never at once again, whatever is due meanwhile.
        let wait = max(Duration.seconds(1), next.since(now))
        inventory[index]?.recoveryTimer = loop.after(wait) { [weak self] in
            self?.assumeIsolated { $0.checkRecovery(index) }
        }
    }

    /// Switches the adapter off and on, if that is due.
    func recover(_ index: UInt16) async throws(ManagementError) {
        guard let adapter = inventory[index], adapter.isSelected,
            let due = adapter.recovery.due(hasLinks: adapter.links > 0), due <= clock.now
        else { return }
        inventory[index]?.recovery.begin(at: clock.now)
        inventory[index]?.isResetting = true
        // Whether it has helped shows when the controller is asked, and what the kernel did not switch off begins anew.
        inventory[index]?.restartsScan = true
        setProblem(.resetting, of: index)
        publish()
        defer {
            inventory[index]?.isResetting = false
            checkRecovery(index)
        }
        try await setPower(0, of: index)
        guard try await !setPower(1, of: index) else { return }
        // It is off now, and nobody else would switch it on.
        inventory[index]?.recovery.want(
            .unanswered(opcode: ManagementProtocol.Opcode.setPowered), at: clock.now)
    }

    /// - Returns: whether it was done. If not, the other half may help all the same.
    @discardableResult
    private func setPower(_ power: UInt8, of index: UInt16) async throws(ManagementError) -> Bool {
        do {
            try await command(ManagementProtocol.Opcode.setPowered, index, [power], within: Self.powerTimeout)
            return true
        } catch .noAnswer, .system {
            return false
        } catch .status(let status, _) where status != ManagementProtocol.Status.invalidIndex {
            return false
        }
    }
}
