import Testing

@testable import IngestProfiles
@testable import IngestReading
@testable import IngestRecords

/// Observations that a generic health sensor has stored: their number, their segments, their names.
@Suite struct StoredObservationTests {
    private static let device = DeviceAddress(BluetoothAddress(value: 0xF1F1_F1F1_F1F1), .random)
    private static let start = MonotonicInstant(nanoseconds: 1_000_000_000_000)

    /// SpO2 98 %, 2021-11-20 11:50:10 UTC.
    private static let observation: [UInt8] = [
        0x01, 0x15, 0x00, 0x03, 0x00, 0xB8, 0x4B, 0x02, 0x00, 0x22, 0x72, 0x9D, 0x2B, 0x29, 0x00, 0x00, 0x06,
        0x00, 0x20, 0x02, 0x62, 0x00, 0x00, 0x00,
    ]
    private static let numbered: [UInt8] = [0x07, 0x00, 0x01, 0x00] + observation
    private static let number = 0x0001_0007

    /// In segments of so many bytes, whose counter begins so.
    private static func segments(_ bytes: [UInt8], of length: Int, counter: UInt8) -> [[UInt8]] {
        let starts = Array(stride(from: 0, to: bytes.count, by: length))
        return starts.enumerated().map { place, start in
            let count = (counter + UInt8(place)) & 0x3F
            return [(place == 0 ? 1 : 0) | (start == starts.last ? 2 : 0) | count << 2]
                + bytes[start...].prefix(length)
        }
    }

    private static func parts(
        of packets: [[UInt8]], _ characteristic: BluetoothUUID, _ joining: inout ValueJoining
    ) -> [ValueJoining.Part] {
        packets.flatMap { packet in
            joining.parts(
                of: ReceivedValue(
                    characteristic: characteristic, value: packet, isIndication: false, received: start),
                at: start)
        }
    }

    private static func joining() -> ValueJoining {
        ValueJoining(profile: .genericHealthSensor, device: device)
    }

    @Test(arguments: [1, 4, 19, 200], [0, 5, 62] as [UInt8])
    func bytesAreTheSameHoweverItIsSent(length: Int, counter: UInt8) {
        var joining = Self.joining()
        let packets = Self.segments(Self.numbered, of: length, counter: counter)
        let stored = Self.parts(of: packets, GenericHealthSensor.stored, &joining)
        #expect(stored.map(\.bytes) == [Self.numbered])
        #expect(stored.map(\.number) == [Self.number])
        #expect(stored.map(\.reading?.sequence) == [Self.number])
        let live = Self.parts(
            of: Self.segments(Self.observation, of: length, counter: counter), GenericHealthSensor.live,
            &joining)
        #expect(live.map(\.bytes) == [Self.observation])
        #expect(live.map(\.number) == [nil])
    }

    @Test func bytesOfARecordDecodeAgain() throws {
        var joining = Self.joining()
        let packets = Self.segments(Self.numbered, of: 19, counter: 3)
        let part = try #require(Self.parts(of: packets, GenericHealthSensor.stored, &joining).first)
        #expect(
            try Profiles.decode(characteristic: GenericHealthSensor.stored, bytes: part.bytes) == part.reading
        )
    }

    @Test func whatIsGivenAnewIsNotJoinedToWhatBrokeOff() {
        var joining = Self.joining()
        let packets = Self.segments(Self.numbered, of: 10, counter: 0)
        #expect(Self.parts(of: [packets[0]], GenericHealthSensor.stored, &joining).isEmpty)
        #expect(joining.takeChanges()?.packets.count == 1)
        joining.drop([GenericHealthSensor.stored])
        #expect(!joining.isIncomplete)
        #expect(joining.takeChanges()?.packets == [])
        let again = Self.segments(Self.numbered, of: 10, counter: 1)
        #expect(Self.parts(of: again, GenericHealthSensor.stored, &joining).map(\.isWhole) == [true])
    }

    @Test func aPartOfAnObservationIsNotWhole() {
        var joining = Self.joining()
        let packets = Self.segments(Self.numbered, of: 10, counter: 0)
        let next = Self.segments(Self.numbered, of: 200, counter: 9)
        let parts = Self.parts(of: [packets[0]] + next, GenericHealthSensor.stored, &joining)
        #expect(parts.map(\.isWhole) == [false, true])
    }

    private static func id(
        _ characteristic: BluetoothUUID, _ bytes: [UInt8],
        _ distinction: RecordIdentity.Distinction = .dateInPayload
    ) -> RecordID {
        let raw = RawPayload(characteristic: characteristic, bytes: bytes)
        let named = distinction == .dateInPayload ? Profile.genericHealthSensor.name(of: raw) : nil
        return RecordIdentity.id(address: device.address, raw: named ?? raw, distinction: distinction)
    }

    @Test func anObservationThatComesLiveAndFromTheMemoryHasOneName() {
        let live = Self.id(GenericHealthSensor.live, Self.observation)
        #expect(Self.id(GenericHealthSensor.stored, Self.numbered) == live)
        #expect(Self.id(GenericHealthSensor.stored, [9, 0, 0, 0] + Self.observation) == live)
        let now = RecordIdentity.Distinction.reception(bootID: "b", Self.start)
        #expect(
            Self.id(GenericHealthSensor.stored, Self.numbered, now)
                != Self.id(GenericHealthSensor.live, Self.observation, now))
        // Shorter than a record number.
        #expect(Self.id(GenericHealthSensor.stored, [1]) != live)
    }
}
