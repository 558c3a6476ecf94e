import PeripheralSimulator
import TestSupport
import Testing

@testable import IngestCore
@testable import IngestReading
@testable import IngestRecords

/// Two different readings that are broadcast never share an id, and what is sent again is no second reading, as far as
/// what comes can tell them apart.
@Suite(.timeLimit(.minutes(15)))
struct BroadcastIdentityTests {
    private typealias Data = SimulatedServiceData

    /// By what a device tells its next reading from one that it repeats.
    enum Mark: CaseIterable {
        case nothing
        case packetID
        /// That of the encryption, which rises with each broadcast.
        case counter
        /// It sends only when there is something to tell.
        case silence
        case date

        var profile: String { self == .date ? "mi-scale" : "bthome" }

        /// - Parameters:
        ///   - value: 0 or 1.
        ///   - number: of the reading, from 1.
        func serviceData(_ value: UInt8, number: UInt8) -> [UInt8] {
            let temperature: [UInt8] = [0x02, 0xCA + value, 0x09]
            switch self {
            case .nothing: return Data.bthome(temperature)
            case .packetID: return Data.bthome([0x00, number] + temperature)
            case .counter:
                return Data.bthome(
                    temperature, key: BroadcastBench.key, device: BroadcastBench.device,
                    counter: UInt32(number))
            case .silence: return Data.bthome([0x3A, 0x01 + value], isTriggered: true)
            case .date:
                return Data.miScale(
                    Data.Weighing(
                        weight: 17_310 + UInt16(value),
                        time: DeviceTime(
                            year: 2026, month: 11, day: 20, hours: 9, minutes: Int(number), seconds: 57)))
            }
        }
    }

    /// When the second one comes.
    enum Moment: CaseIterable {
        case atOnce
        case minuteLater
        case hourLater
        case nextRun
        case nextRunAMinuteLater
        case nextBoot
        case nextBootAMinuteLater

        var isAfterSilence: Bool {
            switch self {
            case .minuteLater, .hourLater, .nextRunAMinuteLater, .nextBootAMinuteLater: true
            case .atOnce, .nextRun, .nextBoot: false
            }
        }
    }

    enum Second: CaseIterable {
        case sentAgain
        case sameValueMeasuredAgain
        case otherValue

        func serviceData(_ mark: Mark) -> [UInt8] {
            switch self {
            case .sentAgain: mark.serviceData(0, number: 1)
            case .sameValueMeasuredAgain: mark.serviceData(0, number: 2)
            case .otherValue: mark.serviceData(1, number: 2)
            }
        }
    }

    @Test(arguments: Mark.allCases, Moment.allCases)
    func aReadingIsOneRecordAndAnotherReadingAnother(mark: Mark, moment: Moment) async throws {
        for second in Second.allCases {
            let isOne =
                switch (second, mark) {
                case (.otherValue, _): false
                case (_, .silence): !moment.isAfterSilence
                case (.sameValueMeasuredAgain, .packetID), (.sameValueMeasuredAgain, .date): false
                default: true
                }
            let ids = try await ids(mark, moment, second)
            #expect(ids.count == (isOne ? 1 : 2), "\(second)")
            #expect(Set(ids).count == ids.count, "\(second)")
        }
    }

    /// Sends two broadcasts, each five times, and says what they became.
    private func ids(_ mark: Mark, _ moment: Moment, _ second: Second) async throws -> [RecordID] {
        let entry = BroadcastBench.entry(mark.profile, key: mark == .counter ? "key" : nil)
        return try await BroadcastBench.inNewDirectory { directory in
            let clock = DrivenClock(wall: DrivenClock.morning)
            var ids: [RecordID] = []
            try await BroadcastBench.run(entry, in: directory, clock: clock) { bench in
                await bench.send(mark.serviceData(0, number: 1), times: 5)
                switch moment {
                case .minuteLater: await bench.pass(.seconds(60))
                case .hourLater: await bench.pass(.seconds(3_600))
                default: break
                }
                switch moment {
                case .atOnce, .minuteLater, .hourLater: await bench.send(second.serviceData(mark), times: 5)
                default: break
                }
                ids += bench.records.map(\.id)
            }
            let isNextBoot: Bool
            switch moment {
            case .atOnce, .minuteLater, .hourLater: return ids
            case .nextRun, .nextRunAMinuteLater: isNextBoot = false
            case .nextBoot, .nextBootAMinuteLater: isNextBoot = true
            }
            // A boot's clock begins where the one before began: the boot alone tells the moments apart.
            try await BroadcastBench.run(
                entry, in: directory, clock: isNextBoot ? DrivenClock(wall: DrivenClock.morning) : clock,
                bootID: isNextBoot ? "next" : "test"
            ) { bench in
                if moment.isAfterSilence { await bench.pass(.seconds(60)) }
                await bench.send(second.serviceData(mark), times: 5)
                ids += bench.records.map(\.id)
            }
            return ids
        }
    }
}
