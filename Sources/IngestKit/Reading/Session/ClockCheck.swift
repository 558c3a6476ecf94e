/// What the look at a device's clock found.
struct ClockFindings {
    /// Compared with the gateway's clock.
    var observation: ClockObservation?
    /// Alone, while the gateway's own clock is not known to be right.
    var shown: DeviceClockReading?
}

/// The device's clock: compared with the gateway's on each link, and set if the allow-list says so.
final class ClockCheck {
    private let link: any PeripheralLink
    private let values: LinkValues
    private let known: KnownDevice
    private let profile: Profile
    private let environment: ReadSession.Environment
    private let unreleased: UnreleasedRecords
    private(set) var findings = ClockFindings()
    /// Whether the clock was looked at on this link.
    private(set) var hasLooked = false

    private var entry: AllowedPeripheral { known.entry }

    init(
        of known: KnownDevice, _ profile: Profile, over link: any PeripheralLink, _ values: LinkValues,
        unreleased: UnreleasedRecords, _ environment: ReadSession.Environment
    ) {
        self.link = link
        self.values = values
        self.known = known
        self.profile = profile
        self.unreleased = unreleased
        self.environment = environment
    }

    /// What readings of this link say: by how much their wall time is ahead of UTC, and when they were measured, by their
    /// own date, in seconds since 1970. As many as may be the newest.
    private var sayings: [(offset: Int, instant: Int64?)] = []
    /// More than any device sends before its clock is compared.
    private static let mostSayings = 32
    /// A clock that does not say its zone, as compared in the gateway's, and when, in seconds since 1970.
    private var compared: (observed: ClockObservation?, source: Profile.Source, seconds: Int64)?
    /// Whether a dated reading came that says no zone.
    private var cameWithoutZone = false
    /// What the clock was judged by; nil: it was not.
    private var judged: (observed: ClockObservation?, zoneOffset: Int, seconds: Int64)?
    /// By how much the time to which the clock was set on this link is ahead of UTC; nil: it was not set.
    private var setOffset: Int?
    /// By more than all zones are apart, in seconds: such a clock is wrong in each of them.
    private static let zonesSpan = 26 * 3_600

    /// A reading came, new or known. One by a clock that was set since says nothing of the zone now.
    func noteOffset(of reading: Reading?) {
        guard let reading, !reading.isOfEarlierTimeline else { return }
        guard let offset = reading.utcOffsetSeconds else {
            cameWithoutZone = cameWithoutZone || reading.hasDate
            return
        }
        sayings.append((offset, reading.instant(in: environment.factory.zone)))
        // Before the comparison nothing tells which of them is the newest.
        if compared != nil {
            sayings = newestSaying.map { [sayings[$0]] } ?? []
        } else if sayings.count > Self.mostSayings {
            sayings.removeFirst()
        }
        guard let saidOffset, var observed = compared?.observed?.inZone(ofReadings: saidOffset) else {
            return
        }
        // One that was set in the gateway's zone shows what the gateway gave it, unless it was in that zone before.
        let before = findings.observation
        guard before?.wasSet == nil || before?.saysZone == true || judged?.zoneOffset == saidOffset else {
            return
        }
        observed.wasSet = before?.wasSet
        guard observed != findings.observation else { return }
        findings.observation = observed
        unreleased.redate(by: findings)
    }

    /// By how much the newest reading of this link says to be ahead of UTC; nil: none has said it.
    private var saidOffset: Int? { newestSaying.map { sayings[$0].offset } }

    /// The newest of the readings that say a zone, of equal ones the last; none from before the clocks were last changed.
    private var newestSaying: Int? {
        let now = environment.clock.wallNanoseconds / 1_000_000_000
        let zone = environment.factory.zone
        // What no guess dates may be of any time, and is behind all others.
        var newest: (place: Int, likely: Int64, claimed: Int64)?
        for (place, saying) in sayings.enumerated() {
            let likely = likelyInstant(of: saying, at: now)
            if let likely, zone.offset(at: likely) != zone.offset(at: now) { continue }
            let rank = (likely ?? .min, saying.instant ?? .min)
            if let newest, rank < (newest.likely, newest.claimed) { continue }
            newest = (place, rank.0, rank.1)
        }
        return newest?.place
    }

    /// When a reading was measured, which may be by a clock that is wrong; nil where no guess lies between 2010 and now.
    private func likelyInstant(of saying: (offset: Int, instant: Int64?), at now: Int64) -> Int64? {
        guard let instant = saying.instant else { return nil }
        let distance = Int64(compared?.observed?.inZone(ofReadings: saying.offset).offsetSeconds ?? 0)
        // A smaller distance may be that of another zone, into which the device was carried since.
        let isGross = distance.magnitude > Self.zonesSpan
        let guesses = isGross ? [instant - distance, instant] : [instant, instant - distance]
        return guesses.first { ($0 >= ReadingTime.earliestBelieved) && $0 <= now }
    }

    /// A model that measures only when its clock was set on the link is set before that, and dates by what it was set to.
    private var isSetOnEachLink: Bool { entry.model.has(.expectsClock) && entry.clock == .set }

    /// Whether the clock can be judged by a zone by which it was not yet: that of the newest reading, or the gateway's for a
    /// device whose readings say none.
    private var awaitsJudgement: Bool {
        guard compared != nil, !isSetOnEachLink else { return false }
        guard let saidOffset else {
            return judged == nil && cameWithoutZone && known.memory.saysOffset != true
        }
        return judged.map { $0.zoneOffset != saidOffset } ?? true
    }

    /// Whether a reading of the device may say a zone: one has, or none is known yet and it has what can.
    private func maySayZone() async throws(LinkError) -> Bool {
        if let says = known.memory.saysOffset { return says }
        for source in profile.sources where Profiles.sayingZones.contains(source.characteristic) {
            if try await link.has(source.characteristic, in: source.service) { return true }
        }
        return false
    }

    /// Looks at the clock before the measurement, once it is known where: that costs two PDUs. What it
    /// takes to find one may be more than the peripheral waits for, so the first search comes when the
    /// measurement is committed, unless the peripheral hung up before it or has to be set.
    /// - Parameter isAll: whether nothing but the clock is wanted of the device.
    func beforeMeasurement(isAll: Bool) async throws(SessionError) {
        let isSearchOverdue =
            known.memory.hasSoughtClock != true
            && (entry.clock == .set || !known.memory.layout.services.isEmpty)
        guard known.memory.clockCharacteristic != nil || isSearchOverdue, isAll || mayComeFirst else {
            return
        }
        try await lookAtRisk()
    }

    /// Seeks the clock of a peripheral that has dated what is committed now, while it waits for the
    /// confirmation: many hang up as soon as they have it. What it gives again is known by its date.
    func beforeConfirming() async throws(SessionError) {
        if awaitsJudgement, isNamedByDate, mayComeFirst, await link.ended == nil {
            do {
                return try await judgeByReading()
            } catch {
                noteEndAtClock(error)
                throw .link(error)
            }
        }
        guard known.memory.hasSoughtClock != true, mayComeFirst, isNamedByDate,
            // One that did not wait has not hung up because it was asked.
            await link.ended == nil
        else { return }
        try await lookAtRisk()
    }

    /// Whether what is to be confirmed is known again by its date, if the link ends before that.
    private var isNamedByDate: Bool {
        unreleased.newest.map { $0.reading?.hasDate == true && $0.circumstances.dateNames } ?? false
    }

    /// Looks at the clock while the peripheral has not given, or not been confirmed, all of its reading.
    private func lookAtRisk() async throws(SessionError) {
        do {
            try await lookOnce()
        } catch {
            noteEndAtClock(error)
            throw .link(error)
        }
    }

    /// Looks at a clock that the search for the measurement came by, as Date Time stands beside it: two
    /// PDUs on the first link too, and none where there is no such clock.
    /// - Parameter source: is subscribed to next.
    func inPassing(beside source: Profile.Source) async throws(LinkError) {
        guard known.memory.hasSoughtClock != true, !hasLooked, mayComeFirst,
            try await link.has(source.characteristic, in: source.service)
        else { return }
        let services = await link.layout.services
        let met = profile.clocks.filter { clock in
            services[clock.service.description]??.characteristics[clock.characteristic.description] != nil
        }
        do {
            known.memory.hasSoughtClock = try await look(at: met) ? true : known.memory.hasSoughtClock
        } catch {
            noteEndAtClock(error)
            throw error
        }
    }

    /// Looks at the clock after the measurement, if it was not before, and seeks one that is not known.
    /// - Parameter isDue: whether what a peripheral lacks is to be looked for anew.
    func afterMeasurement(isDue: Bool) async throws(LinkError) {
        try await judgeByReading()
        guard isDue || known.memory.clockCharacteristic != nil || known.memory.hasSoughtClock != true else {
            return
        }
        try await lookOnce()
    }

    /// Judges a clock by the newest of all readings of the link.
    func afterAll() async {
        // A link that ends now is no failure: all came before.
        try? await judgeByReading()
    }

    /// Tells of a clock that is wrong, once all readings of the link have said what they say of its zone.
    func conclude() {
        guard let judged else { return }
        tellSkew(findings.observation ?? judged.observed, isSet: setOffset != nil, at: judged.seconds)
    }

    /// A peripheral that hangs up whenever its clock is read must not keep its readings for it.
    private var mayComeFirst: Bool {
        // A day, as between two tries of a clock that does not let itself be set.
        !ClockSkew.isRecent(
            known.memory.lastEndAtClock, at: environment.clock.wallNanoseconds / 1_000_000_000)
    }

    private func noteEndAtClock(_ error: LinkError) {
        guard error != .ended(.byGateway) else { return }
        known.memory.lastEndAtClock = environment.clock.wallNanoseconds / 1_000_000_000
    }

    private func lookOnce() async throws(LinkError) {
        guard !hasLooked else { return }
        let before = known.memory.clockCharacteristic
        let candidates = profile.clocks.filter { before == nil || $0.characteristic == before }
        let isShown = try await look(at: candidates)
        hasLooked = true
        if !isShown { known.memory.clockCharacteristic = nil }
        // One that is there no longer may have moved elsewhere.
        known.memory.hasSoughtClock = before == nil || isShown
        known.memory.lastEndAtClock = nil
    }

    /// Compares the first of these clocks that the peripheral shows.
    /// - Returns: whether there is one.
    private func look(at sources: [Profile.Source]) async throws(LinkError) -> Bool {
        for source in sources {
            guard try await link.has(source.characteristic, in: source.service) else { continue }
            let asked = environment.clock.now
            guard let bytes = try await values.value(source.characteristic, in: source.service),
                let reading = try? Profiles.decode(characteristic: source.characteristic, bytes: bytes)
            else { continue }
            // The answer was made somewhere in between.
            let moment = asked + environment.clock.now.since(asked) / 2
            known.memory.clockCharacteristic = source.characteristic
            hasLooked = true
            try await compare(reading, of: source, at: moment)
            return true
        }
        return false
    }

    private func compare(
        _ reading: Reading, of source: Profile.Source, at moment: MonotonicInstant
    ) async throws(LinkError) {
        let zone = environment.factory.zone
        guard let wall = environment.clock.trustedWallNanoseconds(at: moment) else {
            // One that is not known to be right can judge no other: that waits with the records.
            findings.shown = reading.localDeviceTime(in: zone).map {
                DeviceClockReading(
                    time: $0, utcOffsetSeconds: reading.utcOffsetSeconds, isUTC: reading.isUTC ? true : nil,
                    moment: .boot(id: environment.factory.bootID, instant: moment))
            }
            return unreleased.redate(by: findings)
        }
        let seconds = wall / 1_000_000_000
        // A counter of ticks is no clock, and one that says itself that it is wrong needs no notice.
        guard reading.deviceTime != nil || source.characteristic != ElapsedTime.currentElapsedTime else {
            return
        }
        let observed = reading.localDeviceTime(in: zone).map {
            ClockObservation(
                $0, utcOffsetSeconds: reading.utcOffsetSeconds, isUTC: reading.isUTC, at: seconds, in: zone)
        }
        let saysZone = reading.utcOffsetSeconds != nil || reading.isUTC
        if !saysZone { compared = (observed, source, seconds) }
        // A clock that is wrong in each zone need not wait for one.
        if !saysZone, saidOffset == nil, !cameWithoutZone || known.memory.saysOffset == true,
            !isSetOnEachLink, let observed, observed.offsetSeconds.magnitude <= Self.zonesSpan,
            try await maySayZone()
        {
            findings.observation = observed
            return unreleased.redate(by: findings)
        }
        try await judge(observed, of: source, saysZone: saysZone, at: seconds)
    }

    /// Judges a clock by the zone of the newest reading, if that has said one which it was not judged by. Otherwise one that
    /// waits for a zone is judged on the next link.
    private func judgeByReading() async throws(LinkError) {
        guard awaitsJudgement, let (observed, source, seconds) = compared else { return }
        try await judge(observed, of: source, saysZone: false, at: seconds)
    }

    /// Sets the device's clock if the allow-list says so. `conclude` tells of a clock that was wrong.
    /// - Parameters:
    ///   - saysZone: whether it says its zone itself.
    ///   - seconds: when it was read, since 1970.
    private func judge(
        _ observation: ClockObservation?, of source: Profile.Source, saysZone: Bool, at seconds: Int64
    ) async throws(LinkError) {
        // What came before it on this link may say in which zone a clock is that does not say it itself.
        let zoneOffset = saysZone ? nil : saidOffset
        var observed = observation?.inZone(ofReadings: zoneOffset)
        let isSet = try await set(source, observed: observed, zoneOffset: zoneOffset)
        judged = (observed, zoneOffset ?? environment.factory.zone.offset(at: seconds), seconds)
        observed?.wasSet =
            isSet ? environment.clock.wallNanoseconds / 1_000_000_000 : findings.observation?.wasSet
        findings.observation = observed
        unreleased.redate(by: findings)
    }

    /// Sets the clock where the allow-list says so, and it is wrong or its model expects it at each link.
    /// - Parameter zoneOffset: by how much the device's wall time is ahead of UTC, in seconds; nil: as the gateway's.
    /// - Returns: whether the device took it.
    private func set(
        _ source: Profile.Source, observed: ClockObservation?, zoneOffset: Int?
    ) async throws(LinkError) -> Bool {
        guard entry.clock == .set else { return false }
        let wall = environment.clock.wallNanoseconds
        let seconds = wall / 1_000_000_000
        let offset = Int64(zoneOffset ?? environment.factory.zone.offset(at: seconds))
        let difference = observed.map { abs($0.offsetSeconds) }
        guard
            entry.model.has(.expectsClock) && setOffset == nil
                || setOffset.map({ $0 != Int(offset) })
                    ?? (difference ?? .max > ClockObservation.toleratedSeconds)
        else { return false }
        guard let time = DeviceTime(wallSeconds: seconds + offset),
            let value = DeviceClock.setting(
                source.characteristic, to: time, nanoseconds: wall % 1_000_000_000),
            !ClockSkew.isRecent(known.memory.lastClockRefusal, at: seconds)
        else { return false }
        do {
            try await link.write(value, to: source.characteristic, in: source.service)
            await values.confirmationArrived()
            setOffset = Int(offset)
            return true
        } catch {
            switch error {
            case .missing, .attribute, .notEncrypted, .malformed:
                await values.confirmationArrived()
                known.memory.lastClockRefusal = seconds
                return false
            default: throw error
            }
        }
    }

    private func tellSkew(_ observed: ClockObservation?, isSet: Bool, at seconds: Int64) {
        let canBeSet = known.memory.clockCharacteristic.map(DeviceClock.canSet) ?? true
        let remedy: ClockSkew.Remedy =
            isSet ? .wasSet : !canBeSet ? .byHandAlone : entry.clock == .set ? .cannotBeSet : .byHand
        guard let skew = ClockSkew(observed, remedy),
            !ClockSkew.isRecent(known.memory.lastSkewNotice, at: seconds)
        else { return }
        known.memory.lastSkewNotice = seconds
        environment.events.emit(.clockSkew(entry.reference, error: skew.message))
    }
}
