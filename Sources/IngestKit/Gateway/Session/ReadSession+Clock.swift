/// The device's clock: compared with the gateway's on each link, and set where the allow-list says so.
extension ReadSession {
    /// Looks at the clock before the measurement, once it is known where: that costs two PDUs. What it
    /// takes to find one may be more than the peripheral waits for, so the first search comes when the
    /// measurement is committed, unless the peripheral hung up before it or has to be set.
    func observeClockFirst(over link: any PeripheralLink) async throws(SessionError) {
        let isSearchOverdue =
            memory.hasSoughtClock != true && (entry.clock == .set || !memory.layout.services.isEmpty)
        guard memory.clockCharacteristic != nil || isSearchOverdue, isForClock || mayClockBeFirst else {
            return
        }
        try await observeClockAtRisk(over: link)
    }

    /// Seeks the clock of a peripheral that has dated what is committed now, while it waits for the
    /// confirmation: many hang up as soon as they have it. What it gives again is known by its date.
    func observeClockBeforeConfirming(over link: any PeripheralLink) async throws(SessionError) {
        guard memory.hasSoughtClock != true, mayClockBeFirst,
            let basis = unfrozen.last?.basis, basis.reading?.hasDate == true, basis.circumstances.dateNames,
            // One that did not wait has not hung up because it was asked.
            await link.ended == nil
        else { return }
        try await observeClockAtRisk(over: link)
    }

    /// Looks at the clock while the peripheral has not given, or not been confirmed, all of its reading.
    private func observeClockAtRisk(over link: any PeripheralLink) async throws(SessionError) {
        do {
            try await observeClock(over: link)
        } catch {
            noteEndAtClock(error)
            throw .link(error)
        }
    }

    /// Looks at a clock that the search for the measurement came by, as Date Time stands beside it: two
    /// PDUs on the first link too, and none where there is no such clock.
    /// - Parameter source: is subscribed to next.
    func observeClockInPassing(
        beside source: Profile.Source, over link: any PeripheralLink
    ) async throws(LinkError) {
        guard memory.hasSoughtClock != true, !hasLookedAtClock, mayClockBeFirst,
            try await link.has(source.characteristic, in: source.service)
        else { return }
        let services = await link.layout.services
        let met = profile.clocks.filter { clock in
            services[clock.service.description]??.characteristics[clock.characteristic.description] != nil
        }
        do {
            memory.hasSoughtClock = try await look(at: met, over: link) ? true : memory.hasSoughtClock
        } catch {
            noteEndAtClock(error)
            throw error
        }
    }

    /// Looks at the clock after the measurement, if it was not before, and seeks one that is not known.
    /// - Parameter isDue: whether what a peripheral lacks is to be looked for anew.
    func observeClockLast(isDue: Bool, over link: any PeripheralLink) async throws(LinkError) {
        guard isDue || memory.clockCharacteristic != nil || memory.hasSoughtClock != true else { return }
        try await observeClock(over: link)
    }

    /// A peripheral that hangs up whenever its clock is read must not keep its readings for it.
    private var mayClockBeFirst: Bool {
        // A day, as between two tries of a clock that does not let itself be set.
        !ClockSkew.isRecent(memory.lastEndAtClock, at: environment.clock.wallNanoseconds / 1_000_000_000)
    }

    private func noteEndAtClock(_ error: LinkError) {
        guard error != .ended(.byGateway) else { return }
        memory.lastEndAtClock = environment.clock.wallNanoseconds / 1_000_000_000
    }

    private func observeClock(over link: any PeripheralLink) async throws(LinkError) {
        guard !hasLookedAtClock else { return }
        let known = memory.clockCharacteristic
        let candidates = profile.clocks.filter { known == nil || $0.characteristic == known }
        let isShown = try await look(at: candidates, over: link)
        hasLookedAtClock = true
        if !isShown { memory.clockCharacteristic = nil }
        // One that is there no longer may have moved elsewhere.
        memory.hasSoughtClock = known == nil || isShown
        memory.lastEndAtClock = nil
    }

    /// Compares the first of these clocks that the peripheral shows.
    /// - Returns: whether there is one.
    private func look(
        at sources: [Profile.Source], over link: any PeripheralLink
    ) async throws(LinkError) -> Bool {
        for source in sources {
            guard try await link.has(source.characteristic, in: source.service) else { continue }
            let asked = environment.clock.now
            guard let bytes = try await value(source.characteristic, in: source.service, over: link),
                let reading = try? Profiles.decode(characteristic: source.characteristic, bytes: bytes)
            else { continue }
            // The answer was made somewhere in between.
            let moment = asked + environment.clock.now.since(asked) / 2
            memory.clockCharacteristic = source.characteristic
            hasLookedAtClock = true
            try await compareClock(reading, of: source, at: moment, over: link)
            return true
        }
        return false
    }

    private func compareClock(
        _ reading: Reading, of source: Profile.Source, at moment: MonotonicInstant,
        over link: any PeripheralLink
    ) async throws(LinkError) {
        let zone = environment.factory.zone
        guard let wall = environment.clock.trustedWallNanoseconds(at: moment) else {
            // One that is not known to be right can judge no other: that waits with the records.
            shownClock = reading.localDeviceTime(in: zone).map {
                ShownClock(time: $0, moment: .boot(id: environment.factory.bootID, instant: moment))
            }
            return redateUnfrozen()
        }
        let seconds = wall / 1_000_000_000
        // A counter of ticks is no clock, and one that says itself that it is wrong needs no notice.
        guard reading.deviceTime != nil || source.characteristic != ElapsedTime.currentElapsedTime else {
            return
        }
        var observed = reading.localDeviceTime(in: zone).map { ClockObservation($0, at: seconds, in: zone) }
        let isSet = try await setClock(of: source, observed: observed, over: link)
        if isSet { observed?.wasSet = environment.clock.wallNanoseconds / 1_000_000_000 }
        clockObservation = observed
        redateUnfrozen()
        tellSkew(observed, isSet: isSet, at: seconds)
    }

    /// Sets the clock where the allow-list says so, and it is wrong or its model expects it at each link.
    /// - Returns: whether the device took it.
    private func setClock(
        of source: Profile.Source, observed: ClockObservation?, over link: any PeripheralLink
    ) async throws(LinkError) -> Bool {
        guard entry.clock == .set else { return false }
        let difference = observed.map { abs($0.offsetSeconds) }
        guard entry.model.has(.expectsClock) || difference ?? .max > ClockObservation.toleratedSeconds else {
            return false
        }
        let wall = environment.clock.wallNanoseconds
        let seconds = wall / 1_000_000_000
        let offset = Int64(environment.factory.zone.offset(at: seconds))
        guard let time = DeviceTime(wallSeconds: seconds + offset),
            let value = DeviceClock.setting(
                source.characteristic, to: time, nanoseconds: wall % 1_000_000_000),
            !ClockSkew.isRecent(memory.lastClockRefusal, at: seconds)
        else { return false }
        do {
            try await link.write(value, to: source.characteristic, in: source.service)
            await confirmationArrived()
            return true
        } catch {
            switch error {
            case .missing, .attribute, .notEncrypted, .malformed:
                await confirmationArrived()
                memory.lastClockRefusal = seconds
                return false
            default: throw error
            }
        }
    }

    /// Decides anew the time of what came before the clock was looked at.
    private func redateUnfrozen() {
        for index in unfrozen.indices where !releasing.contains(unfrozen[index].record.id) {
            var basis = unfrozen[index].basis
            basis.circumstances.clock = clockObservation
            basis.circumstances.shownClock = shownClock
            let made = basis.product(by: environment.factory, subjects: entry.subjects, device: deviceBlock)
                .record
            unfrozen[index].basis = basis
            unfrozen[index].record.dating = made.dating
            unfrozen[index].record.time = made.time
            unfrozen[index].record.stage = made.stage
            unfrozen[index].record.subject = made.subject
        }
    }

    private func tellSkew(_ observed: ClockObservation?, isSet: Bool, at seconds: Int64) {
        let remedy: ClockSkew.Remedy = isSet ? .wasSet : entry.clock == .set ? .cannotBeSet : .byHand
        guard let skew = ClockSkew(observed, remedy),
            !ClockSkew.isRecent(memory.lastSkewNotice, at: seconds)
        else { return }
        memory.lastSkewNotice = seconds
        environment.events.emit(.clockSkew(entry.reference, error: skew.words))
    }
}
