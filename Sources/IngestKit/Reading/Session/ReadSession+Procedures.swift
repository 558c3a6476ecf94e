/// The orders of things on a link, one for each kind of profile.
extension ReadSession {
    /// Records that go into one transaction while a memory streams in.
    private static let largestGroup = 100
    /// The same of an unpinned device, which may hold little (`StrangerShare`): what does not fit whole is refused
    /// whole.
    private static let largestStrangerGroup = 20
    /// Bytes of values that make such a group whole before.
    private static let largestStrangerBytes = 4096
    /// Values of one report: as many as sequence numbers, twice over, since it may be asked for anew.
    private static let mostStoredValues = 131_072
    /// How long the rest of a value in several packets is awaited.
    static let packetTimeout = Duration.seconds(60)
    /// Streams bring a value a second or so; one that has paused for so long has ended.
    static let longestStreamPause = Duration.seconds(10)

    // MARK: Measurements that come by themselves

    func readMeasurements() async throws(SessionError) {
        try await subscribe()
        try await takeAll()
    }

    func takeAll() async throws(SessionError) {
        repeat {
            guard let value = try await values.next(within: Self.firstValueTimeout) else {
                throw .noMeasurement
            }
            try await take(value)
        } while !committer.hasTaken
        await details.read()
        try await takeFurther()
    }

    /// Takes the values that come until none has come for a moment; for a longer one while a value is
    /// not whole, so that a peripheral that gives all of it anew on each link comes to its end.
    func takeFurther(
        within moment: Duration = furtherValueTimeout
    ) async throws(SessionError) {
        while committer.count + committer.unmeasuredCount < Self.mostValues {
            let patience = committer.isIncomplete ? Self.packetTimeout : moment
            guard let value = try await values.next(within: patience) else { return }
            try await take(value)
        }
    }

    /// Subscribes to what the peripheral has of the profile's sources.
    func subscribe(
        _ isWanted: (Profile.Source) -> Bool = { _ in true }
    ) async throws(SessionError) {
        do throws(LinkError) {
            if profile.longestPayload > Profile.payloadOfDefaultMTU {
                // Opcode and handle come on top of the payload.
                try await link.ensureMTU(profile.longestPayload + 3)
            }
            var isSubscribed = false
            for source in profile.sources where isWanted(source) {
                if source.isOptional, try await !link.has(source.characteristic, in: source.service) {
                    continue
                }
                if let successor = source.successor, try await link.has(successor, in: source.service) {
                    continue
                }
                if !isSubscribed { try await clock.inPassing(beside: source) }
                try await link.subscribe(to: source.characteristic, in: source.service)
                isSubscribed = true
            }
            guard isSubscribed || hasSucceeded else {
                throw LinkError.missing(profile.sources.first?.characteristic ?? 0)
            }
        } catch {
            throw .link(error)
        }
        await progress.tell(.subscribed)
    }

    // MARK: Stored records

    func readStoredRecords(
        _ access: RecordAccess
    ) async throws(SessionError) {
        known.hasStoredRecords = try await hasControlPoint(access)
        try await subscribe()
        try await readSession(of: access)
        guard known.hasStoredRecords else { return try await takeAll() }
        try await transfer(access, of: Set(profile.sources.map(\.characteristic)))
        hasSucceeded = true
        await details.read()
        // A sensor whose session is over measures nothing any more.
        let isOver = access.filter == .timeOffset && known.memory.sensorSession?.isOver == true
        try await takeFurther(within: isOver ? .zero : Self.furtherValueTimeout)
        try await committer.commit([], way: .live, concluding: true)
    }

    func hasControlPoint(
        _ access: RecordAccess
    ) async throws(SessionError) -> Bool {
        do throws(LinkError) {
            if try await link.has(RecordAccess.controlPoint, in: access.service) { return true }
            guard access.isOptional else { throw LinkError.missing(RecordAccess.controlPoint) }
            return false
        } catch {
            throw .link(error)
        }
    }

    /// Time offsets count from the session's start. Without one, they name no moment. Whether the
    /// payloads have checksums, the sensor's features say.
    private func readSession(
        of access: RecordAccess
    ) async throws(SessionError) {
        guard access.filter == .timeOffset else { return }
        do {
            if try await link.has(ContinuousGlucose.sessionStartTime, in: access.service) {
                // What comes by itself is dated by its reception if the start cannot be read.
                let start =
                    known.hasStoredRecords
                    ? try await link.read(ContinuousGlucose.sessionStartTime, in: access.service)
                    : try await values.value(ContinuousGlucose.sessionStartTime, in: access.service)
                if let start { committer.session = try ContinuousGlucose.sessionStart(start) }
            }
        } catch let error as LinkError {
            throw .link(error)
        } catch  where !known.hasStoredRecords {
        } catch {
            // Read with a start that is not known, each record would be another one.
            throw .noReport("the sensor's session start time cannot be read: \(error)")
        }
        // The numbers of another session say nothing of this one.
        let isNew = known.memory.storedRecords?.session != committer.session?.time.description
        if isNew { known.memory.storedRecords?.mark = nil }
        if known.memory.interruptedTransfer?.session != committer.session?.time.description {
            known.memory.interruptedTransfer = nil
        }
        do throws(LinkError) {
            if isNew || known.memory.features == nil { try await details.readFeatures() }
            committer.setSensor(known.memory.features?.first { $0.isOf(ContinuousGlucose.feature) })
            let asked = environment.clock.now
            let status = try await values.value(ContinuousGlucose.status, in: access.service)
            // The answer was made somewhere in between.
            committer.setSessionCount(
                ContinuousGlucose.minutes(status: status),
                at: asked + environment.clock.now.since(asked) / 2)
            known.memory.sensorSession = ContinuousGlucose.session(
                status: status,
                runTime: try await values.value(ContinuousGlucose.sessionRunTime, in: access.service))
        } catch {
            throw .link(error)
        }
    }

    /// Has the peripheral report what is new, and commits it in groups as it streams in.
    func transfer(
        _ access: RecordAccess, of sources: Set<BluetoothUUID>
    ) async throws(SessionError) {
        let way = RecordCommitter.Way.stored(isFirstTransfer: known.memory.storedRecords == nil)
        forgetMarkOfOtherHistory()
        let accepted = sources.union([RecordAccess.controlPoint])
        committer.beginReport(of: sources)
        var count = 0
        var transfer = StoredTransfer(
            filter: access.filter, memory: known.memory.storedRecords,
            interrupted: known.memory.interruptedTransfer)
        var group: [ReceivedValue] = []
        do throws(SessionError) {
            try await subscribeToControlPoint(of: access)
            try await ask(transfer.request, access)
            while true {
                // What is there already shares a transaction.
                let patience = group.isEmpty ? Self.firstValueTimeout : .zero
                let value = try await values.next(within: patience, of: accepted)
                if let value, value.characteristic == RecordAccess.controlPoint {
                    transfer =
                        try await committer.commit(group, way: way, transfer: transfer).transfer ?? transfer
                    group = []
                    let step = transfer.answered(value.value)
                    if step == .finished {
                        reporting = nil
                        try await committer.commit([], way: way, transfer: transfer, concluding: true)
                        hasSucceeded = true
                        try await clock.beforeConfirming()
                    }
                    try await values.confirm(value, of: nil)
                    switch step {
                    case .finished: return tellSkipped(transfer.leftCount)
                    case .failed(let words):
                        reporting = nil
                        throw .noReport("the peripheral: \(words)")
                    case .ask(let request):
                        committer.beginReport(of: sources)
                        try await ask(request, access)
                    case .wait: break
                    }
                } else if let value {
                    group.append(value)
                    count += 1
                    guard count <= Self.mostStoredValues else {
                        throw SessionError.noReport(
                            "the peripheral reports more records than there are numbers")
                    }
                    guard value.isIndication || isWhole(group) else { continue }
                    let (id, next) = try await committer.commit(group, way: way, transfer: transfer)
                    transfer = next ?? transfer
                    group = []
                    try await values.confirm(value, of: id)
                } else {
                    guard !group.isEmpty else {
                        throw .noReport("the peripheral stopped in the middle of reporting its records")
                    }
                    transfer =
                        try await committer.commit(group, way: way, transfer: transfer).transfer ?? transfer
                    group = []
                }
            }
        } catch {
            if case .link(.ended) = error { reporting = nil }
            // What came is kept; the mark stays where it was.
            if !error.isCommitFailure, !values.isEnding, !group.isEmpty {
                transfer =
                    try await committer.commit(group, way: way, transfer: transfer).transfer ?? transfer
            }
            known.memory.interruptedTransfer =
                error.isInterruption
                ? transfer.interruption(
                    session: committer.session?.time.description, history: entry.history.description) : nil
            // The next transfer does not come by what stays in the device alone again.
            if known.memory.interruptedTransfer != nil { tellSkipped(transfer.leftCount) }
            throw error
        }
    }

    private func isWhole(_ group: [ReceivedValue]) -> Bool {
        guard entry.address == nil else { return group.count >= Self.largestGroup }
        return group.count >= Self.largestStrangerGroup
            || group.reduce(0) { $0 + $1.value.count } >= Self.largestStrangerBytes
    }

    /// What an earlier history left in the device may be wanted now.
    func forgetMarkOfOtherHistory() {
        if known.memory.interruptedTransfer?.history != entry.history.description {
            known.memory.interruptedTransfer = nil
        }
        guard known.memory.storedRecords?.history != entry.history.description else { return }
        known.memory.storedRecords?.mark = nil
    }

    private func subscribeToControlPoint(
        of access: RecordAccess
    ) async throws(SessionError) {
        do {
            try await link.subscribe(to: RecordAccess.controlPoint, in: access.service)
        } catch {
            throw .link(error)
        }
    }

    private func ask(
        _ request: [UInt8], _ access: RecordAccess
    ) async throws(SessionError) {
        guard !values.isEnding else { throw .link(.ended(.byGateway)) }
        do {
            try await link.write(request, to: RecordAccess.controlPoint, in: access.service)
        } catch {
            throw .link(error)
        }
        reporting = access.service
    }

    func tellSkipped(_ count: Int) {
        guard count > 0 else { return }
        environment.events.emit(.historySkipped(entry.reference, count: count))
    }

    // MARK: Streams

    /// Makes a record of each interval, for as long as the timing allows.
    /// - Parameter singles: characteristics among the sources whose every value is a record.
    func readStream(
        singles: Set<BluetoothUUID>
    ) async throws(SessionError) {
        // Single measurements are what such peripherals store.
        let access = RecordAccess(
            service: profile.sources.first?.service ?? 0, filter: .none, isOptional: true)
        let hasSingles = try await hasAny(of: singles)
        known.hasStoredRecords = hasSingles ? try await hasControlPoint(access) : false
        // Only single measurements are counted; the streaming time limits the sampled values.
        var singleCount = 0
        if known.hasStoredRecords {
            // The stream would only stand in the way.
            try await subscribe { singles.contains($0.characteristic) }
            // What it has just measured comes before anything was asked for.
            while singleCount < Self.mostValues,
                let value = try await values.next(within: .zero, of: singles)
            {
                singleCount += 1
                try await take(value)
            }
            // A memory that is not read to its end is a failure, whatever came before it.
            hasSucceeded = false
            try await transfer(access, of: singles)
            hasSucceeded = true
            try await subscribe { !singles.contains($0.characteristic) }
        } else {
            try await subscribe()
        }
        let pause =
            try await hasAny(of: Set(profile.sources.map(\.characteristic)).subtracting(singles))
            ? Self.longestStreamPause : Self.furtherValueTimeout
        let end = environment.clock.now + timing.streamMaximum
        var sampler = StreamSampler<ReceivedValue>(interval: timing.streamInterval)
        var hasDetails = false
        do throws(SessionError) {
            while environment.clock.now < end, singleCount < Self.mostValues {
                if hasSucceeded, !hasDetails {
                    hasDetails = true
                    await details.read()
                    await unreleased.release()
                }
                let left = end.since(environment.clock.now)
                let patience = min(hasSucceeded ? pause : Self.firstValueTimeout, left)
                guard let value = try await values.next(within: patience) else {
                    if hasSucceeded || environment.clock.now >= end { break }
                    throw SessionError.noMeasurement
                }
                if singles.contains(value.characteristic) {
                    singleCount += 1
                    try await take(value)
                } else {
                    let reading = try? profile.decode(value.value, of: value.characteristic)
                    if reading?.isUnmeasured ?? false {
                        // It is no record. The peripheral gave what it has all the same.
                        hasSucceeded = true
                    } else {
                        await progress.tell(.usable)
                        for taken in sampler.offer(value, isUsable: isUsable(reading), at: value.received) {
                            try await committer.commit([taken], way: .live)
                            hasSucceeded = true
                            // The link tells no more of the device.
                            if hasDetails { await unreleased.release() }
                        }
                    }
                    // What is not taken is done with.
                    try await values.confirm(value, of: nil)
                }
            }
        } catch {
            if error.isCommitFailure { throw error }
            for left in sampler.flush() { try await committer.commit([left], way: .live) }
            throw error
        }
        for left in sampler.flush() {
            try await committer.commit([left], way: .live)
            hasSucceeded = true
        }
    }

    /// Whether the peripheral has any of these sources.
    func hasAny(
        of characteristics: Set<BluetoothUUID>
    ) async throws(SessionError) -> Bool {
        do throws(LinkError) {
            for source in profile.sources where characteristics.contains(source.characteristic) {
                if try await link.has(source.characteristic, in: source.service) { return true }
            }
            return false
        } catch {
            throw .link(error)
        }
    }

    /// Whether a value of a stream holds a number; nil is one that could not be decoded.
    private func isUsable(_ reading: Reading?) -> Bool {
        reading?.measurements.contains { if case .exact = $0.value { true } else { false } } ?? false
    }
}
