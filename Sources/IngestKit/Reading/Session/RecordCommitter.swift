/// Makes records of a link's values and commits them.
final class RecordCommitter {
    typealias Way = RecordFactory.Circumstances.Way

    /// A record that is about to be committed.
    private struct Draft {
        var record: Record
        var basis: RecordFactory.Basis
        var submission: RecordSubmission
        /// What names the record in the device's memory: sequence number or time offset.
        var number: Int?
        /// By what it is known again there; nil is its id.
        var bytesName: RecordID?
        /// What it takes in the queue, in bytes.
        var size: Int
        /// Whether the payload names its moment.
        var isIdentified: Bool
        /// Of a context: the number of its glucose.
        var contextOf: Int?
    }

    /// What the parts of one commit have taught so far. It counts with the commit.
    private struct Lessons {
        /// Learns the numbers of its records.
        var transfer: StoredTransfer?
        var dates: DeviceDates?
    }

    private let environment: ReadSession.Environment
    private let profile: Profile
    private let firstSeen: FirstSeen
    private let observer: ReadObserver?
    private let known: KnownDevice
    private let values: LinkValues
    private let clock: ClockCheck
    private let unreleased: UnreleasedRecords
    private let progress: ReadProgress
    /// Joins values that belong together.
    private var joining: ValueJoining
    private var relations: Relations
    private var indicationCount = 0
    /// Which indication of the link began a value in several packets.
    private var beginnings: [BluetoothUUID: Int] = [:]
    /// How often each payload that nothing dates came in this report.
    private var equalPayloads: [PayloadDigest: Int] = [:]
    /// Records that this link brought, new and known.
    private(set) var count = 0
    /// Values of this link that say that nothing was measured.
    private(set) var unmeasuredCount = 0
    /// Whether the peripheral gave something whole.
    var hasTaken: Bool { count > 0 || unmeasuredCount > 0 }

    private var entry: AllowedPeripheral { known.entry }

    init(
        of known: KnownDevice, _ target: ReadSession.Target, _ values: LinkValues, clock: ClockCheck,
        unreleased: UnreleasedRecords, progress: ReadProgress, _ environment: ReadSession.Environment
    ) {
        self.environment = environment
        self.progress = progress
        self.known = known
        self.values = values
        self.clock = clock
        self.unreleased = unreleased
        profile = target.profile
        firstSeen = target.firstSeen
        observer = target.observer
        joining = ValueJoining(profile: target.profile, device: target.device)
        relations = Relations(waiting: target.memory.unpaired ?? [])
    }

    // MARK: Values that belong together

    /// Whether packets of this link wait for their rest.
    var isIncomplete: Bool { joining.isIncomplete }

    /// Different payloads of a report that nothing dates.
    var equalPayloadCount: Int { equalPayloads.count }

    /// The session's start, for continuous glucose.
    var session: ContinuousGlucose.SessionStart? {
        get { joining.session }
        set { joining.session = newValue }
    }

    /// The device is asked for a report. A record that an earlier one broke off in comes again whole.
    func beginReport(of sources: Set<BluetoothUUID>) {
        equalPayloads = [:]
        joining.drop(sources)
    }

    /// How many minutes the session of a sensor that does not know its start had lasted at a moment.
    func setSessionCount(_ minutes: Int?, at moment: MonotonicInstant) {
        joining.sessionCount = minutes.map { ($0, moment) }
    }

    /// What a continuous glucose sensor says of itself; nil if it does not.
    func setSensor(_ feature: DeviceFeature?) { joining.sensor = feature }

    /// The device's number of the record that comes next, if its bytes do not hold it.
    func setRecordNumber(_ number: Int) { joining.recordNumber = number }

    /// The link has ended: keeps what a later one may complete.
    func conclude(after failure: SessionError?) {
        // Without a time, only what comes over one link is of one weighing, or over the next after one
        // that the peripheral or the air ended.
        let unpaired = relations.waiting.filter { $0.time != nil || failure != nil }
        known.memory.unpaired = unpaired.isEmpty ? nil : unpaired
    }

    /// Takes over packets that an earlier link left behind.
    func recallPackets() async throws(SessionError) {
        guard !profile.assemblers.isEmpty else { return }
        do {
            joining.recall(try await environment.devices.pendingPackets(of: known.device))
        } catch {
            throw environment.storeFailure(error)
        }
    }

    /// Commits what these values say, in one transaction.
    /// - Parameters:
    ///   - transfer: the transfer that they are part of, which learns their numbers.
    ///   - concluding: whether it ended with them: what it remembers goes into the same transaction,
    ///     and so do contexts whose glucose did not come.
    /// - Returns: the id of the last record, new or known; nil when they make up none.
    @discardableResult
    func commit(
        _ received: [ReceivedValue], way: Way, transfer: StoredTransfer? = nil, concluding: Bool = false
    ) async throws(SessionError) -> (id: RecordID?, transfer: StoredTransfer?) {
        var lessons = Lessons(transfer: transfer, dates: known.memory.dates)
        var drafts: [Draft] = []
        for value in received {
            if value.isIndication { indicationCount += 1 }
            if !joining.isIncomplete(value.characteristic) {
                beginnings[value.characteristic] = indicationCount
            }
            for part in joining.parts(of: value, at: environment.clock.now) {
                drafts += self.drafts(of: part, way: way, &lessons)
            }
        }
        for part in try await unrelatedContexts(all: concluding) {
            drafts += self.drafts(of: part, way: way, &lessons)
        }
        var allowance = DailyAllowance(
            known.memory.allowance, bootID: environment.factory.bootID, at: environment.clock.now)
        guard allowance.admits(records: drafts.count, bytes: drafts.reduce(0) { $0 + $1.size }) else {
            known.memory.allowance = allowance
            throw .dayIsFull(until: allowance.end)
        }
        var transaction = QueueTransaction(submissions: drafts.map(\.submission))
        transaction.pending = joining.takeChanges()
        var concluded = known.memory
        if lessons.dates != known.memory.dates {
            concluded.dates = lessons.dates
            transaction.memory = (known.device, known.kept(concluded))
        }
        if concluding, let transfer = lessons.transfer {
            concluded.storedRecords = transfer.memory(
                session: joining.session?.time.description, history: entry.history.description)
            concluded.interruptedTransfer = nil
            if known.outlivesRun || !drafts.isEmpty {
                transaction.memory = (known.device, known.kept(concluded))
            }
        }
        // Before the commit, which may take long: a device that waits for its confirmation is not silent.
        if !received.isEmpty { await progress.tell(.usable) }
        try await show(drafts)
        let outcomes: [CommitOutcome]
        let start = environment.clock.now
        do {
            outcomes = try await environment.store.commit(transaction)
        } catch {
            throw environment.storeFailure(error)
        }
        environment.log.committed(
            drafts.map(\.record), outcomes, of: entry, took: environment.clock.now.since(start))
        await observer?.queued(outcomes)
        known.memory = concluded
        if !drafts.isEmpty { known.gaveRecord() }
        var last: RecordID?
        var hasNew = false
        for (draft, outcome) in zip(drafts, outcomes) {
            count += 1
            switch outcome {
            case .committed(let id):
                last = id
                hasNew = true
                allowance.committed(bytes: draft.size)
                unreleased.add(draft.record, madeOf: draft.basis)
            case .duplicate(let id):
                last = id
            }
            if let last {
                if let number = draft.number {
                    let id = draft.bytesName ?? last
                    lessons.transfer?.took(
                        number: number, id: id,
                        awaitsContext: draft.record.flags.contains(Reading.contextFollowsFlag))
                }
                if let number = draft.contextOf { lessons.transfer?.contextCame(of: number) }
                relate(draft, id: last)
            }
        }
        if allowance.records > 0 { known.memory.allowance = allowance }
        if drafts.compactMap(\.basis.reading).contains(where: {
            $0.utcOffsetSeconds != nil && !$0.isTimeDoubtful
        }) {
            known.memory.saysOffset = true
        }
        if hasNew { known.memory.lastCommit = environment.clock.wallNanoseconds }
        if unreleased.areDue { await unreleased.release() }
        if hasNew { await progress.tell(.committed) }
        return (last, lessons.transfer)
    }

    /// Shows the operator who looks on what is about to be committed.
    private func show(_ drafts: [Draft]) async throws(SessionError) {
        guard let observer, !drafts.isEmpty else { return }
        await observer.show(
            drafts.map { .init(record: $0.record, decodeError: $0.submission.decodeError) })
        // Whoever stops the read now leaves it in the device.
        if values.isEnding || Task.isCancelled { throw .link(.ended(.byGateway)) }
    }

    // MARK: Records

    /// The records of one part, as they would be committed.
    private func drafts(
        of part: ValueJoining.Part, way: Way, _ lessons: inout Lessons
    ) -> [Draft] {
        let value = part.value
        let isUnmeasured = part.reading?.isUnmeasured ?? false
        environment.log.decoded(
            part.reading?.kind, count: part.bytes.count, from: value.characteristic.description, of: entry,
            isUnmeasured: isUnmeasured, failure: part.failure)
        if part.isWhole, part.isFirst, part.leader == nil { lessons.transfer?.came() }
        // What the device itself says of a reading decides its time and whose it is; how it came decides
        // all else.
        let isStored = part.reading?.flags.contains(Reading.fromMemoryFlag) ?? false
        let told =
            isStored && way == .live ? Way.stored(isFirstTransfer: known.memory.storedRecords == nil) : way
        // The wall clock of the reception, which may lie behind: values queue during commits.
        let wall = environment.clock.trustedWallNanoseconds(at: value.received)
        let raw = RawPayload(characteristic: value.characteristic, bytes: part.bytes)
        clock.noteOffset(of: part.reading)
        let basis = RecordFactory.Basis(
            reading: part.reading, raw: raw,
            reception: RecordFactory.Reception(instant: value.received, wallNanoseconds: wall),
            circumstances: RecordFactory.Circumstances(
                way: told, clock: clock.findings.observation,
                shownClock: clock.findings.shown, base: part.base,
                count: part.count.map {
                    RecordDating.Count(
                        moment: .boot(id: environment.factory.bootID, instant: $0.moment), age: $0.age)
                },
                firstSeen: firstSeen,
                dateNames: dateNames(part, way: told, &lessons.dates), named: profile.name(of: raw)))
        var product = basis.product(by: environment.factory, subjects: entry.subjects, device: known.block)
        product.record.related = part.related
        product.record.flags = known.withStandingFlags(product.record)
        let number = part.number
        // One that nothing dates has another id each time; its bytes are the same.
        let digest = product.isIdentified ? nil : PayloadDigest(basis.raw)
        let bytesName = digest.map { RecordID(text: $0.text) }
        let isWanted: Bool
        if let leader = part.leader {
            // A context goes where its glucose goes.
            isWanted = !leader.isSkipped
        } else {
            if isUnmeasured { unmeasuredCount += 1 }
            isWanted =
                !isUnmeasured
                && self.isWanted(
                    product, way: way, wasThere: number.flatMap { lessons.transfer?.wasThere(number: $0) },
                    receivedSeconds: wall.map { $0 / 1_000_000_000 })
            joining.learn(part, id: product.record.id, isSkipped: !isWanted)
        }
        guard isWanted else {
            let id = bytesName ?? product.record.id
            switch number {
            // A context counts with its glucose.
            case _ where part.leader != nil: break
            case let number? where isUnmeasured: lessons.transfer?.took(number: number, id: id)
            case _ where isUnmeasured: break
            default: lessons.transfer?.left(number: number, id: id)
            }
            return joining.followers(of: part).flatMap { drafts(of: $0, way: way, &lessons) }
        }
        let draft = Draft(
            record: product.record, basis: basis,
            submission: RecordSubmission(
                record: product.record,
                repetition: repetition(of: part, undated: digest, way: way),
                received: value.received, decodeError: part.failure, destinations: entry.destinations,
                isStranger: entry.address == nil),
            number: number, bytesName: bytesName, size: product.record.queuedSize,
            isIdentified: product.isIdentified,
            contextOf: part.reading?.kind == .glucoseContext ? part.reading?.sequence : nil)
        let followers = joining.followers(of: part)
        return [draft] + followers.flatMap { drafts(of: $0, way: way, &lessons) }
    }

    /// Whether the date of a reading names it, where it has one. That of a stored reading does, and so does that of a
    /// device whose memory is read: live and stored it is one reading.
    private func dateNames(
        _ part: ValueJoining.Part, way: Way, _ dates: inout DeviceDates?
    ) -> Bool {
        guard way == .live, !known.hasStoredRecords, part.base == nil, let reading = part.reading,
            reading.hasDate,
            reading.sequence == nil
        else { return true }
        var known = dates ?? DeviceDates()
        defer { dates = known }
        return known.name(reading, of: part.value.characteristic)
    }

    /// What the same bytes, coming again, mean.
    /// - Parameter undated: the digest of a payload that nothing dates.
    private func repetition(
        of part: ValueJoining.Part, undated: PayloadDigest?, way: Way
    ) -> RecordSubmission.Repetition {
        if case .stored = way {
            guard let undated else { return .stored }
            defer { equalPayloads[undated, default: 0] += 1 }
            return .storedUndated(ordinal: equalPayloads[undated, default: 0])
        }
        if undated == nil { return .identified }
        guard part.value.isIndication else { return .undatedNotification }
        return .undatedIndication(isFirstOnLink: beginnings[part.value.characteristic] == 1)
    }

    /// Whether the entry's history takes a reading. It bounds what was measured before the gateway
    /// knew the device; later readings are taken whatever their age.
    /// - Parameters:
    ///   - wasThere: whether an earlier transfer came by it; nil where nothing numbers it.
    ///   - receivedSeconds: nil while the gateway's clock is not known to be right. What only a date
    ///     would leave out is taken then.
    private func isWanted(
        _ product: RecordFactory.Product, way: Way, wasThere: Bool?, receivedSeconds: Int64?
    ) -> Bool {
        guard case .stored = way, product.record.dating?.device == nil else { return true }
        if entry.history == .none, product.measured == nil {
            // Nothing but its number tells whether it is from before; of what cannot be decoded not
            // even that, so it is kept.
            return !product.isHistorical && (wasThere == false || product.record.kind == .undecoded)
        }
        guard product.isHistorical else { return true }
        switch entry.history {
        case .all: return true
        case .none: return false
        case .within(let duration):
            guard let measured = product.measured, let receivedSeconds else { return true }
            return measured >= receivedSeconds - duration.components.seconds
        }
    }

    // MARK: Relations

    /// Glucose contexts whose glucose did not come on this link, or long ago: the queue may hold it.
    private func unrelatedContexts(all: Bool) async throws(SessionError)
        -> [ValueJoining.Part]
    {
        var parts: [ValueJoining.Part] = []
        for part in joining.takeLoneContexts(all: all) {
            guard let sequence = part.reading?.sequence else { continue }
            do {
                let glucose = try await environment.store.record(
                    numbered: sequence, kind: .glucose, of: known.device.address)
                parts.append(joining.context(part, of: glucose))
            } catch {
                throw environment.storeFailure(error)
            }
        }
        return parts
    }

    /// Notes which weight a body composition belongs to. The one that is not released yet names the
    /// other: the body composition where both can.
    private func relate(_ draft: Draft, id: RecordID) {
        let received = NotedMoment.boot(id: environment.factory.bootID, instant: environment.clock.now)
        let pair = relations.add(draft.record, id: id, received: received, isDated: draft.isIdentified)
        guard let pair else { return }
        for (holder, named) in [(pair.bodyComposition, pair.weight), (pair.weight, pair.bodyComposition)] {
            if unreleased.relate(holder, to: named) { return }
        }
    }
}
