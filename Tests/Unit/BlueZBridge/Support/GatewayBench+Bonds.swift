import PeripheralSimulator
import QueueTestSupport
import Synchronization
import Testing

@testable import IngestBluetooth
@testable import IngestCore
@testable import IngestEvents
@testable import IngestOperator
@testable import IngestQueue
@testable import IngestReading

/// A cuff that knows bonds, and an operator.
extension GatewayBench {
    /// Longer than a list of bonds needs to be believed.
    static let settling = BondTable.grace + .seconds(1)

    /// Runs the gateway on a cuff, from when its adapter listens and the bonds are known.
    static func run(
        _ bonding: SimulatedBonding, entry: Entry = Entry(), quirks: [PeripheralModel.Quirk] = [],
        readings: Int = 1, isRequired: Bool = true, linger: Duration = .seconds(3),
        change: (inout Setup) -> Void = { _ in }, _ body: (GatewayBench) async throws -> Void
    ) async throws {
        var setup = Setup(
            peripheral: { loop, _ in
                SimulatedPeripheral(
                    device: DeviceAddress(RadioBench.pinned, .random), advert: .cuffAdvert,
                    services: SimulatedService.cuff(serial: serial),
                    readings: (0..<readings).map { number in
                        .bloodPressure(systolic: 120 + UInt16(number), diastolic: 82, mean: 97, pulse: 71)
                    },
                    rhythm: .init(patience: nil, linger: linger), bonding: bonding, loop: loop,
                    time: { deviceTime })
            }, profile: "blood-pressure", service: 0x1810, entry: entry,
            quirks: quirks, bonding: isRequired ? .required : .none)
        change(&setup)
        try await run(setup) { bench in
            await bench.clock.advance(by: settling, bench.loop)
            try await body(bench)
        }
    }

    var keeper: SimulatedBondKeeper { radio.bondKeeper }
    var bond: Bond { Bond(device: peripheral.device, adapter: RadioBench.address) }

    /// Links that the peripheral took, without those of pairings.
    func links() async -> Int { await peripheral.traces.count }

    func errors(of name: String) -> [String] {
        events.all.filter { $0.entry.name == name }.compactMap { $0.value(.error) }
    }

    /// Moves the clock, with time for the work that each step brings.
    func spend(_ duration: Duration, step: Duration = .milliseconds(250)) async throws {
        var spent = Duration.zero
        while spent < duration {
            try Task.checkCancellation()
            await clock.advance(by: step, loop)
            _ = try await store.counts()
            _ = await gateway.listeningAdapters
            spent += step
        }
    }

    /// Pairs as an operator does who wakes the peripheral up when it is waited for, and answers so,
    /// while the clock moves.
    /// - Returns: the steps.
    func pair(
        _ target: PairingTarget = .model(1), answers: [PairingAnswer] = [], wakesUp: Bool = true
    ) async throws -> [OperatorStep] {
        let answers = Mutex(answers[...])
        return try await follow(.pair(target)) { step, id in
            if wakesUp, step.step == .waiting { await peripheral.wakeUp() }
            let asks = step.step == .passkeyWanted || step.step == .confirmNumber
            guard asks, let answer = answers.withLock({ $0.popFirst() }) else { return }
            try await orders.answer(answer, to: id)
        }
    }
}
