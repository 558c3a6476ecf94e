import Dispatch
import GRDB

/// Opens the queue's file; one that is damaged is put aside first, and what can be read of it goes into a new one.
///
/// Nothing here refuses a file for damage: a box that nobody looks after has to go on.
enum QueueOpening {
    /// How far the log may stay grown after a checkpoint, in bytes.
    private static let journalSizeLimit = 16 << 20
    /// What SQLite keeps of the file in memory. Half of its default: the kernel keeps the file's pages too, and nothing
    /// is faster with more (docs/performance.md).
    private static let pageCacheKiB = 1024

    /// Blocks.
    /// - Parameter prepare: carried out in one transaction, before anybody else uses the file; again if that finds it
    ///   damaged.
    /// - Throws: `StoreError`, `DatabaseError`, and what `FileManager` throws.
    static func open<Value>(
        _ file: QueueFile, prepare: (Database) throws -> Value
    ) throws -> (DatabaseQueue, Value) {
        file.removeDraft()
        // What an earlier run has written anew and not put in place.
        try file.takeReplacement()
        do {
            guard !file.hasStrayLog else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
            if file.isMarked { try examine(file) }
            return try connect(file, prepare: prepare)
        } catch let error as DatabaseError where isDamage(error, isMarked: file.isMarked) {
            try mend(file)
            return try connect(file, prepare: prepare)
        } catch let error as DatabaseError where isUnreadable(error) {
            // If the next start cannot read it either, that is damage.
            file.setMark()
            throw error
        }
    }

    private static func connect<Value>(
        _ file: QueueFile, prepare: (Database) throws -> Value
    ) throws -> (DatabaseQueue, Value) {
        let database = try DatabaseQueue(path: file.path, configuration: configuration)
        let value = try database.writeWithoutTransaction { db in
            // A file that is not ours is refused before anything is changed in it.
            let found = try QueueSchema.inspect(db, path: file.path)
            // Only before the first table is made.
            if found == 0 { try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL") }
            // Set here and not through GRDB's configuration, which goes back to NORMAL with WAL.
            try db.execute(sql: "PRAGMA journal_mode = WAL")
            try db.execute(sql: "PRAGMA synchronous = FULL")
            // What is deleted is overwritten with zeros. Debian's SQLite does so by itself; another build may not.
            try db.execute(sql: "PRAGMA secure_delete = ON")
            try db.execute(sql: "PRAGMA mmap_size = 0")
            try db.execute(sql: "PRAGMA cache_size = -\(pageCacheKiB)")
            try db.execute(sql: "PRAGMA journal_size_limit = \(journalSizeLimit)")
            var value: Value?
            try db.inTransaction(.immediate) {
                let found = try QueueSchema.inspect(db, path: file.path)
                try migrate(db, from: found)
                // Few rows, and each of them trusted from here on.
                try DestinationTable.checkDeliveries(db)
                value = try Self.prepared(prepare, db)
                return .commit
            }
            return value
        }
        guard let value else { throw DatabaseError(resultCode: .SQLITE_ABORT) }
        return (database, value)
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
    private static func isDamage(_ error: DatabaseError, isMarked: Bool) -> Bool {
        switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: true
        default: isMarked && isUnreadable(error)
        }
    }

    /// Whether the disk cannot read a part of the file. Of EIO SQLite says CORRUPTFS, and most often makes
    /// SQLITE_CORRUPT of that; of other errors READ.
    private static func isUnreadable(_ error: DatabaseError) -> Bool {
        error.extendedResultCode == .SQLITE_IOERR_READ
            || error.extendedResultCode == .SQLITE_IOERR_CORRUPTFS
    }

    /// Looks through a file that an earlier run did not trust, and removes the mark when there is nothing.
    private static func examine(_ file: QueueFile) throws {
        let database = try DatabaseQueue(path: file.path, configuration: configuration)
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
    private static func mend(_ file: QueueFile) throws {
        let draft = try DatabaseQueue(path: file.draft, configuration: configuration)
        let name = file.nextAside.lastPathPart
        try draft.writeWithoutTransaction { try $0.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL") }
        try draft.write { db in
            try QueueSchema.migrate(db, from: 0)
            let found = try QueueSalvage.copy(from: file, to: db)
            try OutboxTable.append(
                .storeQuarantined(
                    file: name, records: found.records, lost: found.lost,
                    isDeliveryKnown: found.isDeliveryKnown, kept: file.asideCount + 1),
                db)
        }
        try draft.close()
        try file.finishDraft()
        try file.takeReplacement()
    }
}
