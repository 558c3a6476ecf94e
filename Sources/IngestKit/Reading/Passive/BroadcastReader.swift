internal import Synchronization

/// Reads what allow-listed devices broadcast: decides what is a new reading, commits it and releases
/// it for delivery. It never connects.
///
/// One task does all of it in the order of the adverts, so that nothing is judged while what came
/// before it is still on its way to the disk.
actor BroadcastReader {
    /// Where bind keys come from, by the name of the credential. Reads it anew, and may block for as
    /// long as reading a small file takes.
    typealias KeySource = @Sendable (String) throws(BindKeyError) -> BindKey

    /// An advert on its way.
    private struct Item: Sendable {
        let advertisement: Advertisement
        let entry: AllowedPeripheral
        let format: BroadcastFormat
        let structure: BroadcastFormat.Structure
    }

    /// An advert that was decoded.
    private struct Heard: Sendable {
        let item: Item
        let broadcast: Broadcast
    }

    /// What is known of one device.
    private final class Device {
        var memory: DeviceMemory
        var history: BroadcastHistory
        /// A weight whose impedance is awaited.
        var held: (heard: Heard, until: MonotonicInstant)?
        /// What came with a counter that was too low: if it rises from there, it was a reading.
        var suspect: Heard?
        var lastHeard: MonotonicInstant
        /// The entry for which it was heard last, and how strong it was.
        var entry: AllowedPeripheral
        var signal: Int?
        var lastComplaint: MonotonicInstant?

        /// - Parameter unheardSince: before the item no advert of it came since then.
        init(_ memory: DeviceMemory, _ item: Item, unheardSince: MonotonicInstant) {
            self.memory = memory
            lastHeard = item.advertisement.received
            entry = item.entry
            signal = item.advertisement.rssi
            history = BroadcastHistory(memory.broadcast ?? BroadcastMemory(), at: unheardSince)
        }

        func hear(_ item: Item) {
            lastHeard = item.advertisement.received
            entry = item.entry
            signal = item.advertisement.rssi
        }
    }

    /// Adverts that wait; a device goes on advertising, so that the oldest may go, first of those that no entry
    /// names by address.
    private static let longestQueue = 256
    /// Devices that may come to be followed at once, without an address in the allow-list.
    private static let mostNewcomers = 100
    /// Devices that are followed; of more, the one not heard for the longest time is forgotten.
    private static let mostDevices = 1_024
    /// How long a weight waits for its impedance. Scales measure it within some seconds.
    private static let longestHold = Duration.seconds(20)
    /// What is wrong with a device's broadcasts is told once in this time.
    private static let complaintInterval = Duration.seconds(3_600)
    /// A queue that does not take records is tried again after this time.
    private static let storePause = Duration.seconds(10)

    private let ports: PassiveGateway.Ports
    private let factory: RecordFactory
    private let waiting = Mutex<[Item]>([])
    private let wakeUp = WakeUp()
    private var devices: [DeviceAddress: Device] = [:]
    /// Since then no device was heard that is not among these.
    private var othersUnheardSince: MonotonicInstant
    private var keys: [String: Result<BindKey, BindKeyError>] = [:]
    private var storeFailed: MonotonicInstant?
    /// Devices for whose readings there is no room.
    private var fullStrangers = FullStrangers()
    /// Devices without an address in the allow-list that may come to be followed.
    private var newcomers: BroadcastAllowance

    init(ports: PassiveGateway.Ports, factory: RecordFactory) {
        self.ports = ports
        self.factory = factory
        let now = ports.clock.now
        othersUnheardSince = now
        newcomers = BroadcastAllowance(most: Self.mostNewcomers, at: now)
    }

    /// Takes an advert, if its entry is for broadcasts.
    /// - Returns: whether it is.
    nonisolated func takes(_ advertisement: Advertisement, as entry: AllowedPeripheral) -> Bool {
        guard let format = entry.broadcastFormat else { return false }
        guard let structure = format.structure(in: advertisement.data.span) else { return true }
        let item = Item(advertisement: advertisement, entry: entry, format: format, structure: structure)
        waiting.withLock { items in
            if items.count == Self.longestQueue {
                // Anybody can send for an entry without an address, as fast as the air carries it.
                let unnamed = items.firstIndex { $0.entry.address == nil }
                if unnamed == nil, entry.address == nil { return }
                items.remove(at: unnamed ?? 0)
            }
            items.append(item)
        }
        wakeUp.raise()
        return true
    }

    /// The devices of an entry that are followed, by address.
    func heard(for entry: AllowedPeripheral) -> [(device: DeviceAddress, at: MonotonicInstant, signal: Int?)]
    {
        devices.filter { $0.value.entry == entry }
            .sorted { $0.key.address.description < $1.key.address.description }
            .map { ($0.key, $0.value.lastHeard, $0.value.signal) }
    }

    /// From now on what these devices broadcast is not used, and what all others do is.
    func leaveAlone(_ full: FullStrangers) { fullStrangers = full }

    /// Reads bind keys again, and tells again what is wrong.
    func reload() {
        keys = [:]
        for device in devices.values { device.lastComplaint = nil }
    }

    /// Reads until the task is cancelled; what it has heard by then is committed.
    /// - Throws: `StoreError` when the queue is not to be trusted any more.
    func run() async throws {
        while !Task.isCancelled {
            // Lowered before the adverts are taken: one that comes later raises it again.
            _ = wakeUp.consume()
            // A task of its own is not cancelled: the store would refuse a cancelled one.
            try await Task { try await self.work() }.value
            let next = devices.values.compactMap { $0.held?.until }.min()
            guard let next else {
                await wakeUp.wait()
                continue
            }
            await withTaskGroup { group in
                group.addTask { try? await self.ports.clock.sleep(until: next) }
                group.addTask { await self.wakeUp.wait() }
                await group.next()
                group.cancelAll()
            }
        }
        try await Task { try await self.finish() }.value
    }

    private func work() async throws {
        let items = waiting.withLock { items in
            defer { items = [] }
            return items
        }
        // What was due before these were heard comes before them.
        try await release { $0 <= self.ports.clock.now }
        for item in items { try await take(item) }
    }

    private func finish() async throws {
        try await work()
        try await release { _ in true }
    }

    /// Commits the weights that wait no longer.
    private func release(_ isOver: (MonotonicInstant) -> Bool) async throws {
        for device in devices.values {
            guard let held = device.held, isOver(held.until) else { continue }
            device.held = nil
            let isFull = fullStrangers.include(
                held.heard.item.advertisement.device.address, held.heard.item.entry)
            if !isFull, try await commit(held.heard, of: device) { continue }
            device.held = (held.heard, ports.clock.now + Self.storePause)
        }
    }

    // MARK: One advert

    private func take(_ item: Item) async throws {
        guard let device = try await device(of: item) else { return }
        device.hear(item)
        let key = item.format.hasKeys ? item.entry.key.map(key) : nil
        let broadcast: Broadcast
        do throws(DecodeError) {
            broadcast = try item.format.decode(
                item.structure, key: try? key?.get(), address: item.advertisement.device.address)
        } catch {
            try await decodingFailed(item, of: device, error, key: key)
            return
        }
        if key != nil, !broadcast.isEncrypted {
            // Anybody can send plain data under the device's address.
            if broadcast.isReading { complain(of: device, item, "not encrypted, though it has a key") }
            return
        }
        let heard = Heard(item: item, broadcast: broadcast)
        if let counter = broadcast.counter {
            switch device.history.order(of: counter, at: item.advertisement.received) {
            case .rises:
                device.suspect = nil
            case .repeats:
                return
            case .falls:
                device.suspect = heard
                return
            case .restarts:
                let suspect = device.suspect
                device.suspect = nil
                if let suspect { try await consider(suspect, of: device) }
            }
        }
        try await consider(heard, of: device)
    }

    /// Decides whether it is a reading, and when its time has come.
    private func consider(_ heard: Heard, of device: Device) async throws {
        let broadcast = heard.broadcast
        let instant = heard.item.advertisement.received
        let isNew = device.history.isNew(broadcast, rearm: heard.item.entry.model.rearm, at: instant)
        guard broadcast.isReading, isNew else {
            device.history.counted(broadcast, at: instant)
            return
        }
        if let held = device.held {
            let waiting = held.heard.broadcast.contents
            if broadcast.awaitsMore, broadcast.contents == waiting { return }
            device.held = nil
            // What was waited for has the weight in it; anything else is another weighing.
            if !waiting.allSatisfy(broadcast.contents.contains) {
                try await commit(held.heard, of: device)
            }
        }
        if broadcast.awaitsMore {
            device.held = (heard, instant + Self.longestHold)
        } else {
            try await commit(heard, of: device)
        }
    }

    /// What is followed of the device that sent an advert; nil when the queue cannot say what is
    /// remembered of it.
    private func device(of item: Item) async throws -> Device? {
        let address = item.advertisement.device
        if let device = devices[address] { return device }
        let memory: DeviceMemory
        do {
            memory = try await ports.devices.recall(address) ?? DeviceMemory()
        } catch {
            try storeFailed(error)
            return nil
        }
        // Addresses are whatever a sender writes: those that neither the allow-list nor the queue knows come
        // to be followed no faster than people put up sensors.
        let isKnown = item.entry.address != nil || memory.broadcast != nil
        guard isKnown || newcomers.take(at: item.advertisement.received) else { return nil }
        if devices.count >= Self.mostDevices {
            let oldest = devices.min { $0.value.lastHeard < $1.value.lastHeard }
            if let oldest {
                if let held = oldest.value.held { try await commit(held.heard, of: oldest.value) }
                devices[oldest.key] = nil
                othersUnheardSince = max(othersUnheardSince, oldest.value.lastHeard)
            }
        }
        let device = Device(memory, item, unheardSince: othersUnheardSince)
        devices[address] = device
        ports.events.emit(.discovered(item.entry.reference))
        return device
    }

    private func key(_ name: String) -> Result<BindKey, BindKeyError> {
        if let known = keys[name] { return known }
        let key = Result { () throws(BindKeyError) in try ports.bindKey(name) }
        keys[name] = key
        return key
    }

    // MARK: What cannot be read

    /// A wrong key is told; what no key would help is kept as well, because a later version may
    /// know it. Neither more often than once an hour: the device goes on sending.
    private func decodingFailed(
        _ item: Item, of device: Device, _ error: DecodeError, key: Result<BindKey, BindKeyError>?
    ) async throws {
        switch error {
        case .keyNeeded:
            if case .failure(let reason) = key {
                complain(of: device, item, reason.description)
            } else {
                complain(of: device, item, error.description)
            }
        case .keyMismatch, .addressNeeded, .otherAddress:
            complain(of: device, item, error.description)
        default:
            guard mayComplain(of: device) else { return }
            let record = await record(of: item, reading: nil, device).record
            try await store(record, isIdentified: false, item, decodeError: error.description, of: device)
        }
    }

    private func complain(of device: Device, _ item: Item, _ words: String) {
        guard mayComplain(of: device) else { return }
        ports.events.emit(.decodeError(recordID: nil, item.entry.reference, error: words))
    }

    private func mayComplain(of device: Device) -> Bool {
        let now = ports.clock.now
        if let last = device.lastComplaint, now.since(last) < Self.complaintInterval { return false }
        device.lastComplaint = now
        return true
    }

    // MARK: Records

    /// - Returns: false if the queue does not take it now.
    @discardableResult
    private func commit(_ heard: Heard, of device: Device) async throws -> Bool {
        let broadcast = heard.broadcast
        let item = heard.item
        let instant = item.advertisement.received
        if let storeFailed, ports.clock.now.since(storeFailed) < Self.storePause { return false }
        guard device.history.allows(at: instant) else {
            complain(of: device, item, "it sends more readings than one in 10 s: some are left out")
            return true
        }
        var memory = device.memory
        memory.broadcast = device.history.memory(with: broadcast)
        memory.firmware = broadcast.firmware ?? memory.firmware
        memory.battery = broadcast.reading.batteryPercent ?? memory.battery
        let previous = device.memory
        device.memory = memory
        let product = await record(of: item, reading: broadcast.reading, device)
        var day = DailyAllowance(memory.allowance, bootID: factory.bootID, at: ports.clock.now)
        guard day.admits(records: 1, bytes: product.record.queuedSize) else {
            device.memory = previous
            complain(of: device, item, DailyAllowance.reason + ": the rest is left out")
            return true
        }
        guard
            try await store(
                product.record, isIdentified: product.isIdentified, item, decodeError: nil, of: device)
        else {
            // The device goes on sending it.
            device.memory = previous
            return false
        }
        device.history.took(broadcast, at: instant)
        return true
    }

    private func record(
        of item: Item, reading: Reading?, _ device: Device
    ) async -> RecordFactory.Product {
        let received = item.advertisement.received
        // The wall clock of the reception, which may lie behind: adverts queue during commits.
        let wall = ports.clock.trustedWallNanoseconds(at: received)
        let block = DeviceBlock(
            peripheralID: item.entry.model.id, address: item.advertisement.device.address,
            alias: item.entry.alias, manufacturer: device.memory.manufacturer, model: device.memory.model,
            serial: device.memory.serial, firmware: device.memory.firmware, battery: device.memory.battery)
        let firstSeen = try? await ports.devices.firstSeen(of: [item.entry]).first
        return factory.make(
            reading, raw: RawPayload(characteristic: nil, bytes: item.structure.value),
            reception: RecordFactory.Reception(instant: received, wallNanoseconds: wall),
            subjects: item.entry.subjects, device: block,
            circumstances: RecordFactory.Circumstances(firstSeen: firstSeen ?? FirstSeen()))
    }

    /// Commits a record, with what is remembered of the device, and releases it for delivery: there
    /// is no link whose end would tell more of the device.
    /// - Returns: whether it is in the queue.
    @discardableResult
    private func store(
        _ record: Record, isIdentified: Bool, _ item: Item, decodeError: String?, of device: Device
    ) async throws -> Bool {
        let submission = RecordSubmission(
            record: record, repetition: isIdentified ? .identified : .undatedNotification,
            received: item.advertisement.received, decodeError: decodeError,
            destinations: item.entry.destinations, isStranger: item.entry.address == nil)
        ports.log.decoded(
            decodeError == nil ? record.kind : nil, count: item.structure.value.count, from: "an advert",
            of: item.entry, failure: decodeError)
        let start = ports.clock.now
        var day = DailyAllowance(device.memory.allowance, bootID: factory.bootID, at: start)
        day.committed(bytes: record.queuedSize)
        var memory = device.memory
        memory.allowance = day
        memory.lastCommit = ports.clock.wallNanoseconds
        do {
            let outcomes = try await ports.store.commit(
                QueueTransaction(submissions: [submission], memory: (item.advertisement.device, memory)))
            if case .committed = outcomes[0] { device.memory = memory }
            ports.log.committed([record], outcomes, of: item.entry, took: ports.clock.now.since(start))
        } catch {
            try storeFailed(error)
            return false
        }
        storeFailed = nil
        do {
            try await ports.store.freeze([record])
        } catch {
            // The record is safe, and released with a later one or at the next start.
            try storeFailed(error)
        }
        return true
    }

    /// - Throws: the error, if the queue is of no further use.
    private func storeFailed(_ error: any Error) throws {
        if let error = error as? StoreError, error.isFatal { throw error }
        // That one device has no room is no matter of the others.
        if (error as? StoreError)?.kind == .strangersFull { return }
        guard !(error is CancellationError) else { return }
        let now = ports.clock.now
        defer { storeFailed = now }
        if let storeFailed, now.since(storeFailed) < Self.storePause { return }
        ports.events.emit(storeError: error)
    }
}

extension Reading {
    /// The device's own charge, where that is among what it measures; 0 to 100.
    fileprivate var batteryPercent: Int? {
        for measurement in measurements where measurement.type == "battery" && measurement.unit == "%" {
            guard case .exact(let number) = measurement.value, number.exponent == 0 else { continue }
            if (0...100).contains(number.coefficient) { return Int(number.coefficient) }
        }
        return nil
    }
}
