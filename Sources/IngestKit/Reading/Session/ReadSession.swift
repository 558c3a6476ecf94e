/// One reading of one peripheral: from the connection to its end (docs/notes/bluez.md, "On the
/// link"). The procedures of the profiles are in files of their own.
///
/// What the reading needs comes first; device information and battery come after it, because many
/// devices hang up when they have sent their measurement. A value is confirmed to the device only
/// when its record is committed.
package actor ReadSession {
    /// What every session of the gateway shares.
    struct Environment: Sendable {
        let store: any RecordStore
        let devices: any DeviceStore
        let events: EventLog
        let clock: any GatewayClock
        let factory: RecordFactory
        let log: SubsystemLog
    }

    /// Who is read, and what is known of it.
    struct Target: Sendable {
        let entry: AllowedPeripheral
        let device: DeviceAddress
        let profile: Profile
        let memory: DeviceMemory
        /// Whether the queue remembers more of it than a bond.
        var isRemembered = true
        let firstSeen: FirstSeen
        let timing: PassiveTiming
        /// Whether nothing but its clock is looked at.
        var isForClock = false
        /// The operator who looks on.
        var observer: ReadObserver?
        /// Is told how far the session is.
        var report: @Sendable (ReadScheduler.Progress) async -> Void = { _ in }
    }

    /// How the session ended.
    package enum Outcome: Sendable, Equatable {
        /// What the peripheral had was committed, or was there already.
        case succeeded
        /// There was no link, or it ended before its first commit, or before the end of a transfer.
        case failed(ReadFailure)
        /// It ended for another device. What was committed stays, and what was not confirmed comes again.
        case gaveWay(ReadScheduler.GivingWay)
        /// There was no link, because the controller makes no further one.
        case noMoreLinks
        /// There was no link, because a bond is missing or its keys were refused; or the queue has no room for what
        /// unpinned devices give. What is to be told was told.
        case refused
        /// It has given as much as is taken of one device in a day, which ends then. What was committed stays.
        case dayIsFull(until: MonotonicInstant)
        /// The queue's file is not to be trusted any more: nothing may be committed or confirmed
        /// before the process has started anew.
        case storeUnusable(StoreError)

        var failure: ReadFailure? { if case .failed(let failure) = self { failure } else { nil } }
    }

    /// How long the peripheral may take from the subscription to its first value.
    static let firstValueTimeout = Duration.seconds(30)
    /// How long further values are awaited after the last. Another maker's app waits for
    /// 2.0 s.
    static let furtherValueTimeout = Duration.milliseconds(2_500)
    /// Values taken on one link, where nothing tells which is the last: more than any cuff stores.
    /// What comes after them comes on the next.
    static let mostValues = 1_000
    /// How long a report of stored records may take to be ended when the gateway stops.
    private static let abortTimeout = Duration.seconds(1)

    let environment: Environment
    let profile: Profile
    let timing: PassiveTiming
    let link: any PeripheralLink
    let values: LinkValues
    let known: KnownDevice
    let clock: ClockCheck
    let details: DeviceDetails
    let committer: RecordCommitter
    let progress: ReadProgress
    let unreleased: UnreleasedRecords
    private let isForClock: Bool
    private let isLookedOn: Bool
    /// Whether the procedure has reached what counts as a reading.
    var hasSucceeded = false
    /// The service whose control point reports records now.
    var reporting: BluetoothUUID?
    private var isLetGo = false
    private var givesWay: ReadScheduler.GivingWay?
    /// The writing of an abort, which whoever closes the link waits for.
    private var aborting: Task<Void, Never>?

    var entry: AllowedPeripheral { known.entry }

    /// - Parameter link: has just been opened.
    init(environment: Environment, target: Target, link: any PeripheralLink) {
        self.environment = environment
        self.link = link
        profile = target.profile
        timing = target.timing
        isForClock = target.isForClock
        isLookedOn = target.observer != nil
        let known = KnownDevice(target)
        let values = LinkValues(of: link, target.profile, environment)
        let unreleased = UnreleasedRecords(of: known, environment)
        let clock = ClockCheck(
            of: known, target.profile, over: link, values, unreleased: unreleased, environment)
        progress = ReadProgress(target.report)
        self.known = known
        self.values = values
        self.unreleased = unreleased
        self.clock = clock
        details = DeviceDetails(of: known, target.profile, over: link, values, clock: clock, environment)
        committer = RecordCommitter(
            of: known, target, values, clock: clock, unreleased: unreleased, progress: progress, environment)
    }

    /// A link is ended after this time, whatever comes over it. Stored records earn it time, so that a
    /// large memory is read to its end, and no peripheral can hold the adapter with nothing.
    private var longestLink: Duration {
        let longestTransfer = min(Duration.seconds(900 + committer.count), .seconds(7_200))
        return switch profile.procedure {
        // Most cuffs have no memory that can be read.
        case .storedRecords(let access) where access.filter == .none && !known.hasStoredRecords:
            .seconds(180)
        case .storedRecords, .oneTouchVerio: longestTransfer
        case .observations where known.hasStoredRecords: longestTransfer
        case .stream: timing.streamMaximum + .seconds(180)
        case .measurements, .observations, .broadcast: .seconds(180)
        }
    }

    /// Reads over the link and closes it. Cancelling the task ends the link.
    func run() async -> Outcome {
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup(returning: Outcome.self) { group in
                group.addTask { await self.releaseInTime() }
                group.addTask {
                    // Whatever the peripheral goes on sending, others wait for the adapter.
                    await self.closeInTime()
                }
                let outcome = await readAndClose()
                group.cancelAll()
                return outcome
            }
        } onCancel: {
            Task { await self.stop() }
        }
    }

    private func releaseInTime() async { await unreleased.releaseInTime() }

    private func closeInTime() async {
        let start = environment.clock.now
        while environment.clock.now < start + longestLink {
            guard (try? await environment.clock.sleep(until: start + longestLink)) != nil else { return }
        }
        await end()
    }

    /// Ends the link because the queue's disk does not answer. What was not confirmed stays in the device, and is read
    /// again.
    func letGo() async {
        isLetGo = true
        await stop()
    }

    /// Ends the link in order, because another device is to have one. What was not confirmed stays in the device.
    func giveWay(_ why: ReadScheduler.GivingWay) async {
        givesWay = givesWay ?? why
        await stop()
    }

    private func stop() async {
        values.stop()
        await end()
    }

    /// Ends the link at once, but for a report of stored records, which is aborted first: a device
    /// that is left in the middle of one may refuse the next.
    private func end() async {
        if let service = reporting {
            reporting = nil
            let (link, clock) = (link, environment.clock)
            let timeout = Task {
                try? await clock.sleep(for: Self.abortTimeout)
                await link.close()
            }
            aborting = Task {
                try? await link.write(StoredTransfer.abort, to: RecordAccess.controlPoint, in: service)
            }
            await aborting?.value
            timeout.cancel()
        } else {
            await aborting?.value
        }
        await link.close()
    }

    private func readAndClose() async -> Outcome {
        var failure: SessionError?
        do throws(SessionError) {
            try await committer.recallPackets()
            try await read()
        } catch {
            failure = error
        }
        // In a task of its own, which is not cancelled: what the link brought is brought to its end.
        await Task { await conclude(after: failure) }.value
        switch failure {
        case .store(_, let fatal?): return .storeUnusable(fatal)
        case _ where isLetGo: return .failed(.diskHangs)
        case .link(.ended(.byGateway)) where givesWay != nil && (!hasSucceeded || profile.isStream):
            return .gaveWay(givesWay ?? .turn)
        case let failure? where failure.isOfStore: return .failed(.session(failure))
        // The status reports it. An operator's read reports it to the operator.
        case .strangersFull: return isLookedOn ? .failed(.session(.strangersFull)) : .refused
        case .dayIsFull(let end): return .dayIsFull(until: end)
        case let failure? where !hasSucceeded: return .failed(.session(failure))
        default: return .succeeded
        }
    }

    private func conclude(after failure: SessionError?) async {
        await values.reconcileConfirmation(after: failure)
        known.memory.layout = await link.layout
        switch failure {
        case .noMeasurement, .link(.missing), .link(.attribute):
            // A subscription that went to a handle which has moved looks just so, and what is missing or refused
            // may come with an update or a bond.
            known.memory.layout = .unknown
        default: break
        }
        committer.conclude(after: failure)
        clock.conclude()
        await end()
        await unreleased.release()
        await known.remember(in: environment.devices)
    }

    // MARK: What it leaves

    /// What the queue does not remember of the device; nil if there is nothing.
    var volatileMemory: DeviceMemory? { known.volatileMemory }

    /// Whether the device's clock was looked at.
    var hasLookedAtClock: Bool { clock.hasLooked }

    /// What the device's clock showed, if it could not be compared with the gateway's.
    var shownClock: DeviceClockReading? { clock.findings.shown }

    /// What waits for its release: records and the octets of their payloads; and the different payloads of a report
    /// that nothing dates.
    var kept: (records: Int, octets: Int, payloads: Int) {
        (unreleased.count, unreleased.payloadBytes, committer.equalPayloadCount)
    }

    // MARK: The order of things

    private func read() async throws(SessionError) {
        try await clock.beforeMeasurement(isAll: isForClock)
        guard !isForClock else {
            hasSucceeded = true
            return
        }
        switch profile.procedure {
        case .measurements: try await readMeasurements()
        case .storedRecords(let access): try await readStoredRecords(access)
        case .stream(let singles): try await readStream(singles: singles)
        case .observations: try await readObservations()
        case .oneTouchVerio: try await readOneTouchMeter()
        case .broadcast: throw .notReadable
        }
        await clock.afterAll()
        try await awaitHangUp()
    }

    /// Commits what a value says, then confirms it.
    func take(_ value: ReceivedValue) async throws(SessionError) {
        let id = try await committer.commit([value], way: .live).id
        // The first packets of a value are no reading yet.
        if committer.hasTaken {
            hasSucceeded = true
            if value.isIndication { try await clock.beforeConfirming() }
        }
        try await values.confirm(value, of: id)
    }
}

extension ReadSession.Environment {
    /// The queue did not take or give what it was asked to. Tells of it, unless the gateway is stopping.
    func storeFailure(_ error: any Error) -> SessionError {
        let storeError = error as? StoreError
        if storeError?.kind == .strangersFull { return .strangersFull }
        if !Task.isCancelled { events.emit(storeError: error) }
        return .store("\(error)", fatal: storeError?.isFatal == true ? storeError : nil)
    }
}
