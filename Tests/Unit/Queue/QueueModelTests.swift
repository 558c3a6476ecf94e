import FoundationEssentials
import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue

/// Random steps on the queue and on a model of it, which must agree (docs/reliability.md, "Proof").
///
/// `QUEUE_STEPS` is how many (`make prove-queue` takes 100,000), `QUEUE_SEED` repeats a run.
@Suite struct QueueModelTests {
    private static let steps = number("QUEUE_STEPS") ?? 1500
    private static let seed = UInt64(number("QUEUE_SEED") ?? Int.random(in: 1...1_000_000_000))

    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    @Test func theQueueDoesWhatItsModelDoes() async throws {
        print("queue model: \(Self.steps) steps, seed \(Self.seed)")
        // In memory where there is such a file system: a process that ends loses nothing either way.
        let parent = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : "/tmp"
        let directory = "\(parent)/ingestd-model-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var run = try await Run(directory: directory, seed: Self.seed)
        for step in 1...Self.steps {
            do {
                try await run.step()
                if step.isMultiple(of: 25) { try await run.compare() }
            } catch {
                Issue.record("step \(step), seed \(Self.seed): \(error)")
                break
            }
        }
        try await run.deliverEverything()
        try await run.store.close()
        print("queue model: \(run.summary)")
    }

    struct Difference: Error, CustomStringConvertible {
        let description: String
    }
}

/// One run: the queue, its model, and the dice.
private struct Run {
    private static let routings = [
        DestinationRouting(name: "strict", takesImages: true),
        DestinationRouting(name: "fresh", order: .fresh, takesImages: true),
        DestinationRouting(name: "cuffs", kinds: [.bloodPressure], order: .fresh),
    ]
    private static let settings = BatchSettings(maxRecords: 3, maxWait: .zero)

    private let directory: String
    private let clock = DrivenClock()
    private(set) var store: SQLiteQueue
    private var model = QueueModel(routings, maxRecords: settings.maxRecords)
    private var dice: SeededGenerator
    /// Batches that were asked for and not answered, by destination and lane.
    private var claimed: [String: StoredBatch] = [:]
    private var lastID = 0
    /// Of entries and images.
    private var bodies: [String: String] = [:]
    private var opened = 1
    private var lastMarked: Int64 = 0
    private var counts: [String: Int] = [:]

    init(directory: String, seed: UInt64) async throws {
        self.directory = directory
        dice = SeededGenerator(seed: seed)
        store = try await SQLiteQueue.open(
            path: "\(directory)/1.sqlite", bootID: "boot", clock: clock, destinations: Self.routings)
    }

    var summary: String {
        counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }

    private mutating func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &dice) }

    // MARK: Steps

    mutating func step() async throws {
        switch roll(100) {
        case 0..<4: try await note("enter", enter())
        case 4..<24: try await note("append", append())
        case 24..<40: try await note("release", release())
        case 40..<46: clock.advance(by: .seconds(roll(45)))
        case 46..<72: try await note("claim", claim())
        case 72..<93: try await note("answer", answer())
        case 93: try await note("retire", retire())
        case 94: try await note("drop", dropStrangers())
        case 95: try await note("crash", reopen(afterCrash: true))
        case 96: try await note("reopen", reopen(afterCrash: false))
        case 97: try await note("sign-in", signIn())
        case 98 where roll(4) == 0: try await note("clear", clear())
        default: try await store.outbox.markOutbox(through: try await lastSequence())
        }
    }

    private mutating func note(_ name: String, _: Void) { counts[name, default: 0] += 1 }

    private mutating func append() async throws {
        for _ in 0...roll(3) {
            // Now and then one that was read before.
            let isKnown = lastID > 0 && roll(8) == 0
            if !isKnown { lastID += 1 }
            let id = isKnown ? "r\(1 + roll(lastID))" : "r\(lastID)"
            let kind: RecordKind = [.bodyTemperature, .bloodPressure, .bloodPressure, .undecoded][roll(4)]
            let known = model.readings[id]?.kind
            let outcome = try await store.records.commit(
                RecordSubmission(
                    record: try Self.reading(id, kind: known ?? kind), repetition: .identified,
                    received: clock.now, decodeError: nil, isStranger: Self.isStranger(id)))
            let isNew = model.append(id, kind: kind, at: clock.now)
            try agree(
                outcome, isNew ? .committed(RecordID(text: id)) : .duplicate(RecordID(text: id)),
                "append \(id)")
        }
    }

    /// Two thirds of the readings are of two strangers.
    private static func isStranger(_ id: String) -> Bool { number(id) % 3 > 0 }

    private static func number(_ id: String) -> Int { Int(id.dropFirst()) ?? 0 }

    private static func reading(_ id: String, kind: RecordKind, model: String? = nil) throws
        -> IngestRecords.Record
    {
        let address =
            isStranger(id) ? StrangerBench.address(number(id) % 3) : "F1:F1:F1:F1:F1:F1"
        return try record(id, kind: kind, address: address, model: model)
    }

    /// Makes room for strangers, as far as what waits for a destination allows.
    private mutating func dropStrangers() async throws {
        let before = try await ids()
        let bytes = try await store.database.read { try StrangerTable.bytes(of: "", $0) }
        var course = StrangerTable.Drop(of: nil, downTo: bytes / Int64(1 + roll(4)) - 1, step: 500)
        while !course.isDone { course = try await store.strangers.drop(course, lookingAt: 1 + roll(9)) }
        let gone = before.subtracting(try await ids())
        try agree(gone.filter { !Self.isStranger($0) }.sorted(), [], "dropped of a pinned device")
        try agree(model.drop(gone).sorted(), [], "dropped though a destination waits for it")
        let known = try await store.database.read {
            try Set(String.fetchAll($0, sql: "SELECT id FROM record") + $0.retainedIDs)
        }
        model.forget(Set(model.readings.keys).subtracting(known))
    }

    /// An entry with an image.
    private mutating func enter() async throws {
        lastID += 1
        var entry = SampleEntries.glucose
        entry.start += Int64(lastID)
        entry.name += "\(lastID)"
        let bytes = Data([0xFF, 0xD8, 0xFF, UInt8(truncatingIfNeeded: lastID)])
        let record = try #require(EnteredRecord(entry, gateway: "box", received: 1_795_166_107))
        let image = try #require(EnteredImage(bytes, of: entry, gateway: "box", received: 1_795_166_107))
        let outcome = try await store.entries.enter([record], image: image)
        try agree(
            outcome, EntryOutcome(news: [true], image: .goes(to: ["fresh", "strict"])), "enter \(record.id)")
        model.enter(record.id.text, image: image.id.text, at: clock.now)
        bodies[record.id.text] = record.body
        bodies[image.id.text] = image.body
    }

    private mutating func release() async throws {
        guard !model.unreleased.isEmpty else { return }
        let ids = Array(model.unreleased.shuffled(using: &dice).prefix(1 + roll(3)))
        try await store.records.freeze(
            ids.map { try Self.reading($0, kind: model.readings[$0]?.kind ?? .undecoded, model: "M") })
        model.release(ids, at: clock.now)
    }

    /// As a worker does: it asks for images when no reading is next.
    private mutating func claim() async throws {
        let routing = Self.routings[roll(Self.routings.count)]
        let lanes = routing.order.lanes
        guard roll(4) == 0 else { return try await claim(lanes[roll(lanes.count)], routing.name) }
        for lane in lanes { try await claim(lane, routing.name) }
        if lanes.allSatisfy({ claimed["\(routing.name) \($0)"] == nil }) {
            try await claim(.image, routing.name)
        }
    }

    private mutating func claim(_ lane: DeliveryLane, _ name: String) async throws {
        let next = try await store.next(Self.settings, for: name, lane: lane)
        try take(next, name, lane)
    }

    /// What the queue says is next must be what the model says.
    private mutating func take(_ next: NextBatch, _ name: String, _ lane: DeliveryLane) throws {
        try agree(next.ids, model.next(name, lane, at: clock.now), "next of \(name), \(lane)")
        guard case .batch(let batch) = next else {
            claimed["\(name) \(lane)"] = nil
            return
        }
        claimed["\(name) \(lane)"] = batch
        if lane == .image {
            let image = batch.items[0].header.id.text
            try agree(model.mayGo(image, name), true, "the entry of \(image) was dealt with")
        }
        for item in batch.items {
            if let body = bodies[item.header.id.text] {
                try agree(item.body, body, "body of \(item.header.id)")
                continue
            }
            let kind = model.readings[item.header.id.text]?.kind ?? .undecoded
            let bodies = try ["M", nil].map {
                try Self.reading(item.header.id.text, kind: kind, model: $0).json
            }
            if !bodies.contains(item.body) {
                throw QueueModelTests.Difference(description: "another body of \(item.header.id.text)")
            }
        }
    }

    private mutating func answer() async throws {
        guard let key = claimed.keys.sorted().randomElement(using: &dice), let batch = claimed[key] else {
            return
        }
        let (name, lane) = (batch.destination, batch.lane)
        let ids = batch.items.map(\.header.id.text)
        let next: NextBatch
        switch roll(10) {
        case 0..<6:
            model.acknowledge(ids, name)
            next = try await store.take(batch, Self.settings)
        case 6, 7:
            if batch.items.count == 1 {
                model.setAside(ids, name)
                next = try await store.batches.setAside(
                    batch, httpStatus: 400, attempt: 1, reason: "HTTP 400", reply: nil,
                    settings: Self.settings, gateway: "box")
            } else {
                model.split(ids, name)
                next = try await store.batches.split(batch, settings: Self.settings, gateway: "box")
            }
        default:
            let leaves = lane == .fresh && roll(2) == 0
            let event = Event.retrying(destination: name, httpStatus: 500, attempt: 1, error: "HTTP 500")
            try await store.batches.note(
                .down, of: name,
                change: .destinationDown(destination: name, httpStatus: 500, error: "HTTP 500"),
                event: event, batch: batch, attempts: 1, leavesLane: leaves)
            if leaves {
                model.leaveToBacklog(ids, name)
                claimed[key] = nil
            }
            return
        }
        // Whether there is another image depends on what was asked for meanwhile.
        if lane == .image, next == .nothing {
            claimed[key] = nil
        } else {
            try take(next, name, lane)
        }
    }

    private func ids() async throws -> Set<String> {
        try await store.database.read { try Set(String.fetchAll($0, sql: "SELECT id FROM record")) }
    }

    private mutating func retire() async throws {
        try await store.retireAll()
        let lost = model.needed.subtracting(try await ids())
        if !lost.isEmpty { throw QueueModelTests.Difference(description: "dropped: \(lost.sorted())") }
    }

    /// Another process opens what this one left, orderly or not.
    private mutating func reopen(afterCrash: Bool) async throws {
        let old = "\(directory)/\(opened).sqlite"
        opened += 1
        let new = "\(directory)/\(opened).sqlite"
        if !afterCrash { try await store.close() }
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: old + suffix) {
            try FileManager.default.copyItem(atPath: old + suffix, toPath: new + suffix)
        }
        if afterCrash { try await store.close() }
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: old + suffix) }
        store = try await SQLiteQueue.open(
            path: new, bootID: "boot", clock: clock, destinations: Self.routings)
        model.reopen()
        claimed = [:]
        try await compare()
    }

    private mutating func signIn() async throws {
        let name = Self.routings[roll(Self.routings.count)].name
        let account = "person-\(roll(3))"
        let others = model.signIn(account, name)
        try agree(try await store.sessions.signIn(account, at: name), others, "signed in at \(name)")
        if others > 0 { claimed = claimed.filter { $0.value.destination != name } }
    }

    private mutating func clear() async throws {
        let name = Self.routings[roll(Self.routings.count)].name
        let count = model.clear(name)
        try agree(try await store.sessions.signOut(of: name), count, "cleared of \(name)")
        claimed = claimed.filter { $0.value.destination != name }
    }

    private func lastSequence() async throws -> Int64 {
        try await store.database.read {
            try Int64.fetchOne($0, sql: "SELECT value FROM counter WHERE name = 'event'") ?? 0
        }
    }

    // MARK: Comparing

    private func agree<Value: Equatable>(_ found: Value, _ expected: Value, _ what: String) throws {
        guard found != expected else { return }
        throw QueueModelTests.Difference(description: "\(what): \(found), the model says \(expected)")
    }

    mutating func compare() async throws {
        let counts = try await store.counts()
        for found in counts.destinations {
            guard let expected = model.destinations[found.name] else { continue }
            try agree(found.pending, model.pending(found.name), "pending of \(found.name)")
            try agree(found.delivered, expected.delivered, "delivered to \(found.name)")
            try agree(found.dead, expected.dead.count, "set aside of \(found.name)")
        }
        let (kept, counted) = try await store.database.read {
            (try StrangerCount(kept: $0), try StrangerCount(counted: $0))
        }
        try agree(kept.sums, counted.sums, "what strangers hold")
        // Events are numbered without gaps, whatever happened.
        let sequences = try await store.database.read {
            try Int64.fetchAll($0, sql: "SELECT sequence FROM outbox ORDER BY sequence")
        }
        let last = try await lastSequence()
        let first = sequences.first ?? last + 1
        try agree(sequences, first > last ? [] : Array(first...last), "numbers of events")
    }

    /// In the end everything arrives, or is set aside.
    mutating func deliverEverything() async throws {
        for _ in 0..<2 {
            let ids = model.unreleased
            try await store.records.freeze(
                ids.map { try Self.reading($0, kind: model.readings[$0]?.kind ?? .undecoded, model: "M") })
            model.release(ids, at: clock.now)
            for routing in Self.routings {
                for lane in routing.order.lanes + [.image] {
                    var next = try await store.next(Self.settings, for: routing.name, lane: lane)
                    try take(next, routing.name, lane)
                    while case .batch(let batch) = next {
                        model.acknowledge(batch.items.map(\.header.id.text), routing.name)
                        next = try await store.take(batch, Self.settings)
                        try take(next, routing.name, lane)
                    }
                }
                #expect(model.pending(routing.name) == 0)
            }
        }
        try await compare()
        let check = try await store.database.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
        #expect(check == "ok")
    }
}
