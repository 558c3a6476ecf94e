import TestSupport
import Testing

@testable import IngestReading

/// A life of a scheduler as a row of a table: what happens at which second, and what it wants done.
struct ReadSchedulerScript: ReadSchedulerBench, Sendable, CustomTestStringConvertible {
    enum Step: Sendable {
        /// The thermometer of this number advertises.
        case heard(Int, on: AdapterID = .hci0, rssi: Int? = -60)
        /// The link is up.
        case linked(Int)
        /// The read ends, after its link was up.
        case finished(Int, ReadOutcome = .succeeded)
        /// There is no room for readings of these devices without an address in the allow-list, or of any.
        case full(FullStrangers)
        case pause
        case resume
        /// The device of this number was paired in the pause.
        case resumeAfter(Int)
        /// Over the link that its pairing has left up.
        case readAfterPairing(Int, on: AdapterID = .hci0)
        /// To the adapter whose address has this number.
        case bind(Int, to: Int?)
        /// These adapters are present, and listen or not.
        case adapters([(AdapterID, Bool)])
        /// The allow-list names these devices, of a model that advertises to its bonded central only.
        case directed([Int])
        case connected(Int)
        case attemptEnded(Int, ReadScheduler.AttemptEnd)
        case wake
    }

    struct Line: Sendable {
        let second: Double
        let step: Step
        let actions: [ReadScheduler.Action]
    }

    let name: String
    let adapters: [AdapterID]
    let lines: [Line]

    init(
        _ name: String, on adapters: [AdapterID] = [.hci0],
        _ lines: [(Double, Step, [ReadScheduler.Action])]
    ) {
        self.name = name
        self.adapters = adapters
        self.lines = lines.map { Line(second: $0.0, step: $0.1, actions: $0.2) }
    }

    var testDescription: String { name }

    /// Plays the lines on a new scheduler, whose back-off is the whole delay.
    func play() {
        var scheduler = Self.scheduler(adapters)
        for (number, line) in lines.enumerated() {
            let actions = Self.perform(line.step, at: line.second, on: &scheduler)
            #expect(actions == line.actions, "line \(number + 1), second \(line.second)")
        }
    }

    static func perform(
        _ step: Step, at second: Double, on scheduler: inout SchedulerWithNeighbour
    ) -> [ReadScheduler.Action] {
        switch step {
        case .heard(let device, let adapter, let rssi):
            return scheduler.heard(device, on: adapter, rssi: rssi, at: second)
        case .finished(let device, let outcome):
            _ = scheduler.linked(.device(device), at: .at(second))
            return scheduler.finished(.device(device), outcome: outcome, at: .at(second))
        case .linked(let device):
            return scheduler.linked(.device(device), at: .at(second))
        case .full(let strangers):
            return scheduler.leaveAlone(strangers, at: .at(second))
        case .pause:
            return scheduler.pause(at: .at(second))
        case .resume:
            return scheduler.resume(at: .at(second))
        case .resumeAfter(let device):
            return scheduler.resume(at: .at(second), after: .device(device))
        case .readAfterPairing(let device, let adapter):
            return scheduler.readAfterPairing(
                .device(device), as: Self.thermometer, over: adapter, at: .at(second))
        case .bind(let device, let adapter):
            let address = adapter.map { BluetoothAddress(value: UInt64($0)) }
            return scheduler.bind(.device(device), to: address, at: .at(second))
        case .adapters(let states):
            return scheduler.adapters(Self.states(states), at: .at(second))
        case .directed(let devices):
            let entries = devices.map { Self.directed(.device($0)) }
            return scheduler.allow(AllowList(entries + [Self.thermometer]), at: .at(second))
        case .connected(let device):
            return scheduler.connected(.device(device), at: .at(second)) ?? []
        case .attemptEnded(let device, let end):
            return scheduler.attemptEnded(.device(device), end, at: .at(second))
        case .wake:
            return scheduler.wake(at: .at(second))
        }
    }
}
