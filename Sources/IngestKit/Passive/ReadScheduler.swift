/// How a read ended, as far as the next one depends on it.
public enum ReadOutcome: Sendable, Hashable {
    /// Everything that was wanted is committed.
    case succeeded
    /// The link could not be made, or ended before its first commit or before the end of a transfer
    /// of stored records.
    case failed
}

/// Decides which peripheral is read when and over which adapter: one read at a time on each
/// adapter, first come, first served.
///
/// Pure: the driver tells it what the radio heard and how reads ended, does what it answers, and
/// calls `wake` at `nextDeadline`. A peripheral is known by its address, whichever adapter hears it.
public struct ReadScheduler: Sendable {
    /// What the driver is to do, in this order.
    public enum Action: Sendable, Equatable {
        /// A peripheral woke up: its first advert since it was idle.
        case discovered(AllowedPeripheral, DeviceAddress)
        /// Read it now over this adapter, and tell by `finished` how it ended. `attempt` counts
        /// from 1 for each wake-up.
        case read(DeviceAddress, AllowedPeripheral, AdapterID, attempt: Int)
    }

    /// How many peripherals are followed that the allow-list does not name by address. Addresses
    /// are whatever a sender writes, so there must be an end.
    public static let maximumUnpinnedPeripherals = 1_024
    /// A peripheral that waits to be read and was not heard for so long, while listened for, has
    /// gone: connecting to it would hold the adapter for nothing. Health devices send at least an
    /// advert a second.
    public static let longestWait: Duration = .seconds(10)

    struct Peripheral: Sendable {
        var entry: AllowedPeripheral
        var machine: PeripheralStateMachine
        /// The adapter that heard it last.
        var adapter: AdapterID
        var lastHeard: MonotonicInstant
        /// While it waits to be read: its listened time at its last advert.
        var waitingSince: Duration?
        /// It waits, but was not heard for so long during a pause that it may have gone: it is read
        /// when it is heard again.
        var isOverdue = false
        /// Being read, but no longer allowed: forgotten when the read ends.
        var isWithdrawn = false

        var isEvictable: Bool {
            entry.address == nil && machine.state == .idle && waitingSince == nil
        }

        /// When it will have waited too long; nil if it does not wait, or nobody listens.
        var waitsUntil: MonotonicInstant? {
            waitingSince.flatMap { machine.listened.instant(reaching: $0 + longestWait) }
        }
    }

    /// A change holds at once, for peripherals that wait for silence too.
    public var timing: PassiveTiming {
        didSet {
            for device in peripherals.keys { peripherals[device]?.machine.timing = timing }
        }
    }

    private let jitter: @Sendable () -> Double
    private(set) var peripherals: [DeviceAddress: Peripheral] = [:]
    /// Those that wait to be read, the longest first.
    private var queue: [DeviceAddress] = []
    /// The read that runs on each adapter.
    private var reads: [AdapterID: DeviceAddress] = [:]
    /// Whether each adapter that is present has its scan in place.
    private var scanning: [AdapterID: Bool] = [:]
    private var addresses: [AdapterID: BluetoothAddress] = [:]
    /// Adapters with a connection attempt, during which they hear nothing.
    private var connecting: Set<AdapterID> = []
    /// The adapter that has the keys of each bonded device. No more than the gateway has bonds.
    private var bonds: [DeviceAddress: BluetoothAddress] = [:]
    /// How many pauses have begun and not ended.
    private var pauses = 0

    /// - Parameter jitter: gives random numbers, 0 to 1.
    public init(
        timing: PassiveTiming = PassiveTiming(),
        jitter: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        self.timing = timing
        self.jitter = jitter
    }

    /// When `wake` is to be called; nil if there is nothing to wait for.
    public var nextDeadline: MonotonicInstant? {
        var earliest: MonotonicInstant?
        for peripheral in peripherals.values {
            // While nothing can start, nobody waits too long.
            for deadline in [peripheral.machine.nextDeadline, pauses == 0 ? peripheral.waitsUntil : nil] {
                guard let deadline else { continue }
                earliest = min(earliest ?? deadline, deadline)
            }
        }
        return earliest
    }

    /// A device advertised that the allow-list matched to `entry`.
    public mutating func heard(_ advertisement: Advertisement, as entry: AllowedPeripheral) -> [Action] {
        let device = advertisement.device
        let now = advertisement.received
        guard
            var peripheral = peripherals[device]
                ?? newPeripheral(entry: entry, adapter: advertisement.adapter, at: now)
        else { return [] }
        peripheral.entry = entry
        peripheral.isWithdrawn = false
        peripheral.machine.rearm = entry.model.rearm
        if isAllowed(advertisement.adapter, for: device) || !isAllowed(peripheral.adapter, for: device) {
            peripheral.adapter = advertisement.adapter
        }
        peripheral.isOverdue = false
        peripheral.lastHeard = max(peripheral.lastHeard, now)
        _ = peripheral.machine.handle(.listening(isListening(for: peripheral.adapter)), at: now)
        var actions: [Action] = []
        if peripheral.machine.handle(.advert, at: now) == .read {
            if peripheral.waitingSince == nil {
                queue.append(device)
                if peripheral.machine.state == .idle { actions.append(.discovered(entry, device)) }
            }
            peripheral.waitingSince = peripheral.machine.listened.elapsed(at: now)
        }
        peripherals[device] = peripheral
        return actions + startReads(at: now)
    }

    /// The read of `device` ended.
    public mutating func finished(
        _ device: DeviceAddress, outcome: ReadOutcome, at now: MonotonicInstant
    ) -> [Action] {
        guard let adapter = reads.first(where: { $0.value == device })?.key else { return [] }
        reads[adapter] = nil
        // A read that has ended connects no more, even if its driver did not say so.
        connecting.remove(adapter)
        updateListening(at: now)
        if peripherals[device]?.isWithdrawn == true {
            peripherals[device] = nil
        } else {
            switch outcome {
            case .succeeded: _ = peripherals[device]?.machine.handle(.readSucceeded, at: now)
            case .failed: _ = peripherals[device]?.machine.handle(.readFailed(jitter: jitter()), at: now)
            }
        }
        return startReads(at: now)
    }

    /// The adapters are now these.
    public mutating func adapters(_ states: [AdapterState], at now: MonotonicInstant) -> [Action] {
        let before = scanning
        scanning = Dictionary(states.map { ($0.id, $0.isListening) }) { _, last in last }
        addresses = Dictionary(states.map { ($0.id, $0.address) }) { _, last in last }
        connecting.formIntersection(scanning.keys)
        // What an adapter heard before it went silent says nothing of who is there when it is back.
        let deaf = Set(before.filter { $0.value && scanning[$0.key] != true }.keys)
        stopWaiting { deaf.contains($0.adapter) }
        updateListening(at: now)
        return startReads(at: now)
    }

    /// A connection attempt began on this adapter, or ended.
    public mutating func connecting(
        _ adapter: AdapterID, _ isConnecting: Bool, at now: MonotonicInstant
    ) {
        if isConnecting { connecting.insert(adapter) } else { connecting.remove(adapter) }
        updateListening(at: now)
    }

    /// Starts no read from now on; those under way go on, and adverts are taken in as before. What
    /// waits goes on waiting. Pauses are counted: each needs its `resume`.
    public mutating func pause(at now: MonotonicInstant) -> [Action] {
        // Who had gone before is not kept by the pause.
        if pauses == 0 { stopWaiting { $0.waitsUntil.map { $0 <= now } ?? false } }
        pauses += 1
        return []
    }

    /// Ends one pause; with the last one, reads start again. A peripheral that was not heard for
    /// `longestWait` keeps its place, but has to be heard again first. Without a pause, does nothing.
    public mutating func resume(at now: MonotonicInstant) -> [Action] {
        guard pauses > 0 else { return [] }
        pauses -= 1
        guard pauses == 0 else { return [] }
        for device in queue {
            guard let peripheral = peripherals[device] else { continue }
            peripherals[device]?.waitingSince = peripheral.machine.listened.elapsed(at: now)
            peripherals[device]?.isOverdue = now.since(peripheral.lastHeard) >= Self.longestWait
        }
        return startReads(at: now)
    }

    /// A bonded device is read over the adapter that has its keys and over no other, also when that
    /// one is absent; with nil, over any.
    /// - Parameters:
    ///   - device: by its identity address.
    ///   - adapter: by its address, because indexes change.
    public mutating func bind(
        _ device: DeviceAddress, to adapter: BluetoothAddress?, at now: MonotonicInstant
    ) -> [Action] {
        bonds[device] = adapter
        return startReads(at: now)
    }

    /// Does what has become due.
    public mutating func wake(at now: MonotonicInstant) -> [Action] {
        for device in peripherals.keys {
            _ = peripherals[device]?.machine.handle(.tick, at: now)
        }
        return startReads(at: now)
    }

    /// The allow-list is now `list`. Peripherals that it no longer names are forgotten, after their
    /// read if one runs; the others stay as they are.
    public mutating func allow(_ list: AllowList, at now: MonotonicInstant) {
        let busy = Set(reads.values)
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
    }

    /// Room for one more peripheral; nil if every one that could make room is in use.
    private mutating func newPeripheral(
        entry: AllowedPeripheral, adapter: AdapterID, at now: MonotonicInstant
    ) -> Peripheral? {
        let unpinned = peripherals.count { $0.value.entry.address == nil }
        if entry.address == nil, unpinned >= Self.maximumUnpinnedPeripherals {
            let idle = peripherals.lazy.filter(\.value.isEvictable)
            guard let longest = idle.min(by: { $0.value.lastHeard < $1.value.lastHeard }) else { return nil }
            peripherals[longest.key] = nil
        }
        return Peripheral(
            entry: entry, machine: PeripheralStateMachine(timing: timing, rearm: entry.model.rearm),
            adapter: adapter, lastHeard: now)
    }

    /// Whether `device` may be read over `adapter`.
    private func isAllowed(_ adapter: AdapterID, for device: DeviceAddress) -> Bool {
        bonds[device].map { $0 == addresses[adapter] } ?? true
    }

    /// Whether a peripheral that `adapter` heard last would be heard now. If the adapter is gone,
    /// any other that listens has to do.
    private func isListening(for adapter: AdapterID) -> Bool {
        if let scans = scanning[adapter] { return scans && !connecting.contains(adapter) }
        return scanning.contains { $0.value && !connecting.contains($0.key) }
    }

    private mutating func updateListening(at now: MonotonicInstant) {
        for (device, peripheral) in peripherals {
            let isListening = isListening(for: peripheral.adapter)
            guard peripheral.machine.listened.isRunning != isListening else { continue }
            _ = peripherals[device]?.machine.handle(.listening(isListening), at: now)
        }
    }

    /// Starts a read on every free adapter that somebody waits for.
    private mutating func startReads(at now: MonotonicInstant) -> [Action] {
        guard pauses == 0 else { return [] }
        stopWaiting { $0.waitsUntil.map { $0 <= now } ?? false }
        var actions: [Action] = []
        for device in queue {
            guard var peripheral = peripherals[device], !peripheral.isOverdue,
                scanning[peripheral.adapter] == true, reads[peripheral.adapter] == nil,
                isAllowed(peripheral.adapter, for: device)
            else { continue }
            _ = peripheral.machine.handle(.readStarted, at: now)
            guard case .reading(let attempt) = peripheral.machine.state else { continue }
            peripheral.waitingSince = nil
            peripherals[device] = peripheral
            reads[peripheral.adapter] = device
            actions.append(.read(device, peripheral.entry, peripheral.adapter, attempt: attempt))
        }
        queue.removeAll { peripherals[$0]?.waitingSince == nil }
        return actions
    }

    /// Takes those out of the queue for which `condition` holds.
    private mutating func stopWaiting(where condition: (Peripheral) -> Bool) {
        for device in queue {
            guard let peripheral = peripherals[device], condition(peripheral) else { continue }
            peripherals[device]?.waitingSince = nil
        }
        queue.removeAll { peripherals[$0]?.waitingSince == nil }
    }
}
