import TestSupport
import Testing

@testable import IngestProfiles

/// A reading has a possible time, and its numbers are plain digits.
func expectPlain(_ reading: Reading) {
    if let time = reading.deviceTime, !time.isPossible { Issue.record("impossible time") }
    for case .exact(let number) in reading.measurements.map(\.value)
    where !number.description.utf8.allSatisfy({ "-.0123456789".utf8.contains($0) }) {
        Issue.record("not a plain number: \(number)")
    }
}

/// What no list of cases covers: any bytes at all give a reading or an error.
@Suite struct MalformedPayloadTests {
    private static let payloads = ValidPayloads.all

    @Test func everyCharacteristicHasAValidPayload() {
        #expect(Set(Self.payloads.map(\.characteristic)) == Set(Profiles.characteristics))
    }

    @Test func everyTruncationIsAnErrorThatSaysWhere() throws {
        for (characteristic, payload) in Self.payloads {
            for length in 0..<payload.count {
                let prefix = Array(payload.prefix(length))
                // The intervals of a heart rate are as many as are there.
                if characteristic == HeartRate.measurement, length >= payload.count - 2 { continue }
                #expect {
                    try Profiles.decode(characteristic: characteristic, bytes: prefix)
                } throws: { error in
                    guard case .truncated(_, let needed, let had) = error as? DecodeError else {
                        return false
                    }
                    return had < needed && had <= length
                }
            }
            _ = try Profiles.decode(characteristic: characteristic, bytes: payload)
        }
    }

    @Test func mutationsGiveAReadingWithPlainNumbersOrAnError() throws {
        var random = SeededGenerator(seed: 0x1810_1809)
        var readings = 0
        var errors = 0
        for _ in 0..<100_000 {
            var (characteristic, bytes) = Self.payloads[Int(random.next() % UInt64(Self.payloads.count))]
            for _ in 0...random.next() % 4 {
                switch random.next() % 3 {
                case 0:
                    if !bytes.isEmpty {
                        bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(random.next() & 0xFF)
                    }
                case 1: bytes = Array(bytes.prefix(Int(random.next() % 24)))
                default: bytes.append(UInt8(random.next() & 0xFF))
                }
            }
            do throws(DecodeError) {
                try expectPlain(Profiles.decode(characteristic: characteristic, bytes: bytes))
                readings += 1
            } catch {
                errors += 1
            }
        }
        // Both ways are taken often, or the mutations test nothing.
        #expect(readings > 10_000 && errors > 10_000)
    }

    @Test func anyPacketsAreAValueAPartUnrelatedOrAnError() throws {
        var random = SeededGenerator(seed: 0x181B_1840)
        let valid = Self.payloads.filter { [0x2A9C, 0x2B8B, 0x2BDD].contains($0.characteristic) }
        var complete = 0
        for _ in 0..<20_000 {
            let (characteristic, bytes) = valid[Int(random.next() % UInt64(valid.count))]
            var packets: [[UInt8]] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = rest.prefix(Int(random.next() % 20) + 1)
                rest = rest.dropFirst(part.count)
                let header = (packets.isEmpty ? 1 : 0) | (rest.isEmpty ? 2 : 0) | UInt8(packets.count) << 2
                packets.append([header] + part)
            }
            if random.next() % 2 == 0 {
                let packet = Int(random.next() % UInt64(packets.count))
                packets[packet][Int(random.next() % UInt64(packets[packet].count))] = UInt8(
                    random.next() & 0xFF)
            }
            for count in 1...packets.count {
                for profile in Profiles.all where profile.assemblers[characteristic] != nil {
                    let assembly = try? profile.assemble(Array(packets.prefix(count)), of: characteristic)
                    if case .complete = assembly { complete += 1 }
                }
            }
        }
        #expect(complete > 1_000)
    }

    @Test func aPayloadLongerThanAnAttributeIsRefused() {
        #expect(throws: DecodeError.tooLong(count: 513, limit: 512)) {
            try Profiles.decode(characteristic: 0x2A19, bytes: [UInt8](repeating: 1, count: 513))
        }
    }

    @Test func characteristicsWithoutDecoderAreNamed() {
        #expect(throws: DecodeError.unknownCharacteristic(0x2A99)) {
            try Profiles.decode(characteristic: 0x2A99, bytes: [0])
        }
        #expect(throws: DecodeError.unknownCharacteristic(0x2A35)) {
            try Profile.thermometer.decode([0], of: 0x2A35)
        }
    }

    @Test func profilesAreFoundByName() {
        #expect(Profiles.named("blood-pressure").map { Set($0.sources.map(\.service)) } == [0x1810])
        #expect(Profiles.named("thermometer")?.sources.map(\.characteristic) == [0x2A1C])
        #expect(Profiles.named("glucose-meter") == nil)
    }
}
