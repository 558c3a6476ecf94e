import GRDB

/// How a batch is composed of what waits on a lane.
///
/// A destination's `position` says up to where the backlog is dealt with, its `fresh_position` up to where records were
/// offered to the fresh lane. What that took beyond the backlog's position are ranges in the table `ahead`: the backlog
/// passes over them, and they go once it did. So composing costs the same whatever waits.
struct LaneComposer: Sendable {
    let routings: DestinationRoutings
    /// The last position given before this run: what is up to it waits for no company.
    let positionAtOpening: Int64
    let database: QueueDatabase

    /// At most this many records are looked at in one transaction.
    private static let scanLimit = 5000
    /// In one transaction no more is hashed, or dropped, once it comes to so many bytes: two of the largest images, of
    /// which each takes a small board some tenths of a second.
    static let imageBytesAtOnce = 2 * EntryImage.largest

    /// What a batch is to be composed for.
    struct Request: Sendable {
        let destination: String
        let lane: DeliveryLane
        let settings: BatchSettings
        let gateway: String
        let now: MonotonicInstant
    }

    /// What came of it; nil in its place where nothing waits.
    enum Composed {
        /// A batch is stored.
        case batch
        case waiting(until: MonotonicInstant)
        case more
    }

    /// Consecutive positions.
    private struct Positions {
        var first: Int64
        var last: Int64
    }

    /// What a lane found, in the order of the positions.
    private struct Selection {
        /// What goes into the batch.
        var chosen: [Int64] = []
        /// When the first of them could have gone.
        var firstAvailable: MonotonicInstant?
        /// Everything up to here was looked at.
        var end: Int64
        var count = 0
        /// Images for this destination, which go on their own lane.
        var images: [Int64] = []
        /// What the fresh lane takes: the batch, images, and what is not for this destination.
        var taken: [Positions] = []
        var leavesSome = false
        /// Records, by their `seq`, that were read in another's session.
        var others: [Int64] = []
        /// Records whose kind the destination has no form for.
        var skipped = 0
        /// Whether nothing more goes with it.
        var isComplete = false
        /// Of records that are not for this destination, in bytes.
        var hashed = 0

        /// Whether it is enough for one transaction.
        var isLong: Bool { count >= scanLimit || hashed >= imageBytesAtOnce }

        mutating func take(_ position: Int64) {
            if taken.last?.last == position - 1 {
                taken[taken.count - 1].last = position
            } else {
                taken.append(Positions(first: position, last: position))
            }
        }
    }

    func compose(_ request: Request, _ db: Database) throws -> Composed? {
        guard let routing = routings[request.destination],
            let cursors = try Row.fetchOne(
                try db.cachedStatement(sql: "SELECT * FROM destination WHERE name = ?"),
                arguments: [request.destination]
            ).map(DestinationTable.Cursors.init)
        else { return nil }

        var selection: Selection
        switch request.lane {
        case .fresh:
            selection = Selection(end: max(cursors.freshPosition, cursors.position))
            try look(through: Int64.max, request, routing, cursors, into: &selection, db)
        case .backlog:
            selection = Selection(end: cursors.position)
            let last = routing.order == .strict ? Int64.max : cursors.freshPosition
            try lookBehind(last, request, routing, cursors, into: &selection, db)
        case .image:
            // What goes there is put there by the others.
            return nil
        }

        let sawEverything = !selection.isComplete && !selection.isLong
        if !selection.chosen.isEmpty, sawEverything {
            let due =
                (selection.firstAvailable ?? MonotonicInstant(nanoseconds: 0)) + request.settings.maxWait
            if request.now < due { return .waiting(until: due) }
        }
        for sequence in selection.others {
            try DeadLetterTable.setAside(
                readForAnother: sequence, for: request.destination, at: database.clock.wallNanoseconds, db)
        }
        if !selection.others.isEmpty { database.outboxWakeUp.raise() }
        // What is not for it is passed for good: a later change of the routing must not send old records elsewhere.
        try BatchTable.insert(
            positions: selection.chosen, destination: request.destination, lane: request.lane,
            gateway: request.gateway, db)
        if !selection.images.isEmpty {
            try BatchTable.insert(
                images: selection.images, destination: request.destination, gateway: request.gateway, db)
            // Their lane may have been asked for before it had them.
            routings.wakeUp(for: request.destination).raise()
        }
        if selection.skipped > 0 {
            try db.cachedStatement(sql: "UPDATE destination SET skipped = skipped + ? WHERE name = ?")
                .execute(arguments: [selection.skipped, request.destination])
        }
        if selection.count > 0 { try move(request, past: selection, from: cursors.position, db) }
        if !selection.chosen.isEmpty { return .batch }
        return sawEverything ? nil : .more
    }

    /// Looks at records after the selection's end, up to a position.
    private func look(
        through last: Int64, _ request: Request, _ routing: DestinationRouting,
        _ cursors: DestinationTable.Cursors,
        into selection: inout Selection, _ db: Database
    ) throws {
        let rows = try Row.fetchCursor(
            try db.cachedStatement(
                sql: """
                    SELECT seq, id, kind, peripheral_id, address, alias, destinations, position, available_ns,
                        boot_id, received_ns
                    FROM record WHERE position > ? AND position <= ? ORDER BY position LIMIT ?
                    """),
            arguments: [selection.end, last, Self.scanLimit - selection.count])
        while !selection.isComplete, !selection.isLong, let row = try rows.next() {
            let header = RecordRow.header(row)
            selection.count += 1
            selection.end = try row.sound("position")
            let sequence: Int64 = try row.sound("seq")
            // Whom a damaged record is for is not known: it is set aside where it would have been next.
            var isForIt = header.map(routing.accepts) ?? true
            if !isForIt {
                let (isDamaged, bytes) = try RecordRow.inspect(sequence: sequence, db)
                selection.hashed += bytes
                isForIt = isDamaged
            }
            if isForIt, let header, routing.accepts(header), routing.asksContent(of: header),
                let body = try RecordRow.body(sequence: sequence, db), !routing.hasForm(for: body)
            {
                selection.skipped += 1
                selection.take(selection.end)
                continue
            }
            guard isForIt, sequence > cursors.clearedSequence else {
                if header.map(routing.lacksForm) ?? false { selection.skipped += 1 }
                selection.take(selection.end)
                continue
            }
            if sequence <= cursors.accountSequence {
                selection.others.append(sequence)
                selection.take(selection.end)
                continue
            }
            if request.lane == .fresh, !isFresh(row, at: request.now) {
                selection.leavesSome = true
                continue
            }
            if header?.kind == .image {
                selection.take(selection.end)
                selection.images.append(selection.end)
                continue
            }
            if selection.chosen.isEmpty, selection.end > positionAtOpening {
                selection.firstAvailable = MonotonicInstant(
                    nanoseconds: UInt64(clamping: try row.sound("available_ns") as Int64))
            }
            selection.take(selection.end)
            selection.chosen.append(selection.end)
            selection.isComplete = selection.chosen.count >= request.settings.maxRecords
        }
    }

    /// As `look(through:)`, passing over what the fresh lane took.
    private func lookBehind(
        _ last: Int64, _ request: Request, _ routing: DestinationRouting, _ cursors: DestinationTable.Cursors,
        into selection: inout Selection, _ db: Database
    ) throws {
        while selection.end < last {
            // None begins at or before the end: the cursor moves past those that it comes to.
            let ahead = try Row.fetchOne(
                try db.cachedStatement(
                    sql: """
                        SELECT first, last FROM ahead WHERE destination = ? AND first > ? ORDER BY first LIMIT 1
                        """),
                arguments: [request.destination, selection.end])
            let stop = (ahead?["first"] as Int64?).map { min($0 - 1, last) } ?? last
            try look(through: stop, request, routing, cursors, into: &selection, db)
            guard let ahead, !selection.isComplete, !selection.isLong, stop < last else { return }
            selection.end = ahead["last"]
            // It is passed over in this transaction even if nothing is behind it.
            selection.count += 1
        }
    }

    private func isFresh(_ row: Row, at now: MonotonicInstant) -> Bool {
        guard row.intact("boot_id") == database.bootID, let received: Int64 = row.intact("received_ns") else {
            return false
        }
        return now.since(MonotonicInstant(nanoseconds: UInt64(clamping: received)))
            <= DeliveryLane.freshness
    }

    /// Notes what a lane has dealt with.
    private func move(
        _ request: Request, past selection: Selection, from position: Int64, _ db: Database
    ) throws {
        var position = position
        switch request.lane {
        case .backlog:
            position = selection.end
        case .image:
            return
        case .fresh:
            try db.cachedStatement(sql: "UPDATE destination SET fresh_position = ? WHERE name = ?")
                .execute(arguments: [selection.end, request.destination])
            try Self.insert(selection.taken, of: request.destination, db)
            // What is left to the backlog may have been asked for before it was.
            if selection.leavesSome { routings.wakeUp(for: request.destination).raise() }
        }
        // A range that the backlog has come to ends there.
        let reached = try Int64.fetchOne(
            try db.cachedStatement(
                sql: "SELECT last FROM ahead WHERE destination = ? AND first <= ? ORDER BY first DESC LIMIT 1"
            ),
            arguments: [request.destination, position + 1])
        position = max(position, reached ?? position)
        try db.cachedStatement(sql: "DELETE FROM ahead WHERE destination = ? AND first <= ? AND last <= ?")
            .execute(arguments: [request.destination, position, position])
        try db.cachedStatement(sql: "UPDATE destination SET position = ? WHERE name = ?")
            .execute(arguments: [position, request.destination])
    }

    /// Notes ranges that come after all others; the last of those grows where the first goes on from it.
    private static func insert(_ ranges: [Positions], of destination: String, _ db: Database) throws {
        var rest = ranges[...]
        let last = try Row.fetchOne(
            try db.cachedStatement(
                sql: "SELECT first, last FROM ahead WHERE destination = ? ORDER BY first DESC LIMIT 1"),
            arguments: [destination])
        if let last, let next = rest.first, last["last"] == next.first - 1 {
            rest.removeFirst()
            try db.execute(
                sql: "UPDATE ahead SET last = ? WHERE destination = ? AND first = ?",
                arguments: [next.last, destination, last["first"] as Int64])
        }
        for range in rest {
            try db.cachedStatement(sql: "INSERT INTO ahead (destination, first, last) VALUES (?, ?, ?)")
                .execute(arguments: [destination, range.first, range.last])
        }
    }
}
