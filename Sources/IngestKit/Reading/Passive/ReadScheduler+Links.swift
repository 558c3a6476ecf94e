/// Who gives way when more devices want to be read than an adapter has links.
extension ReadScheduler {
    /// Why a read ends before its time.
    package enum GivingWay: Sendable, Hashable {
        /// Another device's turn has come: it goes on waiting, behind those that waited before.
        case turn
        /// It has sent nothing usable since the subscription. Counts as a failed read.
        case silence
        /// It has not connected. Counts as a failed read.
        case connection
    }

    /// What a read has come to.
    package enum Progress: Sendable, Hashable {
        /// The device has accepted the subscription.
        case subscribed
        /// It has sent something usable.
        case usable
        /// It has given a record that was new.
        case committed
    }

    /// A read that runs.
    struct Read: Sendable {
        enum Phase: Sendable, Equatable {
            /// Since then. No other connection is attempted on its adapter.
            case connecting(MonotonicInstant)
            /// Its link is up since then.
            case linked(MonotonicInstant)
        }

        let adapter: AdapterID
        let isPinned: Bool
        /// Whether its device sends for as long as there is a link.
        let isStream: Bool
        var phase: Phase
        /// From when on a stranger yields to any other device.
        let turn: Duration
        /// How long the device may send nothing usable while others wait; nil: as long as it takes.
        let patience: Duration?
        var subscribed: MonotonicInstant?
        var isUsable = false
        var hasCommitted = false
        /// It was told to give way.
        var givesWay = false
        /// Its adapter went away or stopped listening since it began.
        var isAdapterLost = false

        var isConnecting: Bool { if case .connecting = phase { true } else { false } }

        /// When and why it gives way to another device that waits, as things stand; nil if it does not.
        /// - Parameter isToPinned: whether an entry names the other one by address.
        func giving(wayToPinned isToPinned: Bool) -> (at: MonotonicInstant, why: GivingWay)? {
            guard !givesWay, isToPinned || !isPinned else { return nil }
            switch phase {
            case .connecting(let since): return (since + ReadScheduler.longestConnection, .connection)
            case .linked(let since):
                if !isPinned, isToPinned { return (since, .turn) }
                if isPinned, isStream, hasCommitted { return (since, .turn) }
                let silent =
                    isUsable ? nil : patience.flatMap { patience in subscribed.map { $0 + patience } }
                let ends: [(at: MonotonicInstant, why: GivingWay)] =
                    (isPinned ? [] : [(since + turn, .turn)]) + (silent.map { [($0, .silence)] } ?? [])
                return ends.min { $0.at < $1.at }
            }
        }
    }

    /// How long a connection attempt keeps others waiting, and lasts if no entry names the device by address: nothing is
    /// heard meanwhile. Devices advertise at least once a second, and the attempt follows an advert.
    static let longestConnection: Duration = .seconds(5)
    /// After an attempt that did not connect to a stranger, none is made to another for so many times as long: invented
    /// addresses must not keep the adapter from telling who is silent.
    private static let listeningShare = 2
    /// How long an unpinned device may use a link while others wait; twice as long each time that it yields without a
    /// new record.
    static let shortestTurn: Duration = .seconds(60)
    static let longestTurn: Duration = .seconds(900)
    /// How long a device may send nothing usable while others wait, by how many of its reads failed before.
    private static let silences: [Duration] = [.seconds(5), .seconds(10), .seconds(20), .seconds(30)]

    /// A read of `device` that begins now.
    func newRead(
        _ device: DeviceAddress, of peripheral: Peripheral, over adapter: AdapterID, attempt: Int,
        _ phase: Read.Phase
    ) -> Read {
        let model = peripheral.entry.model
        return Read(
            adapter: adapter, isPinned: peripheral.entry.address != nil,
            isStream: Profiles.named(model.profile)?.isStream ?? false, phase: phase, turn: peripheral.turn,
            patience: model.readyBeforeMeasurement
                ? nil : Self.silences[min(max(attempt, 1), Self.silences.count) - 1])
    }

    // MARK: What the driver tells

    /// The link of the read of `device` is up: another connection may begin on its adapter.
    package mutating func linked(_ device: DeviceAddress, at now: MonotonicInstant) -> [Action] {
        guard reads[device]?.isConnecting == true else { return [] }
        reads[device]?.phase = .linked(now)
        // An attempt that was to give way has connected all the same.
        reads[device]?.givesWay = false
        return startReads(at: now)
    }

    /// The read of `device` has come to this.
    package mutating func progressed(
        _ device: DeviceAddress, _ progress: Progress, at now: MonotonicInstant
    ) -> [Action] {
        guard let read = reads[device] else { return [] }
        switch progress {
        case .subscribed: reads[device]?.subscribed = read.subscribed ?? now
        case .usable: reads[device]?.isUsable = true
        case .committed:
            reads[device]?.hasCommitted = true
            if !read.isPinned { knownStrangers.note(device) }
        }
        return startReads(at: now)
    }

    /// Whether links of other devices are up on this adapter.
    package func hasLinks(besides device: DeviceAddress, on adapter: AdapterID) -> Bool {
        reads.contains { $0.key != device && $0.value.adapter == adapter && !$0.value.isConnecting }
    }

    /// How many links `adapter` may have now.
    package func capacity(of adapter: AdapterID) -> Int {
        capacities[adapter]?.links(configured: links) ?? links
    }

    // MARK: Strangers that do not connect

    /// Ends connection attempts to strangers that have lasted too long.
    mutating func endOverlongConnections(at now: MonotonicInstant) -> [Action] {
        var actions: [Action] = []
        for (device, read) in reads where !read.isPinned && !read.givesWay {
            guard case .connecting(let since) = read.phase else { continue }
            let end = since + Self.longestConnection
            guard end <= now else {
                reviewAt(end)
                continue
            }
            reads[device]?.givesWay = true
            actions.append(.giveWay(device, .connection))
        }
        return actions
    }

    /// A read has ended without a link.
    mutating func holdStrangers(after read: Read, at now: MonotonicInstant) {
        guard !read.isPinned, case .connecting(let since) = read.phase else { return }
        strangersHeld[read.adapter] = now + now.since(since) * Self.listeningShare
    }

    /// Whether no stranger is connected to over `adapter` for now.
    mutating func holdsStrangers(_ adapter: AdapterID, at now: MonotonicInstant) -> Bool {
        guard let end = strangersHeld[adapter], now < end else {
            strangersHeld[adapter] = nil
            return false
        }
        reviewAt(end)
        return true
    }

    // MARK: Making room

    /// How `adapter` may be used now.
    func use(of adapter: AdapterID) -> AdapterChoice.Use {
        if reads.values.contains(where: { $0.adapter == adapter && $0.isConnecting }) { return .connecting }
        if isFull(adapter) { return .full }
        return attempts[adapter] != nil ? .waiting : .free
    }

    private func isFull(_ adapter: AdapterID) -> Bool {
        reads.values.count { $0.adapter == adapter } >= capacity(of: adapter)
    }

    /// Has a read end for a device that waits and finds no link on any of these adapters.
    /// - Parameter promised: how many links of each adapter end already for devices that come before it.
    mutating func makeRoom(
        for isPinned: Bool, on adapters: [AdapterID], promised: inout [AdapterID: Int],
        at now: MonotonicInstant
    ) -> [Action] {
        for adapter in adapters {
            let ending = reads.values.count { $0.adapter == adapter && $0.givesWay }
            guard ending <= promised[adapter, default: 0] else {
                promised[adapter, default: 0] += 1
                return []
            }
            reviewAt(capacities[adapter]?.nextTry)
        }
        var next: (device: DeviceAddress, read: Read, at: MonotonicInstant, why: GivingWay)?
        for (device, read) in reads where adapters.contains(read.adapter) {
            guard read.isConnecting || isFull(read.adapter), let way = read.giving(wayToPinned: isPinned)
            else { continue }
            guard way.at <= now else {
                reviewAt(way.at)
                continue
            }
            // Strangers first, then who has had its link for the longest time.
            if let best = next, best.read.isPinned == read.isPinned ? best.at <= way.at : read.isPinned {
                continue
            }
            next = (device, read, way.at, way.why)
        }
        guard let next else { return [] }
        reads[next.device]?.givesWay = true
        promised[next.read.adapter, default: 0] += 1
        return [.giveWay(next.device, next.why)]
    }
}
