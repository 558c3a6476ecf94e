import TestSupport
import Testing

@testable import IngestOperator
@testable import IngestReading

@Suite struct PairingCourseTests {
    typealias Action = PairingCourse.Action

    /// What is told to the course at which second, and what it wants done.
    struct Line: Sendable {
        enum Step: Sendable {
            /// The thermometer of this number advertises.
            case heard(Int, rssi: Int = -60, inPairingMode: Bool = true, on: AdapterID = .hci0)
            case wake
            case failed(PairingError)
        }

        enum Outcome: Sendable, Equatable {
            case pairs(Int, on: AdapterID = .hci0)
            case fails(PairingFailure)
        }

        let second: Double
        let step: Step
        var outcome: Outcome?

        init(_ second: Double, _ step: Step, _ outcome: Outcome? = nil) {
            self.second = second
            self.step = step
            self.outcome = outcome
        }
    }

    struct Script: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let lines: [Line]

        init(_ description: String, _ lines: [Line]) {
            testDescription = description
            self.lines = lines
        }
    }

    static let table: [Script] = [
        Script(
            "a device in pairing mode is paired with after a second",
            [.init(1, .heard(1)), .init(1.5, .heard(1)), .init(2, .wake, .pairs(1))]),
        Script(
            "of several in pairing mode the strongest is taken",
            [
                .init(1, .heard(1, rssi: -80)), .init(1.2, .heard(2, rssi: -50)),
                .init(1.4, .heard(3, rssi: -70)), .init(2, .wake, .pairs(2)),
            ]),
        Script(
            "pairing mode counts before strength",
            [
                .init(1, .heard(1, rssi: -30, inPairingMode: false)), .init(2, .heard(2, rssi: -90)),
                .init(2.9, .heard(1, rssi: -30, inPairingMode: false)),
                .init(3, .heard(2, rssi: -90), .pairs(2)),
            ]),
        Script(
            "the adapter that hears it best pairs",
            [
                .init(1, .heard(1, rssi: -80)), .init(1.1, .heard(1, rssi: -60, on: .hci1)),
                .init(2, .wake, .pairs(1, on: .hci1)),
            ]),
        Script(
            "a device that never says so is tried after 15 s",
            [
                .init(1, .heard(1, inPairingMode: false)), .init(5, .heard(1, inPairingMode: false)),
                .init(9, .heard(1, inPairingMode: false)), .init(13, .heard(1, inPairingMode: false)),
                .init(15.9, .wake), .init(16, .wake, .pairs(1)),
            ]),
        Script(
            "who was silent for 5 s is not taken, and does not count",
            [
                .init(1, .heard(1, inPairingMode: false)), .init(7, .heard(2, inPairingMode: false)),
                .init(11, .heard(2, inPairingMode: false)), .init(15, .heard(2, inPairingMode: false)),
                .init(19, .heard(2, inPairingMode: false)), .init(21.9, .wake), .init(22, .wake, .pairs(2)),
            ]),
        Script(
            "leaving pairing mode is noticed",
            [
                .init(1, .heard(1)), .init(1.5, .heard(1, inPairingMode: false)), .init(2, .wake),
                .init(3, .heard(1, inPairingMode: false)),
            ]),
        Script("nobody within two minutes", [.init(119.9, .wake), .init(120, .wake, .fails(.notHeard))]),
        Script(
            "who is there at the end of the two minutes is tried",
            [.init(119.8, .heard(1)), .init(120, .wake, .pairs(1))]),
        Script(
            "who went away is waited for again, twice",
            [
                .init(1, .heard(1)), .init(2, .wake, .pairs(1)), .init(8, .failed(.notReachable)),
                .init(20, .heard(1)), .init(21, .wake, .pairs(1)), .init(30, .failed(.notReachable)),
                .init(40, .heard(1)), .init(41, .wake, .pairs(1)),
                .init(50, .failed(.notReachable), .fails(.error(.notReachable))),
            ]),
        Script(
            "a refusal is the end",
            [
                .init(1, .heard(1)), .init(2, .wake, .pairs(1)),
                .init(3, .failed(.refused), .fails(.error(.refused))),
            ]),
        Script(
            "while it pairs nothing else begins",
            [.init(1, .heard(1)), .init(2, .wake, .pairs(1)), .init(4, .heard(2)), .init(130, .wake)]),
    ]

    @Test(arguments: table) func theDeviceIsFound(script: Script) {
        let entry = AllowedPeripheral(model: .sample())
        var course = PairingCourse(at: .at(0))
        for line in script.lines {
            let action: Action?
            switch line.step {
            case .heard(let number, let rssi, let isInPairingMode, let adapter):
                let advertisement = Advertisement(
                    device: .device(number), adapter: adapter, rssi: rssi, isConnectable: true,
                    data: [0x02, 0x01, isInPairingMode ? 0x06 : 0x04], received: .at(line.second))
                action = course.heard(advertisement, as: entry)
            case .wake: action = course.wake(at: .at(line.second))
            case .failed(let error): action = course.failed(error, at: .at(line.second))
            }
            let outcome: Line.Outcome? =
                switch action {
                case nil: nil
                case .pair(let candidate):
                    .pairs(Int(candidate.device.address.value - 0x0011_2200_0000), on: candidate.adapter)
                case .fail(let failure): .fails(failure)
                }
            #expect(outcome == line.outcome, "at \(line.second) s")
        }
    }

    @Test(arguments: [true, false])
    func aDeviceThatIsHeardUnderItsAddressHidesBehindNoOther(isInPairingMode: Bool) {
        let named = DeviceAddress.device(1)
        let entry = AllowedPeripheral(model: .sample(), address: named.address)
        let hidden = DeviceAddress(BluetoothAddress(value: 0x4011_2200_0009), .random)
        var course = PairingCourse(at: .at(0))
        let flags: [UInt8] = [0x02, 0x01, isInPairingMode ? 0x06 : 0x04]
        var paired: DeviceAddress?
        for second in 1...20 where paired == nil {
            let advert = Advertisement.sample(of: named, data: flags, rssi: -90, at: Double(second))
            for advert in [.sample(of: hidden, rssi: -30, at: Double(second)), advert] {
                guard case .pair(let candidate) = course.heard(advert, as: entry) else { continue }
                paired = candidate.device
            }
        }
        #expect(paired == named)
    }

    @Test func aDeviceThatHidesIsTakenWhenItIsNotHeardOtherwise() {
        let entry = AllowedPeripheral(model: .sample(), address: DeviceAddress.device(1).address)
        var course = PairingCourse(at: .at(0))
        #expect(course.heard(.sample(of: .device(2), at: 1), as: entry) == nil)
        guard case .pair(let candidate) = course.wake(at: .at(2)) else {
            Issue.record("nobody was chosen")
            return
        }
        #expect(candidate.isHidden)
    }

    @Test func inventedAddressesAreNotFollowedWithoutEnd() {
        var course = PairingCourse(at: .at(0))
        let entry = AllowedPeripheral(model: .sample())
        for number in 1...PairingCourse.mostCandidates {
            _ = course.heard(.sample(of: .device(number), data: [0x02, 0x01, 0x04], at: 1), as: entry)
        }
        // One more, in pairing mode, has no place.
        _ = course.heard(.sample(of: .device(99), at: 1), as: entry)
        #expect(course.wake(at: .at(3)) == nil)
    }

    @Test(
        arguments: [
            ([0x02, 0x01, 0x06], true), ([0x02, 0x01, 0x05], true), ([0x02, 0x01, 0x04], false),
            ([0x03, 0x03, 0x09, 0x18], false), ([0x03, 0x03, 0x09, 0x18, 0x02, 0x01, 0x02], true),
            ([0x01, 0x01], false), ([], false),
        ] as [([UInt8], Bool)])
    func discoverableFlagsAreThePairingMode(data: [UInt8], isInPairingMode: Bool) {
        #expect(Advertisement.sample(of: .device(1), data: data).isInPairingMode == isInPairingMode)
    }
}
