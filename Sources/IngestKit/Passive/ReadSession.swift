/// One reading of one peripheral: from the connection to its end (docs/architecture.md, "On the
/// link").
///
/// What the reading needs comes first; device information and battery come after it, because many
/// devices hang up when they have sent their measurement. A value is confirmed to the device only
/// when its record is committed.
actor ReadSession {
    /// What every session of the gateway shares.
    struct Environment: Sendable {
        let store: any RecordStore
        let events: EventLog
        let clock: any GatewayClock
        let factory: RecordFactory
    }

    /// How the session ended.
    enum Outcome: Sendable, Equatable {
        /// At least one record was committed, or was there already.
        case succeeded
        /// Nothing was committed; our words for why.
        case failed(String)
        /// The queue's file is not to be trusted any more: nothing may be committed or confirmed
        /// before the process has started anew.
        case storeUnusable(StoreError)
    }

    /// How long the peripheral may take from the subscription to its first value.
    private static let firstValueTimeout = Duration.seconds(30)
    /// How long further values are awaited after the last.
    private static let furtherValueTimeout = Duration.seconds(1)
    /// Values taken on one link: more than any cuff stores. What comes after them comes on the next.
    private static let mostValues = 1_000
    /// A link is ended after this time, whatever comes over it.
    private static let longestLink = Duration.seconds(180)
    /// A record is released for delivery this long after its commit at most.
    private static let longestFreeze = Duration.seconds(30)
    /// Battery and Database Hash are looked at once in this time, in seconds.
    private static let dailyCheck: Int64 = 86_400
    /// The shortest connection interval of LE, 7.5 ms (Core Specification Vol 6 Part B 4.5.1): what
    /// ends sooner after a confirmation was handed over cannot be an answer to it.
    private static let shortestInterval = Duration.microseconds(7_500)

    private let environment: Environment
    private let entry: AllowedPeripheral
    private let device: DeviceAddress
    private let adapter: AdapterID
    private let profile: Profile

    private var memory: DeviceMemory
    /// Committed on this link and not yet released.
    private var unfrozen: [(record: Record, committed: MonotonicInstant)] = []
    private let firstUnfrozen: AsyncStream<Void>
    private let firstUnfrozenContinuation: AsyncStream<Void>.Continuation
    private var committedCount = 0
    private var indicationCount = 0
    /// A confirmation that was handed to the kernel, while nothing shows yet that it arrived.
    private var unproven: (id: RecordID, sent: MonotonicInstant)?

    init(
        environment: Environment, entry: AllowedPeripheral, device: DeviceAddress, adapter: AdapterID,
        profile: Profile, memory: DeviceMemory
    ) {
        self.environment = environment
        self.entry = entry
        self.device = device
        self.adapter = adapter
        self.profile = profile
        self.memory = memory
        (firstUnfrozen, firstUnfrozenContinuation) = AsyncStream.makeStream(
            bufferingPolicy: .bufferingNewest(1))
    }

    /// Reads over a link that `connected` has just opened, and closes it. Cancelling the task ends
    /// the link.
    func run(over link: any PeripheralLink) async -> Outcome {
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup(returning: Outcome.self) { group in
                group.addTask { await self.freezeInTime() }
                group.addTask {
                    // Whatever the peripheral goes on sending, others wait for the adapter.
                    guard (try? await self.environment.clock.sleep(for: Self.longestLink)) != nil else {
                        return
                    }
                    await link.close()
                }
                let outcome = await readAndClose(link)
                group.cancelAll()
                return outcome
            }
        } onCancel: {
            Task { await link.close() }
        }
    }

    private func readAndClose(_ link: any PeripheralLink) async -> Outcome {
        var failure: SessionError?
        do throws(SessionError) {
            try await readMeasurements(over: link)
            try await readDetails(over: link)
        } catch {
            failure = error
        }
        await settleConfirmation(after: failure, on: link)
        memory.layout = await link.layout
        if case .noMeasurement = failure {
            // A subscription that went to a handle which has moved looks just so.
            memory.layout = .unknown
        }
        await link.close()
        await freeze()
        try? await environment.store.remember(memory, of: device)
        if case .store(_, let fatal?) = failure { return .storeUnusable(fatal) }
        if let failure, committedCount == 0 { return .failed(failure.words) }
        if case .store(let words, let fatal) = failure {
            return fatal.map(Outcome.storeUnusable) ?? .failed(words)
        }
        return .succeeded
    }

    // MARK: The measurement

    private func readMeasurements(over link: any PeripheralLink) async throws(SessionError) {
        do {
            if profile.longestPayload > Profile.payloadOfDefaultMTU {
                // Opcode and handle come on top of the payload.
                try await link.ensureMTU(profile.longestPayload + 3)
            }
            for source in profile.sources {
                try await link.subscribe(to: source.characteristic, in: source.service)
            }
        } catch {
            throw .link(error)
        }
        guard let first = try await nextValue(over: link, within: Self.firstValueTimeout) else {
            throw .noMeasurement
        }
        try await take(first, over: link)
    }

    private func nextValue(
        over link: any PeripheralLink, within timeout: Duration
    ) async throws(SessionError) -> ReceivedValue? {
        do {
            while let value = try await link.nextValue(within: timeout) {
                await confirmationArrived()
                if profile.measures(value.characteristic) { return value }
                // Not what was subscribed to: some peripherals indicate more than they were asked.
                try await link.confirm(value)
            }
            return nil
        } catch {
            throw .link(error)
        }
    }

    /// Commits what a value says, then confirms it.
    private func take(_ value: ReceivedValue, over link: any PeripheralLink) async throws(SessionError) {
        let isFirst = value.isIndication && indicationCount == 0
        if value.isIndication { indicationCount += 1 }
        var reading: Reading?
        var decodeError: String?
        do {
            reading = try profile.decode(value.value, of: value.characteristic)
        } catch {
            decodeError = error.description
        }
        // The wall clock of the reception, which may lie behind: values queue during commits.
        let age = environment.clock.now.since(value.received)
        let wall = environment.clock.wallNanoseconds - Int64(age / .nanoseconds(1))
        let (record, isIdentified) = environment.factory.make(
            reading, raw: RawPayload(characteristic: value.characteristic, bytes: value.value),
            reception: RecordFactory.Reception(instant: value.received, wallNanoseconds: wall),
            entry: entry, device: deviceBlock)
        let repetition: RecordSubmission.Repetition =
            if isIdentified {
                .identified
            } else if value.isIndication {
                .undatedIndication(isFirstOnLink: isFirst)
            } else {
                .undatedNotification
            }
        let submission = RecordSubmission(
            record: record, repetition: repetition, received: value.received, decodeError: decodeError,
            destinations: entry.destinations)
        let outcome: CommitOutcome
        do {
            outcome = try await environment.store.commit(submission)
        } catch {
            if !Task.isCancelled { environment.events.emit(.storeError(error: "\(error)")) }
            let storeError = error as? StoreError
            throw .store("\(error)", fatal: storeError?.isFatal == true ? storeError : nil)
        }
        committedCount += 1
        let id: RecordID
        switch outcome {
        case .committed(let committed):
            id = committed
            unfrozen.append((record, environment.clock.now))
            firstUnfrozenContinuation.yield()
        case .duplicate(let known):
            id = known
        }
        guard value.isIndication else { return }
        do {
            try await link.confirm(value)
        } catch {
            throw .link(error)
        }
        unproven = (id, environment.clock.now)
    }

    // MARK: Confirmations

    /// Something came after the confirmation was sent, and LE delivers in order: the device has it.
    private func confirmationArrived() async {
        guard let (id, _) = unproven else { return }
        unproven = nil
        // If this fails the record stays marked: an equal one within minutes counts as this one.
        try? await environment.store.markConfirmed(id)
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

    // MARK: What comes after it

    /// Device information once, battery and Database Hash once a day, and the values that come
    /// meanwhile. A link that ends here is no failure, but a store that fails is.
    private func readDetails(over link: any PeripheralLink) async throws(SessionError) {
        let now = environment.clock.wallNanoseconds / 1_000_000_000
        do throws(LinkError) {
            if !memory.hasDeviceInformation {
                try await readDeviceInformation(over: link)
            }
            // A check in the future was made by a clock that has been set since.
            let isDue = memory.lastDailyCheck.map { now - $0 >= Self.dailyCheck || now < $0 } ?? true
            if isDue {
                if let level = try await value(
                    BatteryLevel.characteristic, in: BatteryLevel.service, over: link)
                {
                    memory.battery = try? BatteryLevel.percent(level)
                }
                let hash = memory.layout.databaseHash
                try await link.checkDatabaseHash()
                await confirmationArrived()
                memory.lastDailyCheck = now
                // Another set of attributes is another firmware.
                if let hash, await link.layout.databaseHash != hash {
                    try await readDeviceInformation(over: link)
                }
            }
        } catch {
            // The values that came before the end still wait on the link, and are taken below.
        }
        while committedCount < Self.mostValues,
            let value = try await nextValue(over: link, within: Self.furtherValueTimeout)
        {
            try await take(value, over: link)
        }
    }

    private func readDeviceInformation(over link: any PeripheralLink) async throws(LinkError) {
        memory.manufacturer = try await text(DeviceInformation.manufacturerName, over: link)
        memory.model = try await text(DeviceInformation.modelNumber, over: link)
        memory.serial = try await text(DeviceInformation.serialNumber, over: link)
        memory.firmware = try await text(DeviceInformation.firmwareRevision, over: link)
        memory.hasDeviceInformation = true
    }

    private func text(
        _ characteristic: BluetoothUUID, over link: any PeripheralLink
    ) async throws(LinkError) -> String? {
        try await value(characteristic, in: DeviceInformation.service, over: link)
            .flatMap(DeviceInformation.text)
    }

    /// A characteristic's value, nil where the peripheral has none or does not let us read it.
    private func value(
        _ characteristic: BluetoothUUID, in service: BluetoothUUID, over link: any PeripheralLink
    ) async throws(LinkError) -> [UInt8]? {
        do {
            let value = try await link.read(characteristic, in: service)
            await confirmationArrived()
            return value
        } catch {
            switch error {
            case .missing, .attribute, .notEncrypted, .malformed:
                await confirmationArrived()
                return nil
            default: throw error
            }
        }
    }

    // MARK: Release for delivery

    private var deviceBlock: DeviceBlock {
        DeviceBlock(
            peripheralID: entry.model.id, address: device.address, alias: entry.alias,
            manufacturer: memory.manufacturer, model: memory.model, serial: memory.serial,
            firmware: memory.firmware, battery: memory.battery)
    }

    /// Releases records whose link outlasts the bound.
    private func freezeInTime() async {
        for await _ in firstUnfrozen {
            while let oldest = unfrozen.first {
                do {
                    try await environment.clock.sleep(until: oldest.committed + Self.longestFreeze)
                } catch {
                    return
                }
                // The session may have released it meanwhile.
                guard let first = unfrozen.first, first.committed == oldest.committed else { continue }
                await freeze()
                // Where that failed, the end of the link is the next occasion.
                if unfrozen.first?.committed == oldest.committed { return }
            }
        }
    }

    private func freeze() async {
        guard !unfrozen.isEmpty else { return }
        let block = deviceBlock
        let records = unfrozen.map { item in
            var record = item.record
            record.device = block
            return record
        }
        do {
            try await environment.store.freeze(records)
            let released = Set(records.map(\.id))
            unfrozen.removeAll { released.contains($0.record.id) }
        } catch {
            // They are safe in the queue, and released with the next that is, or at the next start;
            // when the gateway is stopping that is all there is to say.
            guard !Task.isCancelled else { return }
            environment.events.emit(.storeError(error: "\(error)"))
        }
    }
}

/// Why a session ended before its time.
enum SessionError: Error, Equatable {
    case link(LinkError)
    /// The peripheral took the subscription and sent nothing.
    case noMeasurement
    /// The queue did not take the record: nothing was confirmed. `fatal` where the queue is of no
    /// further use.
    case store(String, fatal: StoreError?)

    var words: String {
        switch self {
        case .link(let error): error.words
        case .noMeasurement: "the peripheral sent no measurement within 30 s"
        case .store(let words, _): "the reading could not be committed and was not confirmed: \(words)"
        }
    }
}
