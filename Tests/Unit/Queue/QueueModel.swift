@testable import IngestCore
@testable import IngestRecords
@testable import IngestStorage

/// What the queue has to do, in plain arrays: slow, and easy to see through.
struct QueueModel {
    struct Reading {
        let id: String
        let kind: RecordKind
        let received: MonotonicInstant
        /// In the order of the commits, from 1.
        let sequence: Int64
        /// In the order of delivery; nil while it is not released, or for what is not delivered.
        var position: Int64?
        var isReleased = false
    }

    struct Batch: Equatable {
        var lane: DeliveryLane
        var ids: [String]
    }

    struct Destination {
        let routing: DestinationRouting
        /// Released, and in no batch.
        var waiting: [Reading] = []
        var batches: [Batch] = []
        var delivered = 0
        var dead: [String] = []
        /// Up to here records were offered to the fresh lane.
        var freshPosition: Int64 = 0
        var account: String?
        /// Up to here records are of another's session.
        var accountSequence: Int64 = 0
        /// Up to here records were given up.
        var clearedSequence: Int64 = 0
    }

    private(set) var readings: [String: Reading] = [:]
    private(set) var unreleased: [String] = []
    /// Of strangers, to make room.
    private var dropped: Set<String> = []
    /// The entry of each image.
    private var entries: [String: String] = [:]
    var destinations: [String: Destination]
    private var sequence: Int64 = 0
    private var position: Int64 = 0
    let maxRecords: Int

    init(_ routings: [DestinationRouting], maxRecords: Int) {
        destinations = Dictionary(uniqueKeysWithValues: routings.map { ($0.name, Destination(routing: $0)) })
        self.maxRecords = maxRecords
    }

    /// - Returns: whether it is new.
    mutating func append(_ id: String, kind: RecordKind, at now: MonotonicInstant) -> Bool {
        guard readings[id] == nil else { return false }
        sequence += 1
        readings[id] = Reading(id: id, kind: kind, received: now, sequence: sequence)
        unreleased.append(id)
        return true
    }

    /// An entry, which is released at once, and its image behind it.
    mutating func enter(_ id: String, image: String, at now: MonotonicInstant) {
        entries[image] = id
        for (id, kind) in [(id, RecordKind.glucose), (image, .image)] {
            _ = append(id, kind: kind, at: now)
            release(id)
        }
    }

    /// With them go those that were forgotten for ten minutes.
    mutating func release(_ ids: [String], at now: MonotonicInstant) {
        for id in ids { release(id) }
        let forgotten = unreleased.filter { id in
            readings[id].map { now.since($0.received) > .seconds(600) } ?? false
        }
        for id in forgotten { release(id) }
    }

    private mutating func release(_ id: String) {
        guard unreleased.contains(id), var reading = readings[id] else { return }
        unreleased.removeAll { $0 == id }
        reading.isReleased = true
        if reading.kind != .undecoded {
            position += 1
            reading.position = position
            for name in destinations.keys where accepts(reading, name) {
                destinations[name]?.waiting.append(reading)
            }
        }
        readings[id] = reading
    }

    /// The process ended, in whatever way, and another one opened the queue.
    mutating func reopen() {
        for id in unreleased { release(id) }
        for name in destinations.keys { destinations[name]?.freshPosition = position }
    }

    private func accepts(_ reading: Reading, _ name: String) -> Bool {
        guard let destination = destinations[name], reading.kind != .undecoded else { return false }
        guard reading.sequence > destination.clearedSequence else { return false }
        if reading.kind == .image {
            return destination.routing.takesImages && destination.routing.kinds?.contains(.glucose) ?? true
        }
        return destination.routing.kinds?.contains(reading.kind) ?? true
    }

    // MARK: Delivery

    /// What a lane sends next.
    mutating func next(_ name: String, _ lane: DeliveryLane, at now: MonotonicInstant) -> [String]? {
        guard var destination = destinations[name] else { return nil }
        if lane == .image { return nextImage(of: destination) }
        let isStrict = destination.routing.order == .strict
        if let stored = first(of: destination, isStrict ? nil : lane) { return stored.ids }

        var chosen: [Reading] = []
        var looked = destination.freshPosition
        var isFull: Bool { chosen.count >= maxRecords }
        for reading in destination.waiting where !isFull {
            guard let position = reading.position else { continue }
            if lane == .fresh, position <= destination.freshPosition { continue }
            if lane == .backlog, !isStrict, position > destination.freshPosition { continue }
            looked = position
            if reading.sequence <= destination.accountSequence {
                destination.dead.append(reading.id)
                destination.waiting.removeAll { $0.id == reading.id }
            } else if lane == .backlog || now.since(reading.received) <= .seconds(60) {
                if reading.kind == .image {
                    destination.batches.append(Batch(lane: .image, ids: [reading.id]))
                } else {
                    chosen.append(reading)
                }
                destination.waiting.removeAll { $0.id == reading.id }
            }
        }
        if lane == .fresh {
            destination.freshPosition = isFull ? looked : position
        }
        if !chosen.isEmpty { destination.batches.append(Batch(lane: lane, ids: chosen.map(\.id))) }
        destinations[name] = destination
        return chosen.isEmpty ? nil : chosen.map(\.id)
    }

    /// The first of a lane, or of all lanes of readings.
    private func first(of destination: Destination, _ lane: DeliveryLane?) -> Batch? {
        destination.batches.filter { lane == nil ? $0.lane != .image : $0.lane == lane }
            .min { place($0) < place($1) }
    }

    /// The image that goes when no reading waits.
    private func nextImage(of destination: Destination) -> [String]? {
        first(of: destination, nil) == nil ? first(of: destination, .image)?.ids : nil
    }

    /// Whether an image may go: its entry was dealt with.
    func mayGo(_ image: String, _ name: String) -> Bool {
        guard let entry = entries[image], let destination = destinations[name] else { return false }
        return !destination.waiting.contains { $0.id == entry }
            && !destination.batches.contains { $0.ids.contains(entry) }
    }

    private func place(_ batch: Batch) -> Int64 {
        batch.ids.first.flatMap { readings[$0]?.position } ?? 0
    }

    mutating func acknowledge(_ ids: [String], _ name: String) {
        destinations[name]?.delivered += ids.count
        remove(ids, name)
    }

    mutating func setAside(_ ids: [String], _ name: String) {
        destinations[name]?.dead += ids
        remove(ids, name)
    }

    mutating func split(_ ids: [String], _ name: String) {
        guard let lane = destinations[name]?.batches.first(where: { $0.ids == ids })?.lane else { return }
        remove(ids, name)
        let middle = (ids.count + 1) / 2
        destinations[name]?.batches += [
            Batch(lane: lane, ids: Array(ids.prefix(middle))),
            Batch(lane: lane, ids: Array(ids.dropFirst(middle))),
        ]
    }

    mutating func leaveToBacklog(_ ids: [String], _ name: String) {
        guard let place = destinations[name]?.batches.firstIndex(where: { $0.ids == ids }) else { return }
        destinations[name]?.batches[place].lane = .backlog
    }

    private mutating func remove(_ ids: [String], _ name: String) {
        destinations[name]?.batches.removeAll { $0.ids == ids }
    }

    // MARK: Sessions

    /// - Returns: how many records wait that will be set aside.
    mutating func signIn(_ account: String, _ name: String) -> Int {
        guard var destination = destinations[name], destination.account != account else { return 0 }
        defer { destinations[name] = destination }
        let isFirst = destination.account == nil
        destination.account = account
        if isFirst { return 0 }
        let count = pending(name)
        destination.dead += destination.batches.sorted { place($0) < place($1) }.flatMap(\.ids)
        destination.batches = []
        destination.accountSequence = sequence
        return count
    }

    /// - Returns: how many were given up.
    mutating func clear(_ name: String) -> Int {
        let count = pending(name)
        destinations[name]?.waiting = []
        destinations[name]?.batches = []
        destinations[name]?.clearedSequence = sequence
        return count
    }

    // MARK: Strangers

    /// These are gone that no destination waited for.
    /// - Returns: those of them that may not have gone.
    mutating func drop(_ ids: Set<String>) -> Set<String> {
        var waiting = Set(unreleased)
        for destination in destinations.values {
            waiting.formUnion(destination.waiting.map(\.id))
            waiting.formUnion(destination.batches.flatMap(\.ids))
        }
        for name in destinations.keys { destinations[name]?.dead.removeAll { ids.contains($0) } }
        dropped.formUnion(ids)
        return ids.intersection(waiting)
    }

    /// Their ids are forgotten: they are new when they come again.
    mutating func forget(_ ids: Set<String>) {
        for id in ids { readings[id] = nil }
        dropped.subtract(ids)
    }

    // MARK: What is there

    func pending(_ name: String) -> Int {
        guard let destination = destinations[name] else { return 0 }
        return destination.waiting.count + destination.batches.reduce(0) { $0 + $1.ids.count }
            + unreleased.count { id in readings[id].map { accepts($0, name) } ?? false }
    }

    /// Those that may not be dropped.
    var needed: Set<String> {
        var needed = Set(unreleased)
        for reading in readings.values where reading.kind == .undecoded && !dropped.contains(reading.id) {
            needed.insert(reading.id)
        }
        for destination in destinations.values {
            needed.formUnion(destination.waiting.map(\.id))
            needed.formUnion(destination.batches.flatMap(\.ids))
            needed.formUnion(destination.dead)
        }
        return needed
    }
}
