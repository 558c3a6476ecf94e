/// How a read ended, as far as the next one depends on it.
package enum ReadOutcome: Sendable, Hashable {
    /// Everything that was wanted is committed.
    case succeeded
    /// The link could not be made, or ended before its first commit or before the end of a transfer
    /// of stored records.
    case failed
    /// It made room for another device, and goes on waiting behind those that waited before.
    case yielded
    /// The controller makes no further link: it goes on waiting in its place.
    case refusedLink
}

/// Decides which peripheral is read when and over which adapter: the one that hears it best. An adapter has several
/// links at a time, and attempts one connection at a time. Devices that an entry names by address come before all
/// others; among them, those that were not tried since the start come first, then those that wait for the longest time.
///
/// Pure: the driver tells it what the radio heard and how reads ended, does what it answers, and does
/// what `outlook` says. A peripheral is known by its address, whichever adapter hears it.
package struct ReadScheduler: Sendable {
    /// What the driver is to do, in this order.
    package enum Action: Sendable, Equatable {
        /// A peripheral woke up: its first advert since it was idle.
        case discovered(AllowedPeripheral, DeviceAddress)
        /// Read it now over this adapter, and tell by `finished` how it ended. `attempt` counts
        /// from 1 for each wake-up.
        case read(DeviceAddress, AllowedPeripheral, AdapterID, attempt: Int)
        /// Wait for it on this adapter with a connection attempt until that connects, expires or is
        /// withdrawn, and tell which by `connected` or `attemptEnded`. `attempt` as for a read.
        case attempt(DeviceAddress, AllowedPeripheral, AdapterID, attempt: Int)
        /// Withdraw the attempt that waits for it on this adapter; `attemptEnded` tells when that is
        /// done.
        case withdraw(DeviceAddress, AdapterID)
        /// End its read soon and in order; `finished` tells when that is done.
        case giveWay(DeviceAddress, GivingWay)
    }

    /// How many peripherals are followed that the allow-list does not name by address. Addresses
    /// are whatever a sender writes, so there must be an end.
    package static let maximumUnpinnedPeripherals = 1_024
    /// A peripheral that waits to be read and was not heard for so long, while listened for, has
    /// gone: connecting to it would hold the adapter for nothing. Health devices send at least an
    /// advert a second.
    package static let longestWait: Duration = .seconds(10)
    /// A link over an adapter that is unplugged ends a moment before the kernel tells that the adapter
    /// has gone.
    static let lossDelay: Duration = .seconds(2)

    /// A change holds at once, for peripherals that wait for silence too.
    package var timing: PassiveTiming {
        didSet {
            for device in peripherals.keys { peripherals[device]?.machine.timing = timing }
        }
    }

    /// How many links each adapter may have at a time, 1 to 8.
    let links: Int
    let jitter: @Sendable () -> Double
    var peripherals: [DeviceAddress: Peripheral] = [:]
    /// Those that wait to be read, the longest first.
    private(set) var queue: [DeviceAddress] = []
    /// The reads that run.
    var reads: [DeviceAddress: Read] = [:]
    /// Whether each adapter that is present has its scan in place.
    private(set) var scanning: [AdapterID: Bool] = [:]
    private(set) var addresses: [AdapterID: BluetoothAddress] = [:]
    /// Adapters with a connection attempt, during which they hear nothing.
    private(set) var connecting: Set<AdapterID> = []
    /// Adapters that have received something since they last connected, or a link of theirs ended.
    var receiving: Set<AdapterID> = []
    /// The adapter that has the keys of each bonded device. No more than the gateway has bonds.
    private(set) var bonds: [DeviceAddress: BluetoothAddress] = [:]
    /// Entries of the allow-list for one device each that advertises to its bonded central only.
    private(set) var directed: [BluetoothAddress: AllowedPeripheral] = [:]
    /// Those of them that are bonded: connection attempts wait for them in turn.
    var turns: [DeviceAddress: Turn] = [:]
    /// The attempt that waits on each adapter.
    var attempts: [AdapterID: Attempt] = [:]
    /// What the controllers of the adapters were found to take.
    var capacities: [AdapterID: LinkCapacity] = [:]
    var knownStrangers = KnownStrangers()
    /// Until when an adapter connects to no stranger.
    var strangersHeld: [AdapterID: MonotonicInstant] = [:]
    /// Since when an adapter could have such an attempt, and has none.
    var heldSince: [AdapterID: MonotonicInstant] = [:]
    /// Unpinned devices that are not read; those that want to be wait.
    private(set) var fullStrangers = FullStrangers()
    /// How many pauses have begun and not ended.
    private(set) var pauses = 0
    /// When what waits is to be looked at again, though nothing happens.
    private(set) var review: MonotonicInstant?

    /// - Parameters:
    ///   - links: how many each adapter may have at a time, 1 to 8.
    ///   - jitter: gives random numbers, 0 to 1.
    package init(
        timing: PassiveTiming = PassiveTiming(), links: Int = 1,
        jitter: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        self.timing = timing
        self.links = links
        self.jitter = jitter
    }

    /// A device advertised that the allow-list matched to `entry`.
    package mutating func heard(_ advertisement: Advertisement, as entry: AllowedPeripheral) -> [Action] {
        let device = advertisement.device
        let now = advertisement.received
        guard var peripheral = peripherals[device] ?? newPeripheral(entry: entry, at: now) else { return [] }
        peripheral.entry = entry
        peripheral.isWithdrawn = false
        peripheral.machine.rearm = entry.model.rearm
        peripheral.note(advertisement)
        peripherals[device] = peripheral
        updateListening(for: device, at: now)
        receive(on: advertisement.adapter, at: now)
        peripheral = peripherals[device] ?? peripheral
        _ = peripheral.machine.handle(.sign, at: now)
        var actions: [Action] = []
        // An attempt that waits for it already connects at an advert of its own accord.
        if peripheral.machine.handle(.advert, at: now) == .read, !isAwaited(device) {
            let heard = peripheral.machine.listened.elapsed(at: now)
            if let wait = peripheral.wait {
                peripheral.wait = Wait(since: wait.since, heard: heard)
            } else {
                queue.append(device)
                if peripheral.machine.state == .idle { actions.append(.discovered(entry, device)) }
                peripheral.wait = Wait(since: now, heard: heard)
            }
        }
        peripherals[device] = peripheral
        return actions + startReads(at: now)
    }

    /// The read of `device` ended.
    /// - Parameter wantsBond: it gave nothing for want of a bond.
    package mutating func finished(
        _ device: DeviceAddress, outcome: ReadOutcome, wantsBond: Bool = false, at now: MonotonicInstant
    ) -> [Action] {
        guard let read = reads.removeValue(forKey: device) else { return [] }
        // A read that has ended connects no more, even if its driver did not say so.
        if read.isConnecting { connecting.remove(read.adapter) }
        receiving.remove(read.adapter)
        if outcome == .failed { holdStrangers(after: read, at: now) }
        updateListening(at: now)
        peripherals[device]?.readEnded = now
        if read.hasCommitted { peripherals[device]?.turn = Self.shortestTurn }
        if peripherals[device]?.isWithdrawn == true {
            peripherals[device] = nil
        } else {
            switch outcome {
            case .succeeded:
                if !read.isAdapterLost { peripherals[device]?.noteEnd(outcome, wantsBond: wantsBond) }
                _ = peripherals[device]?.machine.handle(.readSucceeded, at: now)
            case .failed:
                if !read.isAdapterLost { peripherals[device]?.noteEnd(outcome, wantsBond: wantsBond) }
                _ = peripherals[device]?.machine.handle(.readFailed(jitter: jitter()), at: now)
                peripherals[device]?.failed = Failure(adapter: read.adapter, at: now)
                if read.isAdapterLost { forgiveFailure(of: device, at: now) }
            case .yielded:
                if !read.hasCommitted, !read.isPinned {
                    peripherals[device]?.turn = min(read.turn * 2, Self.longestTurn)
                }
                waitAgain(device, isFirst: false, at: now)
            case .refusedLink:
                let up = reads.values.count { $0.adapter == read.adapter && !$0.isConnecting }
                capacities[read.adapter, default: LinkCapacity()].refused(with: up, at: now)
                waitAgain(device, isFirst: true, at: now)
            }
        }
        return startReads(at: now)
    }

    /// Its read has ended before its time, and is to be repeated.
    private mutating func waitAgain(_ device: DeviceAddress, isFirst: Bool, at now: MonotonicInstant) {
        guard var peripheral = peripherals[device] else { return }
        _ = peripheral.machine.handle(.readYielded, at: now)
        // Its link has just ended, if it had one: a connection is worth an attempt when it advertises again.
        peripheral.wait = Wait(
            since: now, heard: peripheral.machine.listened.elapsed(at: now), isOverdue: !isFirst)
        peripherals[device] = peripheral
        queue.insert(device, at: isFirst ? 0 : queue.endIndex)
    }

    /// The adapters are now these.
    package mutating func adapters(_ states: [AdapterState], at now: MonotonicInstant) -> [Action] {
        let before = scanning
        scanning = Dictionary(states.map { ($0.id, $0.isListening) }) { _, last in last }
        addresses = Dictionary(states.map { ($0.id, $0.address) }) { _, last in last }
        connecting.formIntersection(scanning.keys)
        receiving.formIntersection(scanning.keys.filter { scanning[$0] == true })
        capacities = capacities.filter { scanning[$0.key] != nil }
        strangersHeld = strangersHeld.filter { scanning[$0.key] != nil }
        // What an adapter heard before it went silent says nothing of who is there when it is back.
        let deaf = Set(before.filter { $0.value && scanning[$0.key] != true }.keys)
        for (device, read) in reads where deaf.contains(read.adapter) { reads[device]?.isAdapterLost = true }
        for (device, peripheral) in peripherals where !deaf.isEmpty {
            for adapter in deaf { peripherals[device]?.hearings[adapter] = nil }
            if let failed = peripheral.failed, deaf.contains(failed.adapter),
                now.since(failed.at) < Self.lossDelay
            {
                forgiveFailure(of: device, at: now)
            }
        }
        stopWaiting { [peripherals] in
            !deaf.isEmpty && peripherals[$0]?.hearings.isEmpty == true
        }
        updateListening(at: now)
        return startReads(at: now)
    }

    /// A connection attempt began on this adapter, or ended.
    package mutating func connecting(
        _ adapter: AdapterID, _ isConnecting: Bool, at now: MonotonicInstant
    ) {
        if isConnecting { connecting.insert(adapter) } else { connecting.remove(adapter) }
        receiving.remove(adapter)
        updateListening(at: now)
    }

    /// Starts no read from now on; those under way go on, and adverts are taken in as before. What
    /// waits goes on waiting. Pauses are counted: each needs its `resume`.
    package mutating func pause(at now: MonotonicInstant) -> [Action] {
        // Who had gone before is not kept by the pause.
        if pauses == 0 { stopOverlongWaits(at: now) }
        pauses += 1
        return withdrawAttempts { _ in true }
    }

    /// Ends one pause; with the last one, reads start again. A peripheral that was not heard for
    /// `longestWait` keeps its place, but has to be heard again first. Without a pause, does nothing.
    /// - Parameter paired: a device that was paired in this pause: its link has just ended, and a
    ///   connection is worth an attempt when it advertises again.
    package mutating func resume(
        at now: MonotonicInstant, after paired: DeviceAddress? = nil
    ) -> [Action] {
        guard pauses > 0 else { return [] }
        pauses -= 1
        guard pauses == 0 else { return [] }
        for device in queue {
            guard let peripheral = peripherals[device] else { continue }
            peripherals[device]?.wait = Wait(
                since: now, heard: peripheral.machine.listened.elapsed(at: now),
                isOverdue: device == paired || now.since(peripheral.lastHeard) >= Self.longestWait)
        }
        return startReads(at: now)
    }

    /// Reads a device out of its turn, also during a pause: over the link that its pairing has left up.
    /// What it did before it was paired does not count any more.
    /// - Returns: nothing when the adapter is not free.
    package mutating func readAfterPairing(
        _ device: DeviceAddress, as entry: AllowedPeripheral, over adapter: AdapterID,
        at now: MonotonicInstant
    ) -> [Action] {
        guard !isReading(over: adapter), reads[device] == nil,
            var peripheral = newPeripheral(entry: entry, at: now)
        else { return [] }
        peripheral.machine.isDirected = turns[device] != nil
        _ = peripheral.machine.handle(.readStarted, at: now)
        queue.removeAll { $0 == device }
        peripheral.wasTried = true
        peripherals[device] = peripheral
        reads[device] = newRead(device, of: peripheral, over: adapter, attempt: 1, .connecting(now))
        updateListening(at: now)
        return [.read(device, entry, adapter, attempt: 1)]
    }

    /// These unpinned devices have given a record before.
    package mutating func know(_ devices: [DeviceAddress]) {
        for device in devices { knownStrangers.note(device) }
    }

    /// These unpinned devices are not read from now on, and all others are. Reads under way go on.
    package mutating func leaveAlone(_ full: FullStrangers, at now: MonotonicInstant) -> [Action] {
        fullStrangers = full
        return startReads(at: now)
    }

    /// A bonded device is read over the adapter that has its keys and over no other, also when that
    /// one is absent; with nil, over any.
    /// - Parameters:
    ///   - device: by its identity address.
    ///   - adapter: by its address, because indexes change.
    package mutating func bind(
        _ device: DeviceAddress, to adapter: BluetoothAddress?, at now: MonotonicInstant
    ) -> [Action] {
        bonds[device] = adapter
        updateListening(at: now)
        return updateTurns(at: now) + startReads(at: now)
    }

    /// Does what has become due.
    package mutating func wake(at now: MonotonicInstant) -> [Action] {
        for device in peripherals.keys {
            _ = peripherals[device]?.machine.handle(.tick, at: now)
        }
        return startReads(at: now)
    }

    /// The allow-list is now `list`. Peripherals that it no longer names are forgotten, after their
    /// read if one runs; the others stay as they are.
    package mutating func allow(_ list: AllowList, at now: MonotonicInstant) -> [Action] {
        let busy = Set(reads.keys)
        for (device, peripheral) in peripherals {
            if let entry = list.successor(of: peripheral.entry, for: device) {
                peripherals[device]?.entry = entry
                peripherals[device]?.machine.rearm = entry.model.rearm
                peripherals[device]?.isWithdrawn = false
            } else if busy.contains(device) {
                peripherals[device]?.isWithdrawn = true
            } else {
                peripherals[device] = nil
            }
        }
        queue.removeAll { peripherals[$0] == nil }
        directed = list.directed
        return updateTurns(at: now) + startReads(at: now)
    }

    /// Room for one more peripheral; nil if every one that could make room is in use.
    mutating func newPeripheral(
        entry: AllowedPeripheral, at now: MonotonicInstant
    ) -> Peripheral? {
        let unpinned = peripherals.count { $0.value.entry.address == nil }
        if entry.address == nil, unpinned >= Self.maximumUnpinnedPeripherals {
            let idle = peripherals.lazy.filter(\.value.isEvictable)
            guard let longest = idle.min(by: { $0.value.lastHeard < $1.value.lastHeard }) else { return nil }
            peripherals[longest.key] = nil
        }
        return Peripheral(
            entry: entry, machine: PeripheralStateMachine(timing: timing, rearm: entry.model.rearm),
            lastHeard: now)
    }

    /// Whether `device` may be read over `adapter`.
    func isAllowed(_ adapter: AdapterID, for device: DeviceAddress) -> Bool {
        bonds[device].map { $0 == addresses[adapter] } ?? true
    }

    /// Whether a read runs over `adapter`.
    func isReading(over adapter: AdapterID) -> Bool {
        reads.values.contains { $0.adapter == adapter }
    }

    /// The read failed because its adapter went away, which is no fault of the peripheral: where
    /// another adapter listens it is tried over that one, as soon as it is heard.
    private mutating func forgiveFailure(of device: DeviceAddress, at now: MonotonicInstant) {
        peripherals[device]?.failed = nil
        guard scanning.contains(where: { $0.value && isAllowed($0.key, for: device) }) else { return }
        _ = peripherals[device]?.machine.handle(.backOffEnded, at: now)
    }

    // MARK: Starting

    /// Starts a read on every free adapter that somebody waits for, has reads end for those who find no link, and starts
    /// an attempt on the adapters that are left.
    mutating func startReads(at now: MonotonicInstant) -> [Action] {
        guard pauses == 0 else { return [] }
        stopOverlongWaits(at: now)
        review = nil
        for adapter in capacities.keys { capacities[adapter]?.recover(configured: links, at: now) }
        var actions = endOverlongConnections(at: now)
        var promised: [AdapterID: Int] = [:]
        for device in inOrder {
            guard var peripheral = peripherals[device], let wait = peripheral.wait else { continue }
            let choice = choice(for: device, peripheral, waitingSince: wait.since)
            switch choice.answer(at: now) {
            case .read(let adapter):
                if peripheral.entry.address == nil, holdsStrangers(adapter, at: now) { continue }
                _ = peripheral.machine.handle(.readStarted, at: now)
                guard case .reading(let attempt) = peripheral.machine.state else { continue }
                peripheral.wait = nil
                peripheral.wasTried = true
                peripherals[device] = peripheral
                reads[device] = newRead(
                    device, of: peripheral, over: adapter, attempt: attempt, .connecting(now))
                if peripheral.entry.address == nil { knownStrangers.gaveLink() }
                actions.append(.read(device, peripheral.entry, adapter, attempt: attempt))
            case .withdraw(let adapter):
                actions += withdrawAttempts { $0 == adapter }
            case .wait(let instant):
                reviewAt(instant)
                guard !choice.candidates.contains(where: \.use.isUsable) else { continue }
                actions += makeRoom(
                    for: peripheral.entry.address != nil, on: choice.candidates.map(\.adapter),
                    promised: &promised, at: now)
            }
        }
        queue.removeAll { peripherals[$0]?.wait == nil }
        return actions + startAttempts(at: now)
    }

    /// The devices that wait and can be connected to, in the order in which they get links. Any number of strangers can
    /// claim to be of a model and occupy an adapter without giving a reading, so they come last.
    private var inOrder: [DeviceAddress] {
        let waiting = queue.filter { device in
            guard let peripheral = peripherals[device], peripheral.wait?.isOverdue == false else {
                return false
            }
            return !fullStrangers.include(device.address, peripheral.entry)
        }
        let isPinned = { [peripherals] in peripherals[$0]?.entry.address != nil }
        let pinned = waiting.filter(isPinned)
        let wasTried = { [peripherals] in peripherals[$0]?.wasTried == true }
        return pinned.filter { !wasTried($0) } + pinned.filter(wasTried)
            + knownStrangers.inOrder(waiting.filter { !isPinned($0) })
    }

    private func choice(
        for device: DeviceAddress, _ peripheral: Peripheral, waitingSince: MonotonicInstant
    ) -> AdapterChoice {
        var choice = AdapterChoice(candidates: [], othersMayHear: false, waitingSince: waitingSince)
        for adapter in scanning.keys where scanning[adapter] == true && isAllowed(adapter, for: device) {
            guard peripheral.hears(adapter), let hearing = peripheral.hearings[adapter] else {
                // One where an attempt waits tells of a wake-up too.
                if !connecting.contains(adapter) { choice.othersMayHear = true }
                continue
            }
            choice.candidates.append(
                AdapterChoice.Candidate(adapter: adapter, rssi: hearing.rssi, use: use(of: adapter)))
        }
        return choice
    }

    mutating func reviewAt(_ instant: MonotonicInstant?) {
        guard let instant else { return }
        review = min(review ?? instant, instant)
    }

    private mutating func stopOverlongWaits(at now: MonotonicInstant) {
        stopWaiting { [peripherals] in peripherals[$0]?.waitsUntil.map { $0 <= now } ?? false }
    }

    /// Takes those out of the queue for which `condition` holds.
    private mutating func stopWaiting(where condition: (DeviceAddress) -> Bool) {
        for device in queue where condition(device) { peripherals[device]?.wait = nil }
        queue.removeAll { peripherals[$0]?.wait == nil }
    }
}
