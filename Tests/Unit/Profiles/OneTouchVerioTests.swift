import TestSupport
import Testing

@testable import IngestProfiles

@Suite struct OneTouchVerioTests {
    /// 104 mg/dL on 2026-11-20 at 09:14:57, as the meter keeps it.
    static let record: [UInt8] = [
        0x12, 0xCC, 0x92, 0x32,  // 848 481 298 seconds after 1999-12-31T23:59:59
        0x68, 0x00,  // 104 mg/dL
        0x00,  // no control solution
        0x01,  // the display's unit
        0x00, 0x00, 0x00,  // a test
    ]
    /// As `record` comes over the air, in one packet.
    static let packet: [UInt8] =
        [
            0x01,  // the only packet of its frame
            0x02,  // start
            0x13, 0x00,  // 19 octets
            0x0C,  // control
            0x06,  // done
        ] + record + [
            0x03,  // end
            0xDB, 0x2E,  // checksum
        ]

    private func decode(_ bytes: [UInt8]) throws -> Reading {
        try Profiles.decode(characteristic: OneTouchVerio.notification, bytes: bytes)
    }

    // MARK: Frames

    @Test(
        arguments: [
            (.readClock, [0x01, 0x02, 0x09, 0x00, 0x03, 0x20, 0x02, 0x03, 0xD4, 0x92]),
            (.readHighestNumber, [0x01, 0x02, 0x0A, 0x00, 0x03, 0x0A, 0x02, 0x06, 0x03, 0x0A, 0x3F]),
            (.readCount, [0x01, 0x02, 0x09, 0x00, 0x03, 0x27, 0x00, 0x03, 0x26, 0x71]),
            (.readRecord(0x0123), [0x01, 0x02, 0x0A, 0x00, 0x03, 0xB3, 0x23, 0x01, 0x03, 0xCD, 0x15]),
        ] as [(OneTouchVerio.Command, [UInt8])])
    func aCommandIsOnePacket(command: OneTouchVerio.Command, packet: [UInt8]) {
        #expect(command.packet == packet)
    }

    @Test func theChecksumIsThatOfTheCatalogues() {
        // The check value of CRC-16/CCITT-FALSE.
        #expect(OneTouchVerio.checksum(Array("123456789".utf8)) == 0x29B1)
    }

    @Test func anAnswerHasAStatusAndData() throws {
        let answer = try OneTouchVerio.Answer(frame: Array(Self.packet.dropFirst()))
        #expect(answer.status == .done)
        #expect(answer.data == Self.record)
        #expect(try OneTouchVerio.Answer(frame: OneTouchVerio.frame([0x09])).status == .noSuchRecord)
        #expect(try OneTouchVerio.Answer(frame: OneTouchVerio.frame([0x07, 0x03])).status == .refused(7))
    }

    @Test func everyChangedBitOfAFrameIsFound() {
        let frame = Array(Self.packet.dropFirst())
        for index in frame.indices {
            for bit in 0..<8 {
                var changed = frame
                changed[index] ^= 1 << bit
                #expect(throws: DecodeError.self) { try OneTouchVerio.Answer(frame: changed) }
            }
        }
    }

    @Test func everyPartOfAFrameIsAnError() {
        let frame = Array(Self.packet.dropFirst())
        for length in 0..<frame.count {
            #expect(throws: DecodeError.self) {
                try OneTouchVerio.Answer(frame: Array(frame.prefix(length)))
            }
        }
    }

    @Test(
        arguments: [
            (0x01, .begins(packets: 1)), (0x0F, .begins(packets: 15)), (0x42, .continues(left: 2)),
            (0x81, .acknowledges), (0x00, nil), (0x40, nil), (0x20, nil), (0xC1, nil),
        ] as [(UInt8, OneTouchVerio.PacketHeader?)])
    func aPacketSaysWhatItIs(octet: UInt8, header: OneTouchVerio.PacketHeader?) {
        #expect(OneTouchVerio.PacketHeader(octet) == header)
    }

    // MARK: Records

    @Test func aRecordIsReadAloneInItsFrameAndInItsPacket() throws {
        let reading = Reading(
            kind: .glucose, measurements: [measured("glucose", 160184, 104, exponent: 0, "mg/dL")],
            deviceTime: DeviceTime(year: 2026, month: 11, day: 20, hours: 9, minutes: 14, seconds: 57))
        #expect(try decode(Self.record) == reading)
        #expect(try decode(Array(Self.packet.dropFirst())) == reading)
        #expect(try decode(Self.packet) == reading)
    }

    @Test(
        arguments: [
            (4, 0x00, "glucose"),  // 0 mg/dL
            (5, 0x80, "glucose"),  // a negative number
            (6, 0x01, "control solution"),
            (8, 0x01, "kind of record"), (9, 0x01, "kind of record"), (10, 0x80, "kind of record"),
        ] as [(Int, UInt8, String)])
    func whatIsNoTestOfBloodIsNoReading(index: Int, octet: UInt8, field: String) {
        var record = Self.record
        record[index] = octet
        #expect(throws: DecodeError.prohibitedValue(field: field)) { try decode(record) }
    }

    @Test func theDisplaysUnitChangesNothing() throws {
        var record = Self.record
        record[7] = 0x00
        #expect(try decode(record) == decode(Self.record))
    }

    @Test(
        arguments: [(0xFFFF_FFFF, 1999, 58), (0, 1999, 59), (0x7FFF_FFFF, 2068, 6), (0x8000_0000, 1931, 51)]
            as [(UInt32, Int, Int)])
    func timesReachAsFarAsTheirNumber(seconds: UInt32, year: Int, second: Int) throws {
        let octets = (0..<4).map { UInt8(truncatingIfNeeded: seconds >> ($0 * 8)) }
        let time = try #require(try decode(octets + Self.record.dropFirst(4)).deviceTime)
        #expect(time.year == year && time.seconds == second)
    }

    @Test func whatIsNoRecordIsAnError() throws {
        for length in 0..<Self.record.count {
            #expect(throws: DecodeError.self) { try decode(Array(Self.record.prefix(length))) }
        }
        #expect(throws: DecodeError.tooLong(count: 12, limit: 11)) { try decode(Self.record + [0]) }
        #expect(throws: DecodeError.checksumMismatch(field: "checksum")) {
            try decode(Self.packet.dropLast() + [0x00])
        }
        let refusal = OneTouchVerio.frame([0x07] + Self.record)
        #expect(throws: DecodeError.prohibitedValue(field: "status")) { try decode(refusal) }
    }

    @Test func anyBytesGiveAReadingOrAnError() {
        var random = SeededGenerator(seed: 0xF7A3)
        var readings = 0
        for _ in 0..<50_000 {
            var bytes = [Self.record, Self.packet, Array(Self.packet.dropFirst())][Int(random.next() % 3)]
            for _ in 0..<random.next() % 3 {
                let index = Int(random.next() % UInt64(bytes.count))
                bytes[index] = UInt8(random.next() & 0xFF)
            }
            if random.next() % 8 == 0 { bytes.removeLast(Int(random.next() % UInt64(bytes.count))) }
            if let reading = try? decode(bytes) {
                readings += 1
                #expect(reading.deviceTime?.isPossible == true)
            }
        }
        #expect((10_000..<45_000).contains(readings))
    }
}
