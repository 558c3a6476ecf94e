import TestSupport

@testable import IngestReading

extension PeripheralStateMachine.Moment {
    /// For so long the gateway has listened and received.
    static func seconds(_ seconds: Double) -> Self {
        Self(listened: .seconds(seconds), received: .seconds(seconds))
    }
}

/// A machine in a home where something always advertises: it gets each sign when it waits for one.
struct MachineWithNeighbour {
    private(set) var machine: PeripheralStateMachine
    private var time = MonotonicInstant.at(0)

    init(_ machine: PeripheralStateMachine) { self.machine = machine }

    var state: PeripheralStateMachine.State { machine.state }

    var nextDeadline: MonotonicInstant? {
        var copy = self
        copy.advance(to: copy.time)
        while let next = copy.machine.signFrom, next < copy.machine.nextDeadline ?? next {
            copy.advance(to: next)
        }
        return copy.machine.nextDeadline
    }

    mutating func handle(
        _ input: PeripheralStateMachine.Input, at now: MonotonicInstant
    ) -> PeripheralStateMachine.Output {
        advance(to: now)
        return machine.handle(input, at: now)
    }

    private mutating func advance(to now: MonotonicInstant) {
        while let from = machine.signFrom, max(from, time) <= now {
            time = max(from, time)
            _ = machine.handle(.receiving(true), at: time)
            _ = machine.handle(.sign, at: time)
        }
        time = max(time, now)
    }
}

/// A scheduler in a home where something always advertises: each adapter gets a sign when one is waited for.
@dynamicMemberLookup struct SchedulerWithNeighbour {
    private var scheduler: ReadScheduler
    private var time = MonotonicInstant.at(0)

    init(_ scheduler: ReadScheduler) { self.scheduler = scheduler }

    subscript<Value>(dynamicMember path: WritableKeyPath<ReadScheduler, Value>) -> Value {
        get { scheduler[keyPath: path] }
        set { scheduler[keyPath: path] = newValue }
    }

    subscript<Value>(dynamicMember path: KeyPath<ReadScheduler, Value>) -> Value { scheduler[keyPath: path] }

    /// When `wake` is to be called.
    var nextDeadline: MonotonicInstant? {
        var copy = self
        copy.advance(to: copy.time)
        while let sign = copy.nextSign, sign == copy.scheduler.outlook(at: copy.time).deadline {
            copy.advance(to: sign)
        }
        return copy.scheduler.outlook(at: copy.time).deadline
    }

    private var nextSign: MonotonicInstant? {
        scheduler.peripherals.values.compactMap(\.machine.signFrom).filter { $0 > time }.min()
    }

    private mutating func advance(to now: MonotonicInstant) {
        giveSigns()
        while let sign = nextSign, sign <= now {
            time = sign
            giveSigns()
        }
        time = max(time, now)
    }

    private mutating func giveSigns() {
        for adapter in scheduler.outlook(at: time).signs { scheduler.receive(on: adapter, at: time) }
    }

    private mutating func at<Result>(
        _ now: MonotonicInstant, _ body: (inout ReadScheduler) -> Result
    ) -> Result {
        advance(to: now)
        return body(&scheduler)
    }

    // MARK: What the driver tells

    typealias Action = ReadScheduler.Action

    mutating func heard(_ advertisement: Advertisement, as entry: AllowedPeripheral) -> [Action] {
        at(advertisement.received) { $0.heard(advertisement, as: entry) }
    }

    /// The thermometer `device` advertises.
    mutating func heard(
        _ device: Int, on adapter: AdapterID = .hci0, rssi: Int? = -60, at seconds: Double
    ) -> [Action] {
        heard(
            .sample(of: .device(device), on: adapter, rssi: rssi, at: seconds),
            as: ReadSchedulerScript.thermometer)
    }

    mutating func finished(
        _ device: DeviceAddress, outcome: ReadOutcome, wantsBond: Bool = false, at now: MonotonicInstant
    ) -> [Action] {
        at(now) { $0.finished(device, outcome: outcome, wantsBond: wantsBond, at: now) }
    }

    mutating func adapters(_ states: [AdapterState], at now: MonotonicInstant) -> [Action] {
        at(now) { $0.adapters(states, at: now) }
    }

    mutating func connecting(_ adapter: AdapterID, _ isConnecting: Bool, at now: MonotonicInstant) {
        at(now) { $0.connecting(adapter, isConnecting, at: now) }
    }

    mutating func pause(at now: MonotonicInstant) -> [Action] { at(now) { $0.pause(at: now) } }

    mutating func resume(at now: MonotonicInstant, after paired: DeviceAddress? = nil) -> [Action] {
        at(now) { $0.resume(at: now, after: paired) }
    }

    mutating func readAfterPairing(
        _ device: DeviceAddress, as entry: AllowedPeripheral, over adapter: AdapterID,
        at now: MonotonicInstant
    ) -> [Action] {
        at(now) { $0.readAfterPairing(device, as: entry, over: adapter, at: now) }
    }

    mutating func know(_ devices: [DeviceAddress]) { scheduler.know(devices) }

    mutating func leaveAlone(_ full: FullStrangers, at now: MonotonicInstant) -> [Action] {
        at(now) { $0.leaveAlone(full, at: now) }
    }

    mutating func bind(
        _ device: DeviceAddress, to adapter: BluetoothAddress?, at now: MonotonicInstant
    ) -> [Action] {
        at(now) { $0.bind(device, to: adapter, at: now) }
    }

    mutating func wake(at now: MonotonicInstant) -> [Action] { at(now) { $0.wake(at: now) } }

    mutating func allow(_ list: AllowList, at now: MonotonicInstant) -> [Action] {
        at(now) { $0.allow(list, at: now) }
    }

    mutating func linked(_ device: DeviceAddress, at now: MonotonicInstant) -> [Action] {
        at(now) { $0.linked(device, at: now) }
    }

    mutating func progressed(
        _ device: DeviceAddress, _ progress: ReadScheduler.Progress, at now: MonotonicInstant
    ) -> [Action] {
        at(now) { $0.progressed(device, progress, at: now) }
    }

    mutating func connected(_ device: DeviceAddress, at now: MonotonicInstant) -> [Action]? {
        at(now) { $0.connected(device, at: now) }
    }

    mutating func attemptEnded(
        _ device: DeviceAddress, _ end: ReadScheduler.AttemptEnd, at now: MonotonicInstant
    ) -> [Action] {
        at(now) { $0.attemptEnded(device, end, at: now) }
    }

    func capacity(of adapter: AdapterID) -> Int { scheduler.capacity(of: adapter) }
}
