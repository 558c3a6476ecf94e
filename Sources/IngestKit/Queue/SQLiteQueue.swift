import Dispatch
import GRDB
import Synchronization
import SystemPackage

/// GRDB has a type of this name too.
package typealias Record = IngestRecords.Record

/// The queue on SQLite: every record once, in the order of the commits, with what each destination has taken of them.
/// One type for each group of tasks; all share one connection.
package struct SQLiteQueue: Sendable {
    package let routings: DestinationRoutings
    package let records: RecordTable
    package let entries: EntryIntake
    package let devices: DeviceTable
    package let undated: UndatedRecords
    package let batches: DeliveryBatches
    package let resender: Resender
    package let deadLetters: DeadLetterTable
    package let destinations: DestinationTable
    package let sessions: SessionTable
    package let outbox: OutboxTable
    package let overview: QueueOverview
    let database: QueueDatabase
    let retention: Retention
    let strangers: StrangerTable
    let room: QueueRoom
    let images: ImageTurns

    /// Opens the queue, or makes a new one, and takes it over from an earlier run: records whose
    /// device block that run did not complete are frozen as they are, once their time is decided.
    ///
    /// A destination that the file does not know starts with the oldest record held if no
    /// destination was known before, else with what is read from now on.
    /// - Parameters:
    ///   - path: the database file; its directory exists.
    ///   - bootID: the kernel's name of this boot (/proc/sys/kernel/random/boot_id).
    /// - Throws: `StoreError`.
    package static func open(
        path: String, bootID: String, clock: any GatewayClock, destinations: [DestinationRouting]
    ) async throws -> SQLiteQueue {
        let file = QueueFile(path: path)
        do {
            // Opening blocks: it goes to a thread of its own, as every later access does.
            let opened = try await BlockingCall.run {
                try QueueOpening(file: file).open { db in
                    try CounterTable.raise(db)
                    try RecordTable.freezeLeftovers(db)
                    try DestinationTable.register(destinations, db)
                    return try CounterTable.last("position", db)
                }
            }
            return SQLiteQueue(
                QueueDatabase(
                    opened.connection, path: path, bootID: bootID, clock: clock, reserve: opened.reserve),
                routings: DestinationRoutings(destinations), positionAtOpening: opened.value)
        } catch let error as DatabaseError {
            throw StoreError(error, path: path)
        } catch let error as Errno {
            throw StoreError(error, path: file.numbers)
        }
    }

    private init(_ database: QueueDatabase, routings: DestinationRoutings, positionAtOpening: Int64) {
        self.database = database
        self.routings = routings
        room = QueueRoom(path: database.path)
        images = ImageTurns()
        outbox = OutboxTable(database: database)
        undated = UndatedRecords(database: database, routings: routings)
        strangers = StrangerTable(database: database, routings: routings, room: room)
        devices = DeviceTable(database: database, strangers: strangers)
        records = RecordTable(
            database: database, routings: routings, room: room, strangers: strangers, outbox: outbox,
            undated: undated)
        entries = EntryIntake(database: database, routings: routings, room: room)
        overview = QueueOverview(database: database, routings: routings)
        destinations = DestinationTable(database: database)
        sessions = SessionTable(database: database, routings: routings, room: room, overview: overview)
        deadLetters = DeadLetterTable(database: database, routings: routings, room: room)
        resender = Resender(database: database, routings: routings)
        retention = Retention(database: database, routings: routings, outbox: OutboxTable(database: database))
        batches = DeliveryBatches(
            database: database, routings: routings, sessions: sessions, outbox: outbox,
            lanes: LaneComposer(routings: routings, positionAtOpening: positionAtOpening, database: database),
            images: images)
    }

    /// From now on these records are for the destinations. What is in a request already goes out; what waits otherwise
    /// follows the new rules.
    package func route(_ destinations: [DestinationRouting]) {
        routings.replace(by: destinations)
        room.noteOrder()
        routings.wakeAll()
    }

    /// From now on events about records hold their measurements, or do not.
    package func tellMeasurements(_ tells: Bool) {
        database.tellsMeasurements.store(tells, ordering: .relaxed)
    }

    /// Closes the file, with a checkpoint; nothing may be asked of the queue after it.
    package func close() async throws { try await database.close() }
}
