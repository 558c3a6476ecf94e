import Synchronization

/// Keeps what unpinned devices hold of the queue within their share: drops what of it nobody waits for, and has those
/// left alone for whose readings there is no room.
final class StrangerKeeper: Sendable {
    private struct State {
        var full = FullStrangers()
        /// When it is looked again though nothing was committed.
        var nextLook: MonotonicInstant?
        /// The last attempt that freed too little: whose share was short, how far delivery had come, and when it is tried
        /// again at the earliest.
        var lastTry: LastTry?
        var pause = shortestPause
        /// Nil: not in this run.
        var told: MonotonicInstant?
    }

    private struct LastTry {
        let crowd: Set<String>
        /// Nil when something was dropped.
        let progress: [Int64]?
        let orders: Int
        let pauseEnd: MonotonicInstant
        let at: MonotonicInstant
    }

    private static let shortestPause = Duration.seconds(30)
    private static let longestPause = Duration.seconds(600)
    /// How often it is tried although no destination has dealt with anything.
    private static let reviewInterval = Duration.seconds(3600)
    /// How often is told what was dropped.
    private static let tellingInterval = Duration.seconds(3600)

    let share: StrangerShare
    private let strangers: StrangerTable
    private let room: QueueRoom
    private let clock: any GatewayClock
    private let setFull: @Sendable (FullStrangers) async -> Void
    private let state = Mutex(State())

    /// - Parameter setFull: has these devices left alone, and no others.
    init(
        strangers: StrangerTable, room: QueueRoom, share: StrangerShare, clock: any GatewayClock,
        setFull: @escaping @Sendable (FullStrangers) async -> Void
    ) {
        self.strangers = strangers
        self.room = room
        self.share = share
        self.clock = clock
        self.setFull = setFull
        room.strangers.withLock { $0.share = share }
    }

    var full: FullStrangers { state.withLock { $0.full } }

    /// When to look again though nothing was committed; nil where that need not be.
    var nextLook: MonotonicInstant? { state.withLock { $0.nextLook } }

    /// Makes room where it is short, and decides who is read. Costs nothing while unpinned devices give nothing.
    func look() async throws {
        let isChanged = room.strangers.withLock { limits in
            defer { limits.isChanged = false }
            return limits.isChanged
        }
        let now = clock.now
        guard isChanged || nextLook.map({ $0 <= now }) ?? false else { return }
        do {
            var standing = try await strangers.standing(share)
            let crowd = crowd(standing)
            if !crowd.isEmpty, isWorthATry(crowd, standing) {
                try await makeRoom(crowd, standing)
                standing = try await strangers.standing(share)
            } else if crowd.isEmpty {
                state.withLock { ($0.lastTry, $0.pause) = (nil, Self.shortestPause) }
            }
            await conclude(standing)
            try await tell()
        } catch {
            // What was seen of the change has come to nothing.
            room.strangers.withLock { $0.isChanged = true }
            throw error
        }
    }

    /// Who is short of room; the one without an address is all.
    private func crowd(_ standing: StrangerTable.Standing) -> Set<String> {
        let isFull = standing.bytes >= StrangerShare.high(share.all) || needs[""] != nil
        return Set(standing.crowded.keys).union(isFull ? [""] : [])
    }

    private var needs: [String: Int64] { room.strangers.withLock { $0.needs } }
    private var orders: Int { room.strangers.withLock { $0.orders } }

    private func isWorthATry(_ crowd: Set<String>, _ standing: StrangerTable.Standing) -> Bool {
        guard let last = state.withLock({ $0.lastTry }), crowd.isSubset(of: last.crowd) else { return true }
        let now = clock.now
        if last.orders != orders { return true }
        guard now >= last.pauseEnd else { return false }
        return last.progress != standing.progress || now.since(last.at) >= Self.reviewInterval
    }

    private func makeRoom(_ crowd: Set<String>, _ standing: StrangerTable.Standing) async throws {
        let (needs, orders) = (needs, orders)
        for address in crowd.subtracting([""]).sorted() {
            try await drop(of: address, within: share.device, needs: needs[address])
        }
        if crowd.contains("") { try await drop(of: nil, within: share.all, needs: needs[""]) }
        let after = try await strangers.standing(share)
        let isFreed = after.bytes < standing.bytes
        let now = clock.now
        state.withLock { state in
            state.pause = isFreed ? Self.shortestPause : min(state.pause * 2, Self.longestPause)
            state.lastTry =
                self.crowd(after).isEmpty
                ? nil
                : LastTry(
                    crowd: crowd, progress: isFreed ? nil : standing.progress,
                    orders: orders, pauseEnd: now + state.pause, at: now)
        }
    }

    private func drop(of device: String?, within limit: Int64, needs: Int64?) async throws {
        let target = min(StrangerShare.ample(limit), max(0, limit - (needs ?? 0)))
        var course = StrangerTable.Drop(of: device, downTo: target, step: share.all / 64)
        while !course.isDone { course = try await strangers.drop(course) }
    }

    /// Who holds too much in spite of what was dropped is left alone.
    private func conclude(_ standing: StrangerTable.Standing) async {
        var full = FullStrangers()
        let needs = room.strangers.withLock { limits in
            for (address, bytes) in limits.needs {
                let limit = address.isEmpty ? share.all : share.device
                let held = address.isEmpty ? standing.bytes : standing.crowded[address] ?? 0
                // A group that alone exceeds the limit is tried again when the device holds nothing else.
                if held + min(bytes, limit) <= limit { limits.admit(address) }
            }
            return limits.needs
        }
        full.isAll = standing.bytes >= StrangerShare.high(share.all) || needs[""] != nil
        for (address, bytes) in standing.crowded
        where bytes >= StrangerShare.high(share.device) || needs[address] != nil {
            if let device = BluetoothAddress(address) { full.devices.insert(device) }
        }
        let isNew = state.withLock { state in
            defer { state.full = full }
            state.nextLook = full.isEmpty ? nil : clock.now + Self.shortestPause
            return state.full != full
        }
        if isNew { await setFull(full) }
    }

    /// Tells of what was dropped, once an hour at most.
    private func tell() async throws {
        guard try await strangers.hasDropped() else { return }
        let now = clock.now
        let due = state.withLock { state in
            let due = state.told.map { $0 + Self.tellingInterval } ?? now
            if due > now { state.nextLook = min(state.nextLook ?? due, due) }
            return due
        }
        guard due <= now else { return }
        try await strangers.tellDropped()
        state.withLock { $0.told = now }
    }
}
