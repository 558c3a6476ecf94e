import Dispatch
import FoundationEssentials
import GRDB
import SystemPackage

/// Opens the queue's file; one that is damaged is put aside first, and what can be read of it goes into a new one.
///
/// Nothing here refuses a file for damage: a box that nobody looks after has to go on.
struct QueueOpening {
    /// How far the log may stay grown after a checkpoint, in bytes.
    private static let journalSizeLimit = 16 << 20
    /// In bytes. A log is longer only while somebody reads much and much is written; it is not looked through for damage
    /// then, because it would take the memory that the unit allows.
    private static let largestLog: Int64 = 32 << 20
    /// What SQLite keeps of the file in memory. Half of its default: the kernel keeps the file's pages too, and nothing
    /// is faster with more (docs/performance.md).
    private static let pageCacheKiB = 1024

    let file: QueueFile

    /// A queue that is open.
    struct Opened<Value: Sendable>: Sendable {
        let connection: DatabaseQueue
        let reserve: EventReserve
        let value: Value
    }

    /// What an earlier run had, and this one has not found.
    private enum Loss {
        /// There is no file.
        case queue
        /// There is no log, and the queue was not closed.
        case log
        /// Events that were committed are not in it.
        case events
        /// The header was damaged and was set right: nothing is lost.
        case header

        func message(_ file: QueueFile) -> String {
            switch self {
            case .queue:
                "\(file.path): the queue is gone, with all that it held; a new one was made. Find out what removes files here"
            case .log:
                "\(file.log): the log of the queue is gone; what was committed last may be lost. Find out what removes files here"
            case .events:
                "\(file.path): the queue is older than it was; what was committed since is lost. Do not put an earlier copy in its place"
            case .header:
                "\(file.path): the head of the file was damaged and was set right, nothing is lost; check the disk"
            }
        }
    }

    /// The file says that its space cannot be given back, which is so in files of the first versions.
    private struct HeaderInDoubt: Error {
        let largestRoot: Int
    }

    /// Blocks.
    /// - Parameter prepare: carried out in one transaction, before anybody else uses the file; again if that finds it
    ///   damaged.
    /// - Throws: `StoreError`, `DatabaseError`, `Errno`, and what `FileManager` throws.
    func open<Value: Sendable>(_ prepare: (Database) throws -> Value) throws -> Opened<Value> {
        if let obstacle = file.obstacle { throw StoreError(.notAFile(obstacle), path: file.path) }
        file.removeDraft()
        let remembered = QueueNumbers.read(file)
        // What an earlier run has written anew and not put in place.
        let isReplaced = try file.takeReplacement()
        let isLogDamaged = hasDamagedLog(since: remembered)
        var loss = isReplaced ? nil : loss(since: remembered)
        // SQLite removes the log at each close, also at one after a failure.
        if loss == nil, !isLogDamaged { remembered?.noteClosed(file) }
        var isHeaderRight = false
        while true {
            do {
                guard !file.hasStrayLog, !file.isStub, !isLogDamaged else {
                    throw DatabaseError(resultCode: .SQLITE_CORRUPT)
                }
                if file.isMarked { try examine() }
                return try connect(remembered, loss, isHeaderRight: isHeaderRight, prepare)
            } catch  where !isHeaderRight && mayBeHeader(error) {
                isHeaderRight = true
                let root = (error as? HeaderInDoubt)?.largestRoot
                if try QueueHeader.mend(file, largestRoot: root) { loss = loss ?? .header }
            } catch let error as DatabaseError where isDamage(error) {
                try mend(isLogDamaged: isLogDamaged, remembered)
                return try connect(remembered, nil, isHeaderRight: true, prepare)
            } catch let error as DatabaseError where Self.isUnreadable(error) {
                // If the next start cannot read it either, that is damage.
                file.setMark()
                throw error
            }
        }
    }

    // MARK: - What is missing

    /// What can be seen to be missing before the file is opened.
    private func loss(since remembered: QueueNumbers?) -> Loss? {
        guard let remembered, !file.hasStrayLog else { return nil }
        if file.isGone { return .queue }
        return remembered.isOpen && file.logByteCount == 0 ? .log : nil
    }

    /// Whether the log has commits that SQLite would not find.
    private func hasDamagedLog(since remembered: QueueNumbers?) -> Bool {
        // Only a log that was not closed holds anything, and no directory has a database of no bytes.
        guard (1...Self.largestLog).contains(file.logByteCount), !file.isGone,
            let content = try? Data(contentsOf: URL(filePath: file.log))
        else { return false }
        let log = QueueLog(content)
        guard log.isDamaged(isOpen: remembered?.isOpen == true) else { return false }
        let queue = (try? Data(contentsOf: URL(filePath: file.path), options: .mappedIfSafe)) ?? Data()
        return !log.isInFile(queue)
    }

    /// Whether a damaged header may be why the file was refused.
    private func mayBeHeader(_ error: any Error) -> Bool {
        if file.hasStrayLog || file.isStub || file.isGone { return false }
        switch error {
        case is HeaderInDoubt: return true
        case let error as StoreError:
            if case .newerVersion = error.kind { return true }
            return error.kind == .foreign
        case let error as DatabaseError:
            let codes: [ResultCode] = [
                .SQLITE_ERROR, .SQLITE_READONLY, .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_CANTOPEN,
            ]
            return codes.contains(error.resultCode)
        default: return false
        }
    }

    // MARK: - Connecting

    private func connect<Value: Sendable>(
        _ remembered: QueueNumbers?, _ loss: Loss?, isHeaderRight: Bool, _ prepare: (Database) throws -> Value
    ) throws -> Opened<Value> {
        let database = try DatabaseQueue(path: file.path, configuration: Self.configuration)
        let opened = try database.writeWithoutTransaction { db in
            // A file that is not ours is refused before anything is changed in it.
            let found = try QueueSchema.inspect(db, path: file.path)
            if found.version > 0, !isHeaderRight { try Self.checkSpace(db) }
            // Only before the first table is made.
            if found.version == 0 { try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL") }
            // Set here and not through GRDB's configuration, which goes back to NORMAL with WAL.
            try db.execute(sql: "PRAGMA journal_mode = WAL")
            try db.execute(sql: "PRAGMA synchronous = FULL")
            // What is deleted is overwritten with zeros. Debian's SQLite does so by itself; another build may not.
            try db.execute(sql: "PRAGMA secure_delete = ON")
            try db.execute(sql: "PRAGMA mmap_size = 0")
            try db.execute(sql: "PRAGMA cache_size = -\(Self.pageCacheKiB)")
            try db.execute(sql: "PRAGMA journal_size_limit = \(Self.journalSizeLimit)")
            var opened: Opened<Value>?
            try db.inTransaction(.immediate) {
                let found = try QueueSchema.inspect(db, path: file.path)
                try Self.migrate(db, from: found.version)
                // Few rows, and each of them trusted from here on.
                try DestinationTable.checkDeliveries(db)
                let value = try Self.prepared(prepare, db)
                try tell(of: found.isHeaderRight ? loss : loss ?? .header, remembered, db)
                let reserve = EventReserve(remembered, isLost: loss != nil, of: file)
                try reserve.cover(CounterTable.last("event", db))
                opened = Opened(connection: database, reserve: reserve, value: value)
                return .commit
            }
            return opened
        }
        guard let opened else { throw DatabaseError(resultCode: .SQLITE_ABORT) }
        // Not before the log has a commit: a power cut could take it with it.
        opened.reserve.commit()
        try opened.reserve.open()
        return opened
    }

    /// Tells of what is missing, under a number that no event has had.
    private func tell(of loss: Loss?, _ remembered: QueueNumbers?, _ db: Database) throws {
        let isOlder = try CounterTable.last("event", db) < remembered?.used ?? 0
        guard let loss = loss ?? (isOlder ? .events : nil) else { return }
        if let remembered, loss != .header || isOlder {
            try CounterTable.raise(db, event: remembered.reserved)
        }
        try OutboxTable.append(.storeError(error: loss.message(file)), db)
    }

    private static func checkSpace(_ db: Database) throws {
        guard try Int.fetchOne(db, sql: "PRAGMA auto_vacuum") == 0 else { return }
        throw HeaderInDoubt(
            largestRoot: try Int.fetchOne(db, sql: "SELECT max(rootpage) FROM sqlite_master") ?? 0)
    }

    /// A statement of the migration fails where a table is missing, or a later SQLite finds a row in it that the table
    /// would not take: that is damage.
    private static func migrate(_ db: Database, from version: Int) throws {
        do {
            try QueueSchema.migrate(db, from: version)
        } catch let error as DatabaseError
            where [.SQLITE_ERROR, .SQLITE_CONSTRAINT].contains(error.resultCode)
        {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: error.message)
        }
    }

    /// A value of another type than was written is damage.
    private static func prepared<Value>(_ prepare: (Database) throws -> Value, _ db: Database) throws -> Value
    {
        do {
            return try prepare(db)
        } catch is RowDecodingError {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT)
        }
    }

    private static var configuration: GRDB.Configuration {
        var configuration = GRDB.Configuration()
        configuration.label = "ingestd.queue"
        // GRDB's own choice would raise the priority of threads, which an unprivileged service may
        // not.
        configuration.qos = .default
        // A reading command may hold a lock for a moment while it opens the file.
        configuration.busyMode = .timeout(5)
        return configuration
    }

    /// Has the disk take a draft that SQLite wrote without syncing it.
    static func sync(_ file: QueueFile) throws {
        guard !file.hasReplacement else { return }
        let draft = try DatabaseQueue(path: file.draft, configuration: configuration)
        try draft.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = FULL")
            // A commit syncs all of the file.
            try db.execute(sql: "PRAGMA user_version = \(QueueSchema.version)")
        }
        try draft.close()
        try file.finishDraft()
    }

    // MARK: - Damage

    /// A disk that cannot read the file twice in a row will not do so the third time.
    private func isDamage(_ error: DatabaseError) -> Bool {
        switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: true
        default: file.isMarked && Self.isUnreadable(error)
        }
    }

    /// Whether the disk cannot read a part of the file. Of EIO SQLite says CORRUPTFS, and most often makes
    /// SQLITE_CORRUPT of that; of other errors READ.
    private static func isUnreadable(_ error: DatabaseError) -> Bool {
        error.extendedResultCode == .SQLITE_IOERR_READ
            || error.extendedResultCode == .SQLITE_IOERR_CORRUPTFS
    }

    /// Looks through a file that an earlier run did not trust, and removes the mark when there is nothing.
    private func examine() throws {
        let database = try DatabaseQueue(path: file.path, configuration: Self.configuration)
        let verdict = try database.writeWithoutTransaction { db in
            _ = try QueueSchema.inspect(db, path: file.path)
            return try String.fetchOne(db, sql: "PRAGMA integrity_check(1)")
        }
        try database.close()
        guard verdict == "ok" else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        file.removeMark()
    }

    /// Makes a new file of what can be read, and puts the damaged one aside. The new one is whole, and tells of it,
    /// before the damaged one is moved.
    private func mend(isLogDamaged: Bool, _ remembered: QueueNumbers?) throws {
        let draft = try DatabaseQueue(path: file.draft, configuration: Self.configuration)
        let name = file.nextAside.lastPathPart
        try draft.writeWithoutTransaction { try $0.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL") }
        try draft.write { db in
            try QueueSchema.migrate(db, from: 0)
            let found = try QueueSalvage.copy(from: file, to: db, isLogDamaged: isLogDamaged)
            if let remembered { try CounterTable.raise(db, event: remembered.reserved) }
            try OutboxTable.append(
                .storeQuarantined(
                    file: name, records: found.records, lost: found.lost,
                    isDeliveryKnown: found.isDeliveryKnown),
                db)
        }
        try draft.close()
        try file.finishDraft()
        try file.takeReplacement()
        remembered?.noteClosed(file)
        file.pruneAside(downTo: Self.mostAside(file))
    }

    /// What damaged files may take that are kept, in bytes: a tenth of the disk.
    private static func mostAside(_ file: QueueFile) -> UInt64 {
        let disk = DirectorySpace(directory: file.directory.isEmpty ? "." : file.directory)
        return ((try? disk.totalBytes()) ?? .max) / 10
    }
}
