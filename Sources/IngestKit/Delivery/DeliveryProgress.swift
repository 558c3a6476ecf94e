import IngestStorage

/// Where the deliveries to a destination stand between two requests.
struct DeliveryProgress {
    /// Failures in a row, and until when nothing is sent because of them.
    struct BackOff {
        var failures = 0
        /// Answers in a row that say that the credential or the URL is wrong.
        var rejections = 0
        /// When `retrying` was told last.
        var lastTold: MonotonicInstant?
        var until: MonotonicInstant?

        /// Counts one.
        /// - Returns: whether it is told: the first five in a row are, later ones once an hour.
        mutating func count(at now: MonotonicInstant) -> Bool {
            failures += 1
            guard failures <= 5 || lastTold.map({ now.since($0) >= .seconds(3600) }) ?? true else {
                return false
            }
            lastTold = now
            return true
        }
    }

    /// Where a lane stands between two turns.
    struct Lane {
        /// Nil: ask the store.
        var next: NextBatch?
        /// Attempts made for the batch that is next.
        var attempts = 0
        /// After failures that may be this batch's alone.
        var backOff = BackOff()
    }

    /// The note in the store that a batch of the backlog was taken, while the next one is on its way. It gives what follows
    /// that one.
    struct Noting {
        let task: Task<StoredBatch?, any Error>
        /// Carries it out again, where nothing of it has happened.
        let again: @Sendable () async throws -> StoredBatch?

        init(_ operation: @escaping @Sendable () async throws -> StoredBatch?) {
            // What has come is noted, whatever becomes of the worker.
            task = Task { try await operation() }
            again = operation
        }
    }

    private var lanes: [DeliveryLane: Lane] = [:]
    /// The note of the batch that was taken last, until it is known to be on the disk.
    var noting: Noting?
    /// The lanes of readings, in the order in which they are asked.
    var order: [DeliveryLane]
    /// The number of the session that is open, where the destination needs one.
    var session: Int64?
    /// Whether that may have changed.
    var asksForSession = true
    /// After failures that concern the destination.
    var backOff = BackOff()
    /// Whether nobody answered the last request.
    var isUnanswered = false
    /// The files of the credentials as they were before the last request.
    var files: [FileIdentity?] = []

    init(_ order: [DeliveryLane]) {
        self.order = order
    }

    subscript(lane: DeliveryLane) -> Lane {
        get { lanes[lane] ?? Lane() }
        set { lanes[lane] = newValue }
    }

    /// Records may have come: whatever had none is asked again.
    mutating func askAgain() {
        asksForSession = true
        for lane in lanes.keys {
            if case .batch = self[lane].next { continue }
            self[lane].next = nil
        }
    }

    /// The fresh lane's batch is the backlog's now, where it does not go out before `instant` either.
    mutating func leaveToBacklog(until instant: MonotonicInstant) {
        self[.fresh].next = nil
        self[.fresh].attempts = 0
        if case .batch = self[.backlog].next {} else { self[.backlog].next = nil }
        self[.backlog].backOff.until = max(instant, self[.backlog].backOff.until ?? instant)
    }

    /// Whether requests wait because the credential or the URL was said to be wrong.
    var isRejected: Bool {
        backOff.rejections > 0 || lanes.values.contains { $0.backOff.rejections > 0 }
    }

    /// Something else was answered on a lane.
    mutating func endRejections(on lane: DeliveryLane) {
        backOff.rejections = 0
        self[lane].backOff.rejections = 0
    }

    /// What holds requests back has changed.
    mutating func forgetWaits() {
        func forget(_ backOff: inout BackOff) { (backOff.until, backOff.rejections) = (nil, 0) }
        forget(&backOff)
        for lane in lanes.keys { forget(&self[lane].backOff) }
    }
}
