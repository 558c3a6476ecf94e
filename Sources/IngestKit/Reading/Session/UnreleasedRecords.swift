/// Records that were committed on a link and are not yet released for delivery: what the link teaches of the device
/// completes them before.
final class UnreleasedRecords {
    private struct Item {
        var record: Record
        var basis: RecordFactory.Basis
        let committed: MonotonicInstant
    }

    /// A record is released for delivery this long after its commit at most.
    private static let longestWait = Duration.seconds(30)
    /// Records that wait for their release at most, and the bytes of their payloads: some megabytes. More than a
    /// meter has in its memory, so that their times can still be corrected by its clock.
    static let most = 4_096
    static let mostBytes = 1 << 20

    private let environment: ReadSession.Environment
    private let known: KnownDevice
    /// In the order of their commits.
    private var items: [Item] = []
    /// Records whose release is under way, so that nothing can be added to them.
    private var releasing: Set<RecordID> = []
    private let arrivals: AsyncStream<Void>
    private let arrival: AsyncStream<Void>.Continuation

    init(of known: KnownDevice, _ environment: ReadSession.Environment) {
        self.environment = environment
        self.known = known
        (arrivals, arrival) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    var count: Int { items.count }
    var payloadBytes: Int { items.reduce(0) { $0 + $1.record.raw.bytes.count } }
    /// What the newest of them was made of.
    var newest: RecordFactory.Basis? { items.last?.basis }

    /// Whether so many wait that they are released now, though the link may tell more of them.
    var areDue: Bool { items.count >= Self.most || payloadBytes >= Self.mostBytes }

    /// A record was committed.
    func add(_ record: Record, madeOf basis: RecordFactory.Basis) {
        items.append(Item(record: record, basis: basis, committed: environment.clock.now))
        arrival.yield()
    }

    /// Notes in `holder` that `named` belongs to it.
    /// - Returns: false if it is too late for that.
    func relate(_ holder: RecordID, to named: RecordID) -> Bool {
        guard !releasing.contains(holder), let index = items.firstIndex(where: { $0.record.id == holder })
        else { return false }
        items[index].record.related = named
        return true
    }

    /// Decides anew the time of what came before the device's clock was looked at.
    func redate(by clock: ClockFindings) {
        for index in items.indices where !releasing.contains(items[index].record.id) {
            var basis = items[index].basis
            basis.circumstances.clock = clock.observation
            basis.circumstances.shownClock = clock.shown
            let made = basis.product(
                by: environment.factory, subjects: known.entry.subjects, device: known.block
            ).record
            items[index].basis = basis
            items[index].record.dating = made.dating
            items[index].record.time = made.time
            items[index].record.stage = made.stage
            items[index].record.subject = made.subject
        }
    }

    /// Releases records whose link outlasts the bound, until the task is cancelled.
    func releaseInTime() async {
        for await _ in arrivals {
            while let oldest = items.first {
                do {
                    try await environment.clock.sleep(until: oldest.committed + Self.longestWait)
                } catch {
                    return
                }
                // The session may have released it meanwhile.
                guard let first = items.first, first.committed == oldest.committed else { continue }
                await release()
                // If that failed, the end of the link is the next occasion.
                if items.first?.committed == oldest.committed { return }
            }
        }
    }

    /// Releases all of them.
    func release() async {
        guard !items.isEmpty else { return }
        let block = known.block
        let records = items.map { item in
            var record = item.record
            record.device = block
            record.flags = known.withStandingFlags(record)
            return record
        }
        let ids = Set(records.map(\.id))
        releasing.formUnion(ids)
        defer { releasing.subtract(ids) }
        do {
            try await environment.store.freeze(records)
            items.removeAll { ids.contains($0.record.id) }
        } catch {
            // They are safe in the queue, and released with the next that is, or at the next start;
            // when the gateway is stopping that is all there is to say.
            guard !Task.isCancelled else { return }
            environment.events.emit(storeError: error)
        }
    }
}
