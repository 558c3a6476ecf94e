import Synchronization

/// Keeps room in the queue and on its disk: drops what was delivered long ago, or earlier when room gets short, and has
/// reading stop before there is none. What is not delivered is not dropped, but for destinations that say so: the devices
/// keep their readings instead.
package final class QueueKeeper: Sendable {
    /// The section `queue` of the configuration. A new setting has no default here, so that the compiler finds who makes it.
    package struct Settings: Sendable, Equatable {
        /// In bytes.
        package var maximumSize: UInt64
        /// How long records stay that every destination has.
        package var keepSubmitted: Duration

        package init(maximumSize: UInt64, keepSubmitted: Duration) {
            self.maximumSize = maximumSize
            self.keepSubmitted = keepSubmitted
        }
    }

    /// What is kept free on the disk.
    private struct DiskBounds {
        /// Below it no records are taken.
        let low: UInt64
        let reserve: UInt64
        /// From here on they are taken again, and the reserve is made anew.
        let ample: UInt64

        /// Less of a small disk, which would have none left to use.
        init(total: UInt64) {
            low = min(32 << 20, total / 4)
            reserve = min(16 << 20, total / 8)
            ample = low + reserve + reserve
        }
    }

    /// Up to these positions there is nothing that may be dropped: for its age, and for want of room. Each stands for
    /// itself, because some of what stays for all its age does not stay where there is no room.
    private struct Looked {
        var forAge: Int64 = 0
        var forRoom: Int64 = 0
        /// Of what only destinations need that drop the oldest.
        var forBacklog: Int64 = 0
    }

    /// Parts of `maximumSize`, in percent. `queue-high` is told when what is not delivered reaches one of them; the 90 %
    /// that follow are the level `high`.
    private static let backlogMarks = [50, 75]
    /// Below it the marks can be reached anew.
    private static let lowBacklog = 40
    /// What was seen of the records that are not delivered.
    private struct Backlog {
        var mark = 0
        var nextLook = MonotonicInstant(nanoseconds: 0)
    }

    /// How often delivered records are looked at.
    private static let retentionInterval = Duration.seconds(3600)
    /// How often what stayed is looked at again: a newer one may have come, or what was set aside be dropped.
    private static let reviewInterval = Duration.seconds(24 * 3600)
    /// Events that may wait for the journal without anything being wrong.
    private static let usuallyUntold = 1_000
    /// How often it is seen whether there is room again.
    private static let recoveryInterval = Duration.seconds(30)

    private let retention: Retention
    private let overview: QueueOverview
    private let room: QueueRoom
    private let images: ImageTurns
    private let disk: any DiskSpace
    private let settings: Settings
    private let clock: any GatewayClock
    private let events: EventLog
    private let setTakesRecords: @Sendable (Bool) async -> Void
    private let current = Mutex(QueueLevel.normal)
    private let looked = Mutex(Looked())
    private let backlog = Mutex(Backlog())
    private let strangers: StrangerKeeper

    /// - Parameters:
    ///   - setTakesRecords: has reading stop, and go on.
    ///   - setFullStrangers: has these unpinned devices left alone, and no others.
    package init(
        _ queue: SQLiteQueue, disk: any DiskSpace, settings: Settings, clock: any GatewayClock,
        events: EventLog, setTakesRecords: @escaping @Sendable (Bool) async -> Void,
        setFullStrangers: @escaping @Sendable (FullStrangers) async -> Void = { _ in }
    ) {
        strangers = StrangerKeeper(
            strangers: queue.strangers, room: queue.room,
            share: StrangerShare(maximumSize: settings.maximumSize), clock: clock,
            setFull: setFullStrangers)
        (retention, overview, room, images) = (queue.retention, queue.overview, queue.room, queue.images)
        self.disk = disk
        self.settings = settings
        self.clock = clock
        self.events = events
        self.setTakesRecords = setTakesRecords
    }

    package var level: QueueLevel { current.withLock { $0 } }

    /// What unpinned devices may hold.
    package var strangerShare: StrangerShare { strangers.share }

    /// Unpinned devices that are not read for want of room.
    package var fullStrangers: FullStrangers { strangers.full }

    /// Whether an image of this size leaves the level as it is, and readings the better part of the queue, whatever
    /// becomes of images. Not where the disk or the queue cannot be asked.
    package func room(forImageOfBytes count: Int) async -> ImageRoom {
        guard level == .normal, let bounds = try? DiskBounds(total: disk.totalBytes()),
            let free = try? disk.freeBytes(), let used = try? await retention.usedBytes(),
            let images = try? await retention.undeliveredImageBytes()
        else { return .queueIsHigh }
        // On the disk it is in the log, too, until that is checkpointed.
        guard used + UInt64(count) < settings.maximumSize / 10 * 9,
            free >= bounds.ample + 2 * UInt64(count)
        else { return .queueIsHigh }
        let most = settings.maximumSize / 4
        return images + UInt64(count) <= most ? .ample : .imagesAreMany(most: most)
    }

    /// Looks after each commit, hourly when there is none, and more often while there is no room; until it is cancelled.
    /// - Throws: the `StoreError` after which the queue is of no use.
    package func run() async throws {
        var retention = clock.now
        var review = clock.now + Self.reviewInterval
        while !Task.isCancelled {
            _ = room.growth.consume()
            let isDue = clock.now >= retention
            // If it fails it is tried again soon, and not at once.
            if isDue { retention = clock.now + Self.recoveryInterval }
            do {
                // Before anything is written: on a full disk this gives the reserve free.
                try await look()
                if isDue {
                    if clock.now >= review {
                        looked.withLock { $0 = Looked() }
                        review = clock.now + Self.reviewInterval
                    }
                    // Without a trusted clock no record has an age. It is tried again at the interval at which
                    // Timekeeper looks at the clock.
                    if try await dropDelivered() { retention = clock.now + Self.retentionInterval }
                }
            } catch let error as StoreError where error.isFatal {
                throw error
            } catch {
                // A disk that cannot be asked, or a queue that cannot be written: seen again later.
            }
            let soonest = clock.now + Self.recoveryInterval
            let interval = level == .normal ? retention : soonest
            // Of a look that did not come to its end, the next one may be due already.
            let strangersLook = strangers.nextLook.map { max($0, soonest) } ?? retention
            await pause(until: min(interval, retention, strangersLook))
        }
    }

    /// Compares what is used with what may be, and changes the level where it has to.
    package func look() async throws {
        try await setLevel()
        // A full disk takes not even that.
        guard level != .diskFull else { return }
        try await strangers.look()
        try await noteBacklog()
    }

    /// Tells when what is not delivered has grown to the next part of what the queue may hold.
    private func noteBacklog() async throws {
        let isDue = backlog.withLock { backlog in
            guard clock.now >= backlog.nextLook else { return false }
            backlog.nextLook = clock.now + Self.recoveryInterval
            return true
        }
        guard isDue else { return }
        func bytes(_ percent: Int) -> UInt64 { settings.maximumSize / 100 * UInt64(percent) }
        let isSmall = try await retention.usedBytes() < bytes(Self.lowBacklog)
        let waiting = isSmall ? 0 : try await retention.undeliveredBytes()
        let mark = Self.backlogMarks.last { waiting >= bytes($0) } ?? 0
        let before = backlog.withLock { backlog in
            defer { if mark > backlog.mark || waiting < bytes(Self.lowBacklog) { backlog.mark = mark } }
            return backlog.mark
        }
        // The level says it already.
        guard level == .normal else { return }
        if mark > before {
            events.emit(.queueHigh(error: await message(forBacklog: mark)))
        } else if before > 0, waiting < bytes(Self.lowBacklog) {
            events.emit(.queueNormal)
        }
    }

    private func message(forBacklog mark: Int) async -> String {
        let status = try? await overview.status(of: [])
        guard let most = status?.destinations.max(by: { $0.pending < $1.pending }), most.pending > 0 else {
            return "records that are not delivered hold \(mark) % of what queue.max_size allows"
        }
        let records = most.pending == 1 ? "record" : "records"
        return
            "records that are not delivered hold \(mark) % of what queue.max_size allows: most of them wait for "
            + "\(most.name), \(most.pending) \(records); ingestd status says why, and its when_full what happens when "
            + "there is no more room"
    }

    private func setLevel() async throws {
        let level = try await changedLevel()
        let before = current.withLock { current in
            defer { current = level }
            return current
        }
        guard level != before else { return }
        // First, because a read that is under way has something to commit.
        room.refuseRecords(level.takesRecords ? nil : level)
        if level.takesRecords != before.takesRecords { await setTakesRecords(level.takesRecords) }
        switch level {
        case .normal: events.emit(.queueNormal)
        case .high: events.emit(.queueHigh(error: message(for: level, await contents())))
        case .full: events.emit(.queueFull(error: message(for: level, await contents())))
        case .diskFull: events.emit(.queueFull(error: message(for: level, "")))
        }
    }

    private func changedLevel() async throws -> QueueLevel {
        let bounds = DiskBounds(total: try disk.totalBytes())
        let free = try disk.freeBytes()
        if level == .diskFull ? free < bounds.ample : free < bounds.low {
            try? disk.releaseReserve()
            return .diskFull
        }
        if free >= bounds.low + bounds.reserve { try? disk.makeReserve(bytes: bounds.reserve) }

        var (used, ids) = try await retention.use()
        if used >= settings.maximumSize / 10 * 9 {
            used = try await shrink()
            ids = try await retention.use().ids
        }
        let most = settings.maximumSize / 2
        if ids > most {
            // A little more, so that the next commits have room.
            try await retention.forgetIDs(downTo: most - most / 64)
            used = try await retention.usedBytes()
        }
        if used >= settings.maximumSize { return .full }
        if used >= settings.maximumSize / 10 * 9 { return .high }
        // Between the two it stays what it was.
        return used >= settings.maximumSize / 10 * 8 && level != .normal ? .high : .normal
    }

    /// Drops delivered records, oldest first, until there is ample room or nothing to drop.
    private func shrink() async throws -> UInt64 {
        var used = try await retention.usedBytes()
        while used >= settings.maximumSize / 10 * 8 {
            let step = try await drop(keeping: nil)
            if step.dropped > 0 { used = try await retention.usedBytes() }
            if step.isDone { break }
        }
        let givingUp = retention.routings.droppingOldest
        while !givingUp.isEmpty, used >= settings.maximumSize / 10 * 8 {
            let step = try await retention.retire(
                keeping: nil, givingUp: givingUp, after: looked.withLock { $0.forBacklog })
            looked.withLock { $0.forBacklog = step.position }
            if step.dropped > 0 { used = try await retention.usedBytes() }
            if step.isDone { break }
        }
        return used
    }

    /// Drops what has been kept long enough.
    /// - Returns: false if the clock cannot tell.
    private func dropDelivered() async throws -> Bool {
        guard let wall = clock.trustedWallNanoseconds else { return false }
        let cutoff = wall.heldMinus(Int64(settings.keepSubmitted / .nanoseconds(1)))
        var dropped = 0
        while true {
            let step = try await drop(keeping: cutoff...wall)
            dropped += step.dropped
            if step.isDone { break }
        }
        if dropped > 0 { try await retention.giveBackSpace() }
        return true
    }

    /// The next step, from where the last one has come to.
    private func drop(keeping recent: ClosedRange<Int64>?) async throws -> Retention.Retirement {
        // It stayed while it was on its way.
        if images.takeDelivered() { looked.withLock { $0 = Looked() } }
        let cursor = recent == nil ? \Looked.forRoom : \Looked.forAge
        let step = try await retention.retire(keeping: recent, after: looked.withLock { $0[keyPath: cursor] })
        looked.withLock { $0[keyPath: cursor] = step.position }
        return step
    }

    /// What fills the queue: what each destination has not taken, and what else is not dropped for want of room.
    private func contents() async -> String {
        guard let status = try? await overview.status(of: []), let kept = try? await retention.kept() else {
            return "what fills it cannot be read"
        }
        var parts: [String] = []
        for destination in status.destinations.sorted(by: { $0.pending > $1.pending })
        where destination.pending > 0 {
            let records = destination.pending == 1 ? "record" : "records"
            parts.append("\(destination.pending) \(records) that \(destination.name) has not taken")
        }
        if kept.setAside > 0 { parts.append("\(kept.setAside) set aside") }
        if kept.undecoded > 0 { parts.append("\(kept.undecoded) that could not be decoded") }
        if kept.untold > Self.usuallyUntold {
            parts.append("\(kept.untold) events that the journal has not taken")
        }
        parts.append("\(kept.idBytes >> 10) KiB of ids of delivered records")
        return parts.joined(separator: ", ")
    }

    private func message(for level: QueueLevel, _ contents: String) -> String {
        switch level {
        case .normal: ""
        case .high:
            "the queue holds nearly as much as queue.max_size allows: \(contents); see why what waits is not taken "
                + "(ingestd status), or allow more"
        case .full:
            "the queue holds as much as queue.max_size allows: \(contents); nothing is read until some of it is taken, "
                + "or more is allowed"
        case .diskFull:
            "the disk is nearly full: nothing is read until there is room again, and the peripherals keep their "
                + "readings; delivery goes on"
        }
    }

    private func pause(until end: MonotonicInstant) async {
        let (clock, growth) = (clock, room.growth)
        await withTaskGroup { group in
            group.addTask { await growth.wait() }
            group.addTask { try? await clock.sleep(until: end) }
            await group.next()
            group.cancelAll()
        }
    }
}
