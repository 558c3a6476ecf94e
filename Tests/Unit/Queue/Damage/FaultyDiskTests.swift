import CFaultyDisk
import FoundationEssentials
import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue

/// What a queue does is done on a disk that fails at one write, sync or truncation after the other. Whatever returned
/// must be there afterwards, on a healthy disk, also when the power is cut at that moment. `make prove-disk` takes each
/// operation, the tests of every day some of them.
@Suite(.serialized) struct FaultyDiskTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        let operation: cfaultydisk_operation
        let error: cfaultydisk_error
        let isForEver: Bool

        var testDescription: String {
            let operations = ["write", "sync", "truncate"]
            return "\(operations[Int(operation.rawValue)]) \(error == CFAULTYDISK_EIO ? "EIO" : "ENOSPC")"
                + (isForEver ? " for ever" : " once")
        }

        /// Operations that the work takes at least.
        var fewest: Int {
            switch operation {
            case CFAULTYDISK_WRITE: 50
            case CFAULTYDISK_SYNC: 20
            default: 0
            }
        }

        static let all = [
            (CFAULTYDISK_WRITE, CFAULTYDISK_EIO), (CFAULTYDISK_WRITE, CFAULTYDISK_ENOSPC),
            (CFAULTYDISK_SYNC, CFAULTYDISK_EIO), (CFAULTYDISK_TRUNCATE, CFAULTYDISK_EIO),
        ].flatMap { operation, error in
            [false, true].map { Fault(operation: operation, error: error, isForEver: $0) }
        }
    }

    /// What was done, as far as the store said so.
    private struct Account {
        var committed: Set<String> = []
        /// Those whose release has returned.
        var released: [String] = []
        var acknowledged: Set<String> = []
        var setAside: Set<String> = []
        /// The batch of an answer that the store did not take.
        var unanswered: [String] = []
        /// Indications without a date, by their device: true when their confirmation was noted.
        var indications: [Int: Bool] = [:]
        /// Devices whose confirmation may have been noted or not.
        var uncertain: Set<Int> = []
    }

    private static let settings = BatchSettings(maxRecords: 4, maxWait: .zero)

    @Test(arguments: Fault.all)
    func whatReturnedIsThereAfterwards(_ fault: Fault) async throws {
        try await withMemoryDirectory { directory in
            let new = directory + "/new"
            try FileManager.default.createDirectory(atPath: new, withIntermediateDirectories: true)
            // To make a file takes many writes, and nothing is in it yet.
            if fault.operation == CFAULTYDISK_WRITE {
                try await SQLiteQueue.open(in: new, clock: DrivenClock()).close()
            }
            var number = 1
            var hasFailed = true
            while hasFailed {
                let place = directory + "/\(number)"
                try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
                try FileManager.default.copyItem(atPath: new, toPath: place + "/disk")
                hasFailed = try await Self.run(fault, at: number, in: place)
                try FileManager.default.removeItem(atPath: place)
                if hasFailed { number += ProofSize.stride(fault.isForEver ? 20 : 4) }
            }
            #expect(number > fault.fewest)
        }
    }

    /// - Returns: whether the disk failed; if not, the whole of the work was done.
    private static func run(_ fault: Fault, at number: Int, in directory: String) async throws -> Bool {
        let (disk, left) = (directory + "/disk", directory + "/left")
        try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: true)
        let status = unsafe cfaultydisk_watch(disk)
        try #require(status == 0)
        defer { _ = cfaultydisk_watch(nil) }
        cfaultydisk_arm(fault.operation, number, fault.error, fault.isForEver ? 1 : 0)
        var account = Account()
        let store = try? await SQLiteQueue.open(in: disk, clock: DrivenClock())
        // The end is an orderly one, a power cut, or a process that is killed.
        if let store {
            try? await work(with: store, &account)
            if number % 3 == 0 { try? await store.close() }
        }
        if number % 3 == 1 {
            let status = unsafe cfaultydisk_leave(left)
            try #require(status == 0)
        } else {
            for name in try FileManager.default.contentsOfDirectory(atPath: disk)
            where !name.hasSuffix("-shm") {
                try FileManager.default.copyItem(atPath: disk + "/" + name, toPath: left + "/" + name)
            }
        }
        let hasFailed = cfaultydisk_has_failed() != 0
        cfaultydisk_disarm()
        if number % 3 != 0 { try? await store?.close() }
        if !hasFailed {
            #expect(account.acknowledged.count == 4)
            #expect(account.setAside.count == 1)
        }
        try await verify(account, in: left, "\(fault.testDescription) \(number)")
        return hasFailed
    }

    // MARK: - A sector that cannot be read

    /// Each page in turn cannot be read. The service starts with what is on the others, at the second start at the
    /// latest, and no other start fails.
    @Test(arguments: [ResultCode.SQLITE_IOERR_READ, .SQLITE_IOERR_CORRUPTFS])
    func aSectorThatCannotBeReadIsMendedAtTheSecondStart(code: ResultCode) async throws {
        try await withMemoryDirectory { directory in
            let new = directory + "/new"
            try FileManager.default.createDirectory(atPath: new, withIntermediateDirectories: true)
            let before = try await SQLiteQueue.open(in: new, clock: DrivenClock())
            try await before.fillAtOnce((0..<60).map { "record-\($0)" })
            // It is read before all else.
            let counters = try await before.database.read { db in
                try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'counter'")
            }
            try await before.close()
            let whole = try Data(contentsOf: URL(filePath: new + "/queue.sqlite"))
            let disk = directory + "/disk"
            try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
            let status = unsafe cfaultydisk_watch(disk)
            try #require(status == 0)
            defer {
                _ = cfaultydisk_break(nil, 0, 0)
                _ = cfaultydisk_watch(nil)
            }
            var failedStarts = 0
            let pages = stride(from: 1, through: whole.count / 4096, by: ProofSize.stride(3))
            for page in Set(pages).union(try [#require(counters)]).sorted() {
                let offset = (page - 1) * 4096
                for name in try FileManager.default.contentsOfDirectory(atPath: disk) {
                    try FileManager.default.removeItem(atPath: disk + "/" + name)
                }
                let path = disk + "/queue.sqlite"
                try whole.write(to: URL(filePath: path))
                let status = unsafe cfaultydisk_break(path, offset, code.rawValue)
                try #require(status == 0)
                let place = "page \(page)"
                do {
                    // What the start does not read is found later.
                    let store = try await SQLiteQueue.open(in: disk, clock: DrivenClock())
                    try? await store.close()
                    continue
                } catch {
                    failedStarts += 1
                    #expect((error as? StoreError)?.kind == .ioError, "\(place)")
                }
                let store = try await SQLiteQueue.open(in: disk, clock: DrivenClock())
                #expect(try await store.events.contains { $0.name == "store-quarantined" }, "\(place)")
                #expect(try await store.counts().records >= 60 - 15, "\(place)")
                try await store.close()
            }
            #expect(failedStarts > 0)
        }
    }

    // MARK: - The work

    /// Ends with the first error that does not pass; one that does is tried again once.
    private static func work(with store: SQLiteQueue, _ account: inout Account) async throws {
        var next = 0
        for round in 0..<2 {
            for _ in 0..<3 {
                let record = try record("record-\(next)")
                next += 1
                try await again { try await store.add(record) }
                account.committed.insert(record.id.text)
                try await again { try await store.records.freeze([record]) }
                account.released.append(record.id.text)
            }
            try await indicate(round, store, &account)
            // As SQLite does it by itself, which takes no notice of errors.
            try? await store.database.connection.writeWithoutTransaction {
                try $0.execute(sql: "PRAGMA wal_checkpoint")
            }
            try await deliver(store, &account, splits: round == 1)
        }
    }

    private static func indicate(
        _ number: Int, _ store: SQLiteQueue, _ account: inout Account
    ) async throws {
        let record = try indication("indication-\(number)", of: number)
        try await again { _ = try await store.records.commit(record) }
        account.committed.insert(record.record.id.text)
        account.indications[number] = false
        account.uncertain.insert(number)
        if number > 0 {
            try await again { try await store.records.markConfirmed(record.record.id) }
            account.indications[number] = true
        }
        account.uncertain.remove(number)
    }

    /// One batch is answered, or divided and its first half's first record set aside.
    private static func deliver(
        _ store: SQLiteQueue, _ account: inout Account, splits: Bool
    ) async throws {
        var next = try await again {
            try await store.next(settings)
        }
        while case .batch(let batch) = next {
            let ids = batch.items.map(\.header.id.text)
            account.unanswered = ids
            if splits, ids.count > 1 {
                next = try await again {
                    try await store.batches.split(batch, settings: settings, gateway: "box")
                }
            } else if splits, account.setAside.isEmpty {
                next = try await again {
                    try await store.batches.setAside(
                        batch, httpStatus: 400, attempt: 1, reason: "HTTP 400", reply: nil,
                        settings: settings, gateway: "box")
                }
                account.setAside.formUnion(ids)
            } else {
                next = try await again {
                    try await store.take(batch, settings)
                }
                account.acknowledged.formUnion(ids)
                // Something is left for after the restart.
                if splits { return }
            }
            account.unanswered = []
        }
    }

    @discardableResult
    private static func again<Value>(_ operation: () async throws -> Value) async throws -> Value {
        do {
            return try await operation()
        } catch let error as StoreError where error.isPassing {
            return try await operation()
        }
    }

    private static func indication(_ id: String, of number: Int) throws -> RecordSubmission {
        RecordSubmission(
            record: try record(id, address: "F1:F1:F1:F1:F1:0\(number)"),
            repetition: .undatedIndication(isFirstOnLink: true), received: DrivenClock().now,
            decodeError: nil)
    }

    // MARK: - What has to be there

    private static func verify(_ account: Account, in directory: String, _ place: String) async throws {
        let store = try await SQLiteQueue.open(in: directory, clock: DrivenClock())
        let verdict = try await store.database.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
        #expect(verdict == "ok", "\(place)")
        let told = try await store.events
        #expect(!told.contains { $0.name == "store-quarantined" }, "\(place)")
        #expect(told.map { $0[.sequence] } == (0..<told.count).map { "\($0 + 1)" }, "\(place)")
        // One event for each that was told to be done, and no second one.
        func ids(_ name: String) -> [String] { told.filter { $0.name == name }.compactMap { $0[.recordID] } }
        for (name, done) in [
            ("read", account.committed), ("submitted", account.acknowledged), ("failed", account.setAside),
        ] {
            #expect(Set(ids(name)).isSuperset(of: done), "\(name), \(place)")
            #expect(Set(ids(name)).count == ids(name).count, "\(name), \(place)")
        }
        // All that were released go out, and only what nobody knows to have been answered goes out again.
        var sent = Set(ids("submitted") + ids("failed"))
        let before = sent
        var next = try await store.next(settings)
        while case .batch(let batch) = next {
            let ids = batch.items.map(\.header.id.text)
            #expect(sent.isDisjoint(with: ids), "\(place)")
            sent.formUnion(ids)
            next = try await store.take(batch, settings)
        }
        #expect(sent.isSuperset(of: account.released), "\(place)")
        #expect(
            before.subtracting(account.acknowledged).subtracting(account.setAside)
                .isSubset(of: account.unanswered), "\(place)")
        for (number, wasConfirmed) in account.indications where !account.uncertain.contains(number) {
            let outcome = try await store.records.commit([try indication("again-\(number)", of: number)])[0]
            let id = wasConfirmed ? "again-\(number)" : "indication-\(number)"
            let expected: CommitOutcome =
                wasConfirmed ? .committed(RecordID(text: id)) : .duplicate(RecordID(text: id))
            #expect(outcome == expected, "\(place)")
        }
        try await store.close()
    }
}

extension RecordTable {
    fileprivate func commit(_ submissions: [RecordSubmission]) async throws -> [CommitOutcome] {
        try await commit(QueueTransaction(submissions: submissions))
    }
}
