import Synchronization

/// What the gateway did since the start, as the metrics count it.
package struct Activity: Sendable, Equatable {
    package struct Tally: Sendable, Equatable {
        package var count = 0
        /// When the newest was counted; nil before the first.
        package var last: MonotonicInstant?
    }

    /// Records of peripherals that are new in the queue.
    package var readings = Tally()
    /// Reads that failed.
    package var readFailures = Tally()
    /// Payloads and broadcasts that could not be decoded.
    package var decodeErrors = Tally()
    /// Reloads that were taken.
    package var reloads = Tally()
    /// Reloads that were rejected.
    package var rejectedReloads = Tally()
}

/// Passes events on, and counts some of them. Events from the outbox are counted once the journal has taken them, also
/// those of an earlier run. So the sums over all runs are as complete as the journal.
package final class CountingSink: EventSink {
    private let sink: any EventSink
    private let clock: any GatewayClock
    private let counted = Mutex(Activity())

    package init(_ sink: any EventSink, clock: any GatewayClock) {
        self.sink = sink
        self.clock = clock
    }

    package var activity: Activity { counted.withLock { $0 } }

    package func write(_ entry: JournalEntry) {
        sink.write(entry)
        count(entry)
    }

    package func deliver(_ entries: [JournalEntry]) async -> Int {
        let taken = await sink.deliver(entries)
        for entry in entries.prefix(taken) { count(entry) }
        return taken
    }

    private func count(_ entry: JournalEntry) {
        let tally: WritableKeyPath<Activity, Activity.Tally>
        switch EventName(rawValue: entry.name) {
        // An entry by hand has no peripheral's id.
        case .read where entry.fields.contains { $0.0 == .peripheralID }: tally = \.readings
        case .readFailed: tally = \.readFailures
        case .decodeError: tally = \.decodeErrors
        case .configReloaded: tally = \.reloads
        case .configRejected: tally = \.rejectedReloads
        default: return
        }
        let now = clock.now
        counted.withLock {
            $0[keyPath: tally].count += 1
            $0[keyPath: tally].last = now
        }
    }
}
