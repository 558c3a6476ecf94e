/// What is to be paired.
struct PairingOrder: Sendable {
    let target: PairingTarget
    let entries: [AllowedPeripheral]
    /// What was heard already of a device that is paired without being asked.
    let heard: Advertisement?
}

/// One pairing, from the search for its device to what follows from the bond.
extension OperatorOrders {
    /// Adverts that wait to be looked at.
    private static let mostWaiting = 256

    private enum Input: Sendable {
        case heard(Advertisement)
        case tick
    }

    func pair(_ order: PairingOrder, _ job: OperatorJob) async {
        let list = await gateway.allowList
        let (inputs, input) = AsyncStream.makeStream(
            of: Input.self, bufferingPolicy: .bufferingNewest(Self.mostWaiting))
        await gateway.hold(for: order.target) { advertisement in
            guard let entry = list.match(advertisement, pairing: order.target) else { return false }
            input.yield(.heard(advertisement))
            // It is read on the pairing's link, and must not wait for another read behind that.
            return entry.model.has(.bondFirstThenKeepLink)
        }
        if let heard = order.heard { input.yield(.heard(heard)) }
        let clock = ports.clock
        let ticks = Task {
            repeat { input.yield(.tick) } while (try? await clock.sleep(for: Self.pace)) != nil
        }
        var paired: DeviceAddress?
        let result = await withTaskCancellationHandler {
            await search(order, job, list, inputs)
        } onCancel: {
            input.finish()
        }
        ticks.cancel()
        switch result {
        case .success(let (candidate, bond)):
            // In a task of its own, which is not cancelled: the bond is there.
            await Task { await conclude(order, job, candidate, bond) }.value
            paired = bond.device
        case .failure(let stop):
            let entry = stop.entry ?? order.entries[0]
            var words = stop.failure.message(for: entry.model)
            if order.heard != nil, await gateway.hasSpentPasskey(of: entry) {
                words += "; it is not paired automatically again: run ingestd pair \(entry.model.id)"
            }
            ports.events.emit(.pairFailed(entry.reference, error: words))
            if order.heard != nil { await gateway.automaticPairing(as: entry, succeeded: false) }
            await job.add(
                OperatorStep(
                    .failed, "Could not pair: \(words)", peripheralID: entry.model.id,
                    reason: stop.failure.reason))
        }
        // What reads over the link that the pairing has left is left alone.
        while paired != nil, !Task.isCancelled, await gateway.isReading {
            guard (try? await clock.sleep(for: Self.pace)) != nil else { break }
        }
        await gateway.release(after: paired)
    }

    /// How a pairing ended without a bond, and the entry it had come to.
    private struct Stop: Error {
        let failure: PairingFailure
        var entry: AllowedPeripheral?
    }

    /// Waits for the device, chooses it and pairs with it.
    private func search(
        _ order: PairingOrder, _ job: OperatorJob, _ list: AllowList, _ inputs: AsyncStream<Input>
    ) async -> Result<(PairingCourse.Candidate, Bond), Stop> {
        for step in Self.instructions(of: order.entries) { await job.add(step) }
        let atStart = await gateway.bonds
        if await readsEnded(job) != nil { return .failure(Stop(failure: .readingUnderWay)) }
        var course = PairingCourse(
            at: ports.clock.now,
            window: order.heard == nil ? PairingCourse.window : PairingCourse.automaticWindow)
        await job.add(OperatorStep(.waiting, "Waiting for the device, 2 min at most."))
        for await input in inputs {
            var next: PairingCourse.Action?
            switch input {
            case .tick: next = course.wake(at: ports.clock.now)
            case .heard(let advertisement):
                // Who was heard while a reading came to its end may have gone.
                guard ports.clock.now.since(advertisement.received) < PairingCourse.freshness,
                    let entry = list.match(advertisement, pairing: order.target),
                    await isWanted(advertisement.device, for: order.target)
                else { continue }
                next = course.heard(advertisement, as: entry)
            }
            while let action = next {
                next = nil
                switch action {
                case .fail(.notHeard) where await gateway.listeningAdapters == 0:
                    return .failure(Stop(failure: .error(.adapterUnavailable)))
                case .fail(let failure): return .failure(Stop(failure: failure))
                case .pair(let candidate):
                    do throws(PairingFailure) {
                        return .success(try await pair(candidate, order, job, list, atStart: atStart))
                    } catch .error(let error) {
                        if Task.isCancelled { break }
                        next = course.failed(error, at: ports.clock.now)
                        if case .fail(let failure) = next {
                            return .failure(Stop(failure: failure, entry: candidate.entry))
                        }
                        await job.add(OperatorStep(.waiting, "It went away; waiting for it again."))
                    } catch {
                        return .failure(Stop(failure: error, entry: candidate.entry))
                    }
                }
            }
        }
        return .failure(Stop(failure: .error(.cancelled)))
    }

    /// Whether the device may be the one that is meant. Where only the model is named, one with a bond
    /// that works is another one.
    private func isWanted(_ device: DeviceAddress, for target: PairingTarget) async -> Bool {
        let bonds = await gateway.bonds
        guard !bonds.isShadowed(device) else { return false }
        guard case .model = target else { return true }
        return !bonds.hasWorkingBond(device)
    }

    /// - Parameter atStart: the bonds before the order.
    /// - Returns: the candidate, under the entry of its identity.
    private func pair(
        _ candidate: PairingCourse.Candidate, _ order: PairingOrder, _ job: OperatorJob, _ list: AllowList,
        atStart: BondTable
    ) async throws(PairingFailure) -> (PairingCourse.Candidate, Bond) {
        guard let keeper = ports.bondKeeper else { throw .error(.noKeeper) }
        let entry = candidate.entry
        let before = await gateway.bonds
        let earlier = before.all ?? []
        let isAutomatic = order.heard != nil
        if !candidate.isInPairingMode, earlier.contains(where: { $0.device == candidate.device }) {
            throw .alreadyPaired
        }
        await job.add(
            OperatorStep(
                .found, "Found \(entry.model.name) at \(candidate.device.address); pairing.",
                peripheralID: entry.model.id, address: candidate.device.address))
        var code: UInt32?
        if let name = entry.passkey {
            do throws(PasskeyError) {
                code = try passkey(name)
            } catch {
                throw .passkey(error)
            }
        }
        let attempt = PairingAttempt(
            isAutomatic
                ? .nobody(mayGivePasskey: { [gateway] in await gateway.spendPasskey(of: entry) })
                : .theOperator(job),
            passkey: code)
        let bond: Bond
        do throws(PairingError) {
            // A bond with this adapter that the device still takes stays: pairing mode is what an advert
            // says, whoever sent it.
            bond = try await keeper.pair(
                candidate.device, on: candidate.adapter,
                keepsLink: entry.model.has(.bondFirstThenKeepLink) || entry.setsClockAtPairing,
                responder: attempt)
        } catch {
            throw .error(error)
        }
        // Who hides behind a private address chooses the identity that it gives with its keys.
        let isAnother = bond.device != candidate.device
        let isClaimed =
            before.isShadowed(bond.device)
            || isAnother && before.hasWorkingBond(bond.device) && order.target != .device(bond.device.address)
            || isAnother && isAutomatic
                && (before.hasOrHadBond(bond.device)
                    || list.pins(bond.device.address) && entry.address == nil)
        let lacksPasskey: Bool
        if entry.passkey != nil {
            // A device that claims to have neither display nor keys is bonded without any code (Just Works).
            let isKept = await attempt.hasKeptBond && atStart.hasListed(bond)
            lacksPasskey = await !attempt.hasGivenPasskey && !isKept
        } else {
            lacksPasskey = false
        }
        let meant =
            isClaimed || lacksPasskey
            ? nil : list.entry(of: bond.device, pairedAs: entry, for: order.target)
        // With another adapter it can be read no longer.
        let others = earlier.filter { $0.device == bond.device && $0.adapter != bond.adapter }
        // In a task of its own, which is not cancelled: the bond is there.
        await Task {
            for bond in meant == nil ? [bond] : others { try? await keeper.unpair(bond) }
        }.value
        guard let meant else { throw lacksPasskey ? .passkeyNotAsked : .otherDevice }
        await gateway.restorePasskey(of: entry)
        var paired = candidate
        paired.entry = meant
        return (paired, bond)
    }

    /// Remembers a bond that was made, and tells of it.
    private func conclude(
        _ order: PairingOrder, _ job: OperatorJob, _ candidate: PairingCourse.Candidate, _ bond: Bond
    ) async {
        let entry = candidate.entry
        await remember(bond.adapter, of: bond.device)
        await gateway.paired(bond)
        ports.events.emit(.paired(entry.reference))
        if order.heard != nil { await gateway.automaticPairing(as: entry, succeeded: true) }
        if entry.setsClockAtPairing {
            await gateway.setClockAfterPairing(bond.device, as: entry, over: candidate.adapter)
        }
        if entry.model.has(.bondFirstThenKeepLink) {
            await gateway.readAfterPairing(bond.device, as: entry, over: candidate.adapter)
        }
        await job.add(
            OperatorStep(
                .paired, "Paired with \(entry.model.name) at \(bond.device.address).",
                peripheralID: entry.model.id, address: bond.device.address,
                entry: entry.address == nil ? Self.line(for: entry, bond.device.address) : nil))
    }

    /// Remembers with which adapter the device has a bond.
    func remember(_ adapter: BluetoothAddress?, of device: DeviceAddress) async {
        do {
            var memory = try await ports.devices.recall(device) ?? DeviceMemory()
            if memory.bondedAdapter == nil { memory.forgetUnencrypted() } else { memory.forgetAttributes() }
            memory.bondedAdapter = adapter
            try await ports.devices.remember(memory, of: device)
        } catch {
            ports.events.emit(storeError: error)
        }
    }

    // MARK: Words

    private static func instructions(of entries: [AllowedPeripheral]) -> [OperatorStep] {
        // A target that is an address without an entry of its own may be of any model.
        guard Set(entries.map(\.model.id)).count == 1, let model = entries.first?.model else {
            return [OperatorStep(.instructions, "Put the device into pairing mode.")]
        }
        let quirk = model.has(.oneBondOnly) ? "\n" + PeripheralModel.Quirk.oneBondOnly.meaning : ""
        return [
            OperatorStep(
                .instructions, "\(model.name): \(model.instructions.pairing)\(quirk)", peripheralID: model.id)
        ]
    }

    /// An entry for `peripherals` that pins the device.
    private static func line(for entry: AllowedPeripheral, _ address: BluetoothAddress) -> String {
        EntryText.item(entry.model, address: address, alias: entry.alias, requiresBond: entry.requiresBond)
    }
}

extension AllowedPeripheral {
    /// Whether the device's clock is set on the link of its pairing, before the gateway hangs up.
    fileprivate var setsClockAtPairing: Bool {
        clock == .set && model.has(.expectsClock) && !model.has(.bondFirstThenKeepLink)
    }
}
