/// One reading of one peripheral: from the connection to its end (docs/notes/bluez.md, "On the
/// link"). The procedures of the profiles are in files of their own.
///
/// What the reading needs comes first; device information and battery come after it, because many
/// devices hang up when they have sent their measurement. A value is confirmed to the device only
/// when its record is committed.
actor ReadSession {
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
        let acquaintance: Acquaintance
        let timing: PassiveTiming
        /// Whether nothing but its clock is looked at.
        var isForClock = false
        /// The operator who looks on.
        var witness: ReadWitness?
    }

    /// How the session ended.
    enum Outcome: Sendable, Equatable {
        /// What the peripheral had was committed, or was there already.
        case succeeded
        /// It ended before its first commit, or before the end of a transfer; our words for why.
        case failed(String)
        /// There was no link, because a bond is missing or its keys were refused; or the queue has no room for what
        /// unpinned devices give. What is to be told was told.
        case refused
        /// It has given as much as is taken of one device in a day, which ends then. What was committed stays.
        case dayIsFull(until: MonotonicInstant)
        /// The queue's file is not to be trusted any more: nothing may be committed or confirmed
        /// before the process has started anew.
        case storeUnusable(StoreError)
    }

    /// A committed record that waits for its release, and what it was made of.
    struct Unfrozen {
        var record: Record
        var basis: RecordFactory.Basis
        let committed: MonotonicInstant
    }

    /// How long the peripheral may take from the subscription to its first value.
    static let firstValueTimeout = Duration.seconds(30)
    /// How long further values are awaited after the last.
    static let furtherValueTimeout = Duration.seconds(1)
    /// Values taken on one link, where nothing tells which is the last: more than any cuff stores.
    /// What comes after them comes on the next.
    static let mostValues = 1_000
    /// The shortest connection interval of LE, 7.5 ms (Core Specification Vol 6 Part B 4.5.1): what
    /// ends sooner after a confirmation was handed over cannot be an answer to it.
    private static let shortestInterval = Duration.microseconds(7_500)
    /// Records that wait for their release at most, and the bytes of their payloads: some megabytes. More than a
    /// meter has in its memory, so that their times can still be corrected by its clock.
    static let mostUnfrozen = 4_096
    static let mostUnfrozenBytes = 1 << 20
    /// How long a report of stored records may take to be ended when the gateway stops.
    private static let abortTimeout = Duration.seconds(1)

    /// Why nothing is read while the queue's disk hangs.
    static let hangingDisk = "the disk does not answer"

    let environment: Environment
    let entry: AllowedPeripheral
    let device: DeviceAddress
    let profile: Profile
    let timing: PassiveTiming
    let acquaintance: Acquaintance
    let isForClock: Bool
    let witness: ReadWitness?

    var memory: DeviceMemory
    private let isRemembered: Bool
    /// Committed on this link and not yet released.
    var unfrozen: [Unfrozen] = []
    let firstUnfrozen: AsyncStream<Void>
    let firstUnfrozenContinuation: AsyncStream<Void>.Continuation
    /// Records that this link brought, new and known.
    var committedCount = 0
    /// Whether the procedure has reached what counts as a reading.
    var hasSucceeded = false
    var indicationCount = 0
    /// Joins values that belong together.
    var joining: ValueJoining
    var relations: Relations
    /// The service whose control point reports records now.
    var reporting: BluetoothUUID?
    /// Whether the peripheral has a memory that is asked for.
    var hasMemory = false
    /// How often each payload that nothing dates came in this report.
    var equalPayloads: [PayloadDigest: Int] = [:]
    /// Which indication of the link began a value in several packets.
    var beginnings: [BluetoothUUID: Int] = [:]
    /// Records whose release is under way, so that nothing can be added to them.
    var releasing: Set<RecordID> = []
    private(set) var isStopping = false
    private var isLetGo = false
    /// The writing of an abort, which whoever closes the link waits for.
    private var aborting: Task<Void, Never>?
    /// What the device's clock showed on this link, beside the gateway's or alone.
    var clockObservation: ClockObservation?
    var shownClock: ShownClock?
    var hasLookedAtClock = false
    /// A confirmation that was handed to the kernel, while nothing shows yet that it arrived.
    var unproven: (id: RecordID, sent: MonotonicInstant)?

    init(environment: Environment, target: Target) {
        self.environment = environment
        entry = target.entry
        device = target.device
        profile = target.profile
        memory = target.memory
        isRemembered = target.isRemembered
        timing = target.timing
        acquaintance = target.acquaintance
        isForClock = target.isForClock
        witness = target.witness
        joining = ValueJoining(profile: target.profile, device: target.device)
        relations = Relations(waiting: target.memory.unpaired ?? [])
        (firstUnfrozen, firstUnfrozenContinuation) = AsyncStream.makeStream(
            bufferingPolicy: .bufferingNewest(1))
    }

    /// A link is ended after this time, whatever comes over it. Stored records earn it time, so that a
    /// large memory is read to its end, and no peripheral can hold the adapter with nothing.
    private var longestLink: Duration {
        let longestTransfer = min(Duration.seconds(900 + committedCount), .seconds(7_200))
        return switch profile.procedure {
        case .storedRecords, .oneTouchVerio: longestTransfer
        case .observations where hasMemory: longestTransfer
        case .stream: timing.streamMaximum + .seconds(180)
        case .measurements, .observations, .broadcast: .seconds(180)
        }
    }

    /// Reads over a link that `connected` has just opened, and closes it. Cancelling the task ends
    /// the link.
    func run(over link: any PeripheralLink) async -> Outcome {
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup(returning: Outcome.self) { group in
                group.addTask { await self.freezeInTime() }
                group.addTask {
                    // Whatever the peripheral goes on sending, others wait for the adapter.
                    await self.closeInTime(link)
                }
                let outcome = await readAndClose(link)
                group.cancelAll()
                return outcome
            }
        } onCancel: {
            Task { await self.stop(link) }
        }
    }

    private func closeInTime(_ link: any PeripheralLink) async {
        let start = environment.clock.now
        while environment.clock.now < start + longestLink {
            guard (try? await environment.clock.sleep(until: start + longestLink)) != nil else { return }
        }
        await end(link)
    }

    /// Ends the link because the queue's disk does not answer. What was not confirmed stays in the device, and is read
    /// again.
    func letGo(_ link: any PeripheralLink) async {
        isLetGo = true
        await stop(link)
    }

    private func stop(_ link: any PeripheralLink) async {
        isStopping = true
        await end(link)
    }

    /// Ends the link at once, but for a report of stored records, which is aborted first: a device
    /// that is left in the middle of one may refuse the next.
    private func end(_ link: any PeripheralLink) async {
        if let service = reporting {
            reporting = nil
            let clock = environment.clock
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

    private func readAndClose(_ link: any PeripheralLink) async -> Outcome {
        var failure: SessionError?
        do throws(SessionError) {
            try await recallPackets()
            try await read(over: link)
        } catch {
            failure = error
        }
        // In a task of its own, which is not cancelled: what the link brought is brought to its end.
        await Task { await conclude(link, after: failure) }.value
        switch failure {
        case .store(_, let fatal?): return .storeUnusable(fatal)
        case _ where isLetGo: return .failed(Self.hangingDisk)
        case .store: return .failed(failure?.words ?? "")
        // The status reports it. An operator's read reports it to the operator.
        case .strangersFull: return witness == nil ? .refused : .failed(SessionError.strangersFull.words)
        case .dayIsFull(let end): return .dayIsFull(until: end)
        case let failure? where !hasSucceeded: return .failed(failure.words)
        default: return .succeeded
        }
    }

    private func conclude(_ link: any PeripheralLink, after failure: SessionError?) async {
        await settleConfirmation(after: failure, on: link)
        memory.layout = await link.layout
        switch failure {
        case .noMeasurement, .link(.missing), .link(.attribute):
            // A subscription that went to a handle which has moved looks just so, and what is missing or refused
            // may come with an update or a bond.
            memory.layout = .unknown
        default: break
        }
        // Without a time, only what comes over one link is of one weighing, or over the next after one
        // that the peripheral or the air ended.
        let unpaired = relations.waiting.filter { $0.time != nil || failure != nil }
        memory.unpaired = unpaired.isEmpty ? nil : unpaired
        await end(link)
        await freeze()
        if outlivesRun {
            let kept = entry.address == nil ? memory.shortened : memory
            try? await environment.devices.remember(kept, of: device)
        } else if memory.bondedAdapter != nil {
            try? await environment.devices.remember(memory.bondAlone, of: device)
        }
    }

    /// Whether the queue is to remember what is learned of the device. Anybody can invent addresses, so one that no
    /// entry names has to give a record first. Its bond is remembered in any case.
    var outlivesRun: Bool { entry.address != nil || isRemembered || committedCount > 0 }

    /// What the queue does not remember of the device; nil if there is nothing.
    var volatileMemory: DeviceMemory? { outlivesRun ? nil : memory }

    /// Whether so much waits for its release that it is released now, though the link may tell more of it.
    var isFrozenDue: Bool {
        unfrozen.count >= Self.mostUnfrozen
            || unfrozen.reduce(0) { $0 + $1.record.raw.bytes.count } >= Self.mostUnfrozenBytes
    }

    private func read(over link: any PeripheralLink) async throws(SessionError) {
        try await observeClockFirst(over: link)
        guard !isForClock else {
            hasSucceeded = true
            return
        }
        switch profile.procedure {
        case .measurements: try await readMeasurements(over: link)
        case .storedRecords(let access): try await readStoredRecords(access, over: link)
        case .stream(let singles): try await readStream(singles: singles, over: link)
        case .observations: try await readObservations(over: link)
        case .oneTouchVerio: try await readOneTouchMeter(over: link)
        case .broadcast: throw .notReadable
        }
        try await awaitHangUp(over: link)
    }

    // MARK: Values

    /// The next value of one of these characteristics; of the profile's sources when nil.
    func nextValue(
        over link: any PeripheralLink, within timeout: Duration, of characteristics: Set<BluetoothUUID>? = nil
    ) async throws(SessionError) -> ReceivedValue? {
        let deadline = environment.clock.now + timeout
        do throws(LinkError) {
            // What is not asked for earns no time.
            while let value = try await link.nextValue(
                within: max(.zero, deadline.since(environment.clock.now)))
            {
                // What was under way when the gateway is stopping stays in the device.
                if isStopping { throw LinkError.ended(.byGateway) }
                await confirmationArrived()
                if characteristics?.contains(value.characteristic) ?? profile.measures(value.characteristic) {
                    return value
                }
                // Not what was subscribed to: some peripherals indicate more than they were asked.
                try await link.confirm(value)
            }
            return nil
        } catch {
            throw .link(error)
        }
    }

    /// Commits what a value says, then confirms it.
    func take(_ value: ReceivedValue, over link: any PeripheralLink) async throws(SessionError) {
        let id = try await commit([value], way: .live).id
        // The first packets of a value are no reading yet.
        if committedCount > 0 {
            hasSucceeded = true
            if value.isIndication { try await observeClockBeforeConfirming(over: link) }
        }
        try await confirm(value, of: id, over: link)
    }

    /// Confirms an indication whose record is committed.
    func confirm(
        _ value: ReceivedValue, of id: RecordID?, over link: any PeripheralLink
    ) async throws(SessionError) {
        guard value.isIndication else { return }
        do {
            try await link.confirm(value)
        } catch {
            throw .link(error)
        }
        if let id { unproven = (id, environment.clock.now) }
    }

    // MARK: Confirmations

    /// Something came after the confirmation was sent, and LE delivers in order: the device has it.
    func confirmationArrived() async {
        guard let (id, _) = unproven else { return }
        unproven = nil
        // If this fails the record stays marked: an equal one within minutes counts as this one. In a
        // task of its own, because the session's may be cancelled.
        let store = environment.store
        await Task { try? await store.markConfirmed(id) }.value
    }

    /// Decides, at the end of the link, whether the last confirmation reached the device.
    private func settleConfirmation(after failure: SessionError?, on link: any PeripheralLink) async {
        guard let (_, sent) = unproven else { return }
        switch failure {
        case .link(.ended(.byPeripheral)), .link(.ended(.byGateway)):
            let end = await link.ended ?? environment.clock.now
            guard end.since(sent) >= Self.shortestInterval else { return }
            await confirmationArrived()
        case nil:
            await confirmationArrived()
        default:
            break
        }
    }
}

/// Why a session ended before its time.
enum SessionError: Error, Equatable {
    case link(LinkError)
    /// The peripheral took the subscription and sent nothing.
    case noMeasurement
    /// The peripheral did not report its stored records; our words for why.
    case noReport(String)
    /// The profile is not one that is read over a link.
    case notReadable
    /// The queue did not take the record: nothing was confirmed. `fatal` where the queue is of no
    /// further use.
    case store(String, fatal: StoreError?)
    /// The queue has no room for what unpinned devices give: nothing was confirmed.
    case strangersFull
    /// More than is taken of one device in a day, which ends then: what it offered was not confirmed.
    case dayIsFull(until: MonotonicInstant)

    /// Whether what was not committed before it is not to be committed now.
    var isCommitFailure: Bool {
        switch self {
        case .store, .strangersFull, .dayIsFull: true
        case .link, .noMeasurement, .noReport, .notReadable: false
        }
    }

    var words: String {
        switch self {
        case .link(let error): error.words
        case .noMeasurement: "the peripheral sent no measurement within 30 s"
        case .noReport(let words): words
        case .notReadable: "this version cannot read the model's profile"
        case .strangersFull:
            "there is no room for readings of devices without an address in the allow-list: ingestd status says why"
        case .dayIsFull: DailyAllowance.words
        case .store(let words, _): "the reading could not be committed and was not confirmed: \(words)"
        }
    }
}
