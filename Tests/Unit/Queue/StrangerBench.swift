import FoundationEssentials
import GRDB
import QueueTestSupport
import Synchronization
import Testing

@testable import IngestQueue

/// A small queue, its keeper, and devices without an address in the allow-list.
struct StrangerBench {
    /// A disk with room for everything, until it is filled.
    final class Disk: DiskSpace {
        private let state = Mutex((isFull: false, looks: 0))

        /// How often it was asked for what is free.
        var looks: Int { state.withLock { $0.looks } }
        func fill() { state.withLock { $0.isFull = true } }

        func totalBytes() -> UInt64 { 1 << 40 }
        func freeBytes() -> UInt64 {
            state.withLock { state in
                state.looks += 1
                return state.isFull ? 0 : 1 << 39
            }
        }
        func makeReserve(bytes: UInt64) {}
        func releaseReserve() {}
    }

    static let maximumSize: UInt64 = 2 << 20
    static let share = StrangerShare(maximumSize: maximumSize)
    static let settings = BatchSettings(maxRecords: 5, maxWait: .zero)

    let store: SQLiteQueue
    let clock: DrivenClock
    let sink = RecordingSink()
    let disk = Disk()
    let keeper: QueueKeeper
    private let told: Told

    private final class Told: Sendable {
        let all = Mutex<[FullStrangers]>([])
    }

    /// What the keeper has said of who is left alone, from the first on.
    var full: [FullStrangers] { told.all.withLock { $0 } }

    init(_ store: SQLiteQueue, _ clock: DrivenClock, maximumSize: UInt64 = maximumSize) {
        let told = Told()
        self.store = store
        self.clock = clock
        self.told = told
        keeper = QueueKeeper(
            store, disk: disk,
            settings: QueueKeeper.Settings(maximumSize: maximumSize, keepSubmitted: .seconds(7 * 86400)),
            clock: clock, events: EventLog(sink: sink), setTakesRecords: { _ in },
            setFullStrangers: { full in told.all.withLock { $0.append(full) } })
    }

    static func run(
        _ destinations: [DestinationRouting] = [DestinationRouting(name: "clinic")],
        _ body: (StrangerBench) async throws -> Void
    ) async throws {
        try await withMemoryDirectory { directory in
            let clock = DrivenClock()
            let store = try await SQLiteQueue.open(in: directory, clock: clock, destinations: destinations)
            try await body(StrangerBench(store, clock))
            try await store.close()
        }
    }

    static func address(_ number: Int) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        let text = Array(String(repeating: "0", count: 6 - digits.count) + digits)
        return "E0:00:00:\(String(text[0...1])):\(String(text[2...3])):\(String(text[4...5]))"
    }

    /// Commits a reading of the stranger with this number, and releases it.
    /// - Parameter bytes: makes it long.
    func add(
        _ id: String, from stranger: Int, kind: RecordKind = .bodyTemperature, bytes: [UInt8] = [0, 1, 2, 3],
        repetition: RecordSubmission.Repetition = .identified
    ) async throws {
        let record = try record(id, kind: kind, address: Self.address(stranger), bytes: bytes)
        _ = try await store.records.commit(
            RecordSubmission(
                record: record, repetition: repetition, received: clock.now, decodeError: nil,
                isStranger: true))
        try await store.records.freeze([record])
    }

    /// Adds readings of a stranger until one is refused; returns how many were not.
    func fill(from stranger: Int, kind: RecordKind = .bodyTemperature, _ name: String = "f") async throws
        -> Int
    {
        for count in 0..<100_000 {
            do {
                try await add("\(name)-\(stranger)-\(count)", from: stranger, kind: kind)
            } catch let error as StoreError {
                #expect(error.kind == .strangersFull)
                return count
            }
        }
        throw TimedOut()
    }

    func deliverAll(to name: String = "clinic") async throws {
        for lane in store.routings.order(of: name).lanes {
            var next = try await store.next(Self.settings, for: name, lane: lane)
            while case .batch(let batch) = next {
                next = try await store.take(batch, Self.settings)
            }
        }
    }

    /// Has the destination refuse each record that waits for it.
    func refuseAll(at name: String = "clinic") async throws {
        var next = try await store.next(Self.settings, for: name)
        while case .batch(let batch) = next {
            next =
                batch.items.count > 1
                ? try await store.batches.split(batch, settings: Self.settings, gateway: "box")
                : try await store.batches.setAside(
                    batch, httpStatus: 422, attempt: 1, reason: .unassigned, reply: "no subject",
                    settings: Self.settings, gateway: "box")
        }
    }

    func drop(of stranger: Int?, downTo target: Int64, step: Int64 = 0, lookingAt limit: Int = 7) async throws
    {
        var course = StrangerTable.Drop(of: stranger.map(Self.address), downTo: target, step: step)
        while !course.isDone { course = try await store.strangers.drop(course, lookingAt: limit) }
    }

    func bytes(of stranger: Int? = nil) async throws -> Int64 {
        try await store.database.read {
            try StrangerTable.bytes(of: stranger.map(Self.address) ?? "", $0)
        }
    }

    var ids: [String] {
        get async throws {
            try await store.database.read {
                try String.fetchAll($0, sql: "SELECT id FROM record ORDER BY seq")
            }
        }
    }

    var retained: [String] {
        get async throws {
            try await store.database.read {
                try $0.retainedIDs
            }
        }
    }

    /// For which destinations records were dropped that they had not taken, and how many, by the events.
    var backlogDropped: [(destination: String, count: Int)] {
        get async throws {
            try await store.events.filter { $0.name == "backlog-dropped" }.map {
                ($0[.destination] ?? "", $0[.count].flatMap { Int($0) } ?? 0)
            }
        }
    }

    /// The counts of the events that told of dropped records.
    var dropped: [Int] {
        get async throws {
            try await store.events.filter { $0.name == "stranger-dropped" }.compactMap {
                $0[.count].flatMap { Int($0) }
            }
        }
    }
}

/// What the table `stranger` has to say, counted anew row by row.
struct StrangerCount: Equatable, Sendable {
    var sums: [String: Int64] = [:]

    /// As the table says.
    init(kept db: Database) throws {
        for row in try Row.fetchAll(db, sql: "SELECT * FROM stranger") { sums[row["address"]] = row["bytes"] }
    }

    /// As the rows say.
    init(counted db: Database) throws {
        func bytes(_ text: String?) -> Int64 { Int64(text?.utf8.count ?? 0) }
        for row in try Row.fetchAll(db, sql: "SELECT * FROM record WHERE stranger = 1") {
            let undated = (row["undated_payload"] as Data?).map { Int64($0.count) }
            let content =
                220 + bytes(row["body"]) + Int64((row["payload"] as Data).count) + (undated ?? 0)
                + bytes(row["undated"]) + bytes(row["destinations"]) + bytes(row["alias"])
            add(Self.rows(content) + 250 + (undated.map { 2 * ($0 + 60) } ?? 0), to: row["address"])
        }
        for row in try Row.fetchAll(
            db,
            sql:
                "SELECT dead_letter.*, address FROM dead_letter JOIN record ON seq = record_seq WHERE stranger = 1"
        ) {
            add(Self.rows(120 + bytes(row["error"]) + bytes(row["reply"])) + 60, to: row["address"])
        }
        for row in try Row.fetchAll(db, sql: "SELECT * FROM retained WHERE stranger_seq IS NOT NULL") {
            add((row["undated"] as Data?) == nil ? 180 : 300, to: row["address"])
        }
    }

    /// What a row of this length takes of its pages at most.
    private static func rows(_ content: Int64) -> Int64 {
        content + (content <= 1000 ? content / 2 : min(content, 4096))
    }

    private mutating func add(_ bytes: Int64, to address: String) {
        sums[address, default: 0] += bytes
        sums["", default: 0] += bytes
    }
}
