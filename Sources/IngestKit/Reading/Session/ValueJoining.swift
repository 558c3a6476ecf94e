/// Brings together what a peripheral sends apart: packets of one value, a glucose and its context, a
/// time offset and its session. Pure.
struct ValueJoining {
    /// What becomes one record.
    struct Part {
        /// The value that it came with, the last one if there were several.
        var value: ReceivedValue
        var bytes: [UInt8]
        /// Nil when the bytes could not be decoded.
        var reading: Reading?
        /// Our words for why not.
        var failure: String?
        /// The wall time that the payload counts from and does not hold.
        var base: DeviceTime?
        /// When it was by the device's counter, where nothing is known that it counts from.
        var count: (moment: MonotonicInstant, age: Int64)?
        var related: RecordID?
        /// For a context: its glucose.
        var leader: Leader?
        /// Whether all of the value came.
        var isWhole = true
        /// Whether it is the first that the value consists of.
        var isFirst = true

        /// What names the record in the device's memory.
        var number: Int? {
            if value.characteristic == GenericHealthSensor.stored { return reading?.sequence }
            return switch reading?.kind {
            case .glucose: reading?.sequence
            case .continuousGlucose: reading?.timeOffsetMinutes
            default: nil
            }
        }
    }

    /// A glucose that contexts belong to.
    struct Leader {
        var id: RecordID
        var reading: Reading
        var isSkipped: Bool
    }

    /// Packets that came longer apart do not belong together: scales and sensors send the parts of a
    /// value one after the other, on the next link at the latest.
    static let longestPause = Duration.seconds(600)
    /// Packets of one value; a peripheral that sends more is not understood.
    static let mostPackets = 64
    /// Contexts that wait for their glucose. If more wait, the oldest are committed: their glucose is already in the queue,
    /// or does not exist.
    static let mostContexts = 1_000
    /// Glucose readings that are kept for their contexts, which come right after them; the oldest give way. A context
    /// that comes later finds its glucose in the queue.
    static let mostLeaders = 1_000

    /// The device's number of the record that comes next, where its bytes do not hold it.
    var recordNumber: Int?
    /// The session's start, for continuous glucose.
    var session: ContinuousGlucose.SessionStart?
    /// How many minutes the session had lasted when the sensor was asked, where it does not know its start.
    var sessionCount: (minutes: Int, moment: MonotonicInstant)?
    /// What a continuous glucose sensor says of itself (CGM Feature); nil where it does not.
    var sensor: DeviceFeature?

    private let profile: Profile
    private let device: DeviceAddress
    /// Packets that wait for their rest, or those of the last value that came in several: its last one
    /// comes again when its confirmation was lost.
    private var pending: [BluetoothUUID: PendingPackets] = [:]
    private var changed: BluetoothUUID?
    /// Characteristics with packets of this link that wait for their rest.
    private var incomplete: Set<BluetoothUUID> = []
    /// By sequence number.
    private var leaders: [Int: Leader] = [:]
    /// Their sequence numbers, the oldest first.
    private var leaderOrder: [Int] = []
    private var contexts: [Part] = []

    init(profile: Profile, device: DeviceAddress) {
        self.profile = profile
        self.device = device
    }

    // MARK: Packets

    /// Whether packets of this link wait for their rest.
    var isIncomplete: Bool { !incomplete.isEmpty }

    /// Whether packets of this characteristic, of this link or an earlier one, wait for their rest.
    func isIncomplete(_ characteristic: BluetoothUUID) -> Bool {
        guard let packets = pending[characteristic]?.packets else { return false }
        return whole(packets, of: characteristic) == nil
    }

    /// Takes over what an earlier link left behind.
    mutating func recall(_ packets: [PendingPackets]) {
        for item in packets { pending[item.characteristic] = item }
    }

    /// Drops packets of a value that the peripheral gives anew, from its beginning.
    mutating func drop(_ characteristics: Set<BluetoothUUID>) {
        for characteristic in characteristics where pending[characteristic] != nil {
            pending[characteristic] = nil
            incomplete.remove(characteristic)
            changed = characteristic
        }
    }

    /// What is to be written down of pending packets, since the last call.
    mutating func takeChanges() -> PendingPackets? {
        guard let characteristic = changed else { return nil }
        changed = nil
        return pending[characteristic]
            ?? PendingPackets(device: device, characteristic: characteristic, packets: [], received: nil)
    }

    /// What a value completes: nothing while more packets are to come, several when it holds several
    /// records.
    mutating func parts(of value: ReceivedValue, at now: MonotonicInstant) -> [Part] {
        if profile.assemblers[value.characteristic] != nil {
            return assemble(value, at: now)
        }
        do {
            return try profile.records(in: value.value, of: value.characteristic)
                .compactMap { decode($0, of: value) }
        } catch {
            return [Part(value: value, bytes: value.value, failure: error.description)]
        }
    }

    private mutating func assemble(_ value: ReceivedValue, at now: MonotonicInstant) -> [Part] {
        let characteristic = value.characteristic
        var earlier = pending[characteristic]?.packets ?? []
        var given: [Part] = []
        if let reading = whole(earlier, of: characteristic) {
            if earlier.last == value.value { return records(of: earlier, reading, value) }
            earlier = []
        } else if !earlier.isEmpty {
            let received = pending[characteristic]?.received
            let isLate = received.map { now.since($0) > Self.longestPause } ?? true
            if isLate || earlier.count >= Self.mostPackets {
                given.append(incomplete(earlier, with: value))
                earlier = []
            } else if earlier.last == value.value {
                // Its confirmation was lost: it is there already.
                return []
            }
        }
        let packets = earlier + [value.value]
        do {
            switch try profile.assemble(packets, of: characteristic) {
            case .complete(let reading):
                keep(packets.count > 1 && value.isIndication ? packets : [], of: value, isWhole: true)
                given += records(of: packets, reading, value)
            case .incomplete:
                keep(packets, of: value)
            case .unrelated:
                if !earlier.isEmpty { given.append(incomplete(earlier, with: value)) }
                keep([], of: value)
                return given + assemble(value, at: now, alone: ())
            }
        } catch {
            keep([], of: value)
            given.append(Part(value: value, bytes: Array(packets.joined()), failure: error.description))
        }
        return given
    }

    /// As `assemble`, with nothing before it.
    private mutating func assemble(
        _ value: ReceivedValue, at now: MonotonicInstant, alone: Void
    ) -> [Part] {
        do {
            switch try profile.assemble([value.value], of: value.characteristic) {
            case .complete(let reading): return records(of: [value.value], reading, value)
            case .incomplete:
                keep([value.value], of: value)
                return []
            case .unrelated:
                return [incomplete([value.value], with: value)]
            }
        } catch {
            return [Part(value: value, bytes: value.value, failure: error.description)]
        }
    }

    /// What a value becomes that is whole: one record, but for a bundle of several persons, times or states.
    private func records(of packets: [[UInt8]], _ reading: Reading, _ value: ReceivedValue) -> [Part] {
        let bytes = profile.join(packets, of: value.characteristic)
        guard let records = try? profile.records(in: bytes, of: value.characteristic), records.count > 1
        else { return [Part(value: value, bytes: bytes, reading: reading)] }
        return records.enumerated().map { index, bytes in
            part(bytes, of: value, isFirst: index == 0)
        }
    }

    private func part(_ bytes: [UInt8], of value: ReceivedValue, isFirst: Bool) -> Part {
        var part = Part(value: value, bytes: bytes, isFirst: isFirst)
        do {
            part.reading = try profile.decode(bytes, of: value.characteristic)
        } catch {
            part.failure = error.description
        }
        return part
    }

    /// What these packets say, if they are all of a value.
    private func whole(_ packets: [[UInt8]], of characteristic: BluetoothUUID) -> Reading? {
        guard packets.count > 1,
            case .complete(let reading) = try? profile.assemble(packets, of: characteristic)
        else { return nil }
        return reading
    }

    private mutating func keep(_ packets: [[UInt8]], of value: ReceivedValue, isWhole: Bool = false) {
        let hadPackets = pending[value.characteristic] != nil
        if packets.isEmpty || isWhole {
            incomplete.remove(value.characteristic)
        } else {
            incomplete.insert(value.characteristic)
        }
        pending[value.characteristic] =
            packets.isEmpty
            ? nil
            : PendingPackets(
                device: device, characteristic: value.characteristic, packets: packets,
                received: value.received)
        if hadPackets || !packets.isEmpty { changed = value.characteristic }
    }

    private func incomplete(_ packets: [[UInt8]], with value: ReceivedValue) -> Part {
        Part(
            value: value, bytes: Array(packets.joined()),
            failure: "a value in several packets was not completed", isWhole: false)
    }

    // MARK: Glucose and context, session and offset

    private mutating func decode(_ bytes: [UInt8], of value: ReceivedValue) -> Part? {
        var part = Part(value: value, bytes: bytes)
        do {
            if let sensor, value.characteristic == ContinuousGlucose.measurement {
                part.reading = try ContinuousGlucose.decode(bytes, of: sensor)
            } else {
                part.reading = try profile.decode(bytes, of: value.characteristic)
            }
            if let recordNumber { part.reading?.sequence = recordNumber }
        } catch {
            part.failure = error.description
        }
        switch part.reading?.kind {
        case .continuousGlucose:
            part.reading?.deviceTime = session?.time
            part.reading?.utcOffsetSeconds = session?.utcOffsetSeconds
            part.base = session?.time
            let isStartUnknown = session.map(\.time.isOfNoSetClock) ?? true
            if isStartUnknown, let sessionCount, let minutes = part.reading?.timeOffsetMinutes {
                part.count = (sessionCount.moment, Int64(sessionCount.minutes - minutes) * 60)
            }
            return part
        case .glucoseContext:
            guard let sequence = part.reading?.sequence else { return part }
            guard let leader = leaders[sequence] else {
                contexts.append(part)
                return nil
            }
            return follow(part, leader)
        default:
            return part
        }
    }

    /// Remembers a glucose for its contexts.
    mutating func learn(_ part: Part, id: RecordID, isSkipped: Bool) {
        guard let reading = part.reading, reading.kind == .glucose, let sequence = reading.sequence
        else { return }
        let leader = Leader(id: id, reading: reading, isSkipped: isSkipped)
        guard leaders.updateValue(leader, forKey: sequence) == nil else { return }
        leaderOrder.append(sequence)
        if leaderOrder.count > Self.mostLeaders { leaders[leaderOrder.removeFirst()] = nil }
    }

    /// Glucose readings and contexts that are kept for each other.
    var keptCount: Int { leaders.count + contexts.count }

    /// Contexts that came before this glucose.
    mutating func followers(of part: Part) -> [Part] {
        guard let reading = part.reading, reading.kind == .glucose, let sequence = reading.sequence,
            let leader = leaders[sequence]
        else { return [] }
        let mine = contexts.filter { $0.reading?.sequence == sequence }
        guard !mine.isEmpty else { return [] }
        contexts.removeAll { $0.reading?.sequence == sequence }
        return mine.map { follow($0, leader) }
    }

    /// Contexts for which no glucose came: all, or those that have waited longest where too many wait.
    mutating func takeLoneContexts(all: Bool) -> [Part] {
        let count = all ? contexts.count : max(0, contexts.count - Self.mostContexts)
        defer { contexts.removeFirst(count) }
        return Array(contexts.prefix(count))
    }

    /// A context of a glucose that was read on an earlier link, or of none.
    func context(_ part: Part, of glucose: StoredPayload?) -> Part {
        guard let glucose, let reading = try? Profiles.decode(characteristic: 0x2A18, bytes: glucose.bytes)
        else { return part }
        return follow(part, Leader(id: glucose.id, reading: reading, isSkipped: false))
    }

    /// A context is of its glucose's moment, and as much of a person as that is.
    private func follow(_ part: Part, _ leader: Leader) -> Part {
        var part = part
        part.related = leader.id
        part.leader = leader
        part.base = leader.reading.deviceTime
        part.reading?.deviceTime = leader.reading.deviceTime
        part.reading?.timeOffsetMinutes = leader.reading.timeOffsetMinutes
        part.reading?.flags += leader.reading.flagsForContext
        return part
    }
}
