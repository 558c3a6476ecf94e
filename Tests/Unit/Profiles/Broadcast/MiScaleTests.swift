import Testing

@testable import IngestProfiles

/// Payloads that others published: openScale's wiki, "Xiaomi Bluetooth Mi Scale", and the tests of
/// xiaomi-ble (tests/test_parser.py).
@Suite struct MiScaleTests {
    static func broadcast(_ hex: String) throws -> Broadcast {
        let value = try #require(Hex.bytes(hex))
        let structure = try #require(BroadcastFormat.miScale.structure(value))
        return try BroadcastFormat.miScale.decode(structure, key: nil, address: nil)
    }

    private static func texts(_ reading: Reading) -> [String] {
        reading.measurements.map { measurement in
            guard case .exact(let number) = measurement.value else { return measurement.type }
            return "\(measurement.type) \(number) \(measurement.unit)"
        }
    }

    @Test func theFirstScaleSendsWeightAndDate() throws {
        let broadcast = try Self.broadcast(
            "1d18"  // UUID 181D
                + "62"  // status: stabilised; bit 6 is not known
                + "ac49"  // 18860 times 5 g
                + "e0070c140d1c04")  // 2016-12-20 13:28:04
        #expect(Self.texts(broadcast.reading) == ["weight 94.300 kg"])
        #expect(
            broadcast.reading.deviceTime
                == DeviceTime(year: 2016, month: 12, day: 20, hours: 13, minutes: 28, seconds: 4))
        #expect(broadcast.reading.kind == .miScale)
        #expect(broadcast.isReading)
        #expect(!broadcast.awaitsMore)
    }

    @Test func theSecondScaleSendsImpedanceToo() throws {
        let broadcast = try Self.broadcast(
            "1b18"  // UUID 181B
                + "0226"  // status: stabilised, impedance stabilised
                + "b20705040f0201"  // 1970-05-04 15:02:01
                + "ac01"  // 428 Ohm
                + "8642")  // 17030 times 5 g
        #expect(Self.texts(broadcast.reading) == ["weight 85.150 kg", "impedance 428 Ohm"])
        #expect(broadcast.reading.deviceTime?.year == 1970)
        #expect(!broadcast.awaitsMore)
    }

    @Test(
        arguments: [
            // xiaomi-ble's: settled, and gone down since.
            ("1d18229e43e507040b101301", ["weight 86.550 kg"], []),
            ("1d18a22044b20701010a1a15", ["weight 87.200 kg"], []),
            // Pounds and jin: 17310 times 0.01.
            ("1d18239e43e507040b101301", ["weight 173.10 [lb_av]"], []),
            ("1d18329e43e507040b101301", ["weight 86.550 kg"], ["unit-jin"]),
            ("1b180326b20705040f0201ac018642", ["weight 170.30 [lb_av]", "impedance 428 Ohm"], []),
            ("1b180266b20705040f0201ac018642", ["weight 85.150 kg", "impedance 428 Ohm"], ["unit-jin"]),
            // Not settled, and empty.
            ("1d18821400e507040b101708", [], ["not-stabilised"]), ("1d18800000e507040b101301", [], []),
            ("1b180204b207010112101a0000a852", [], ["not-stabilised"]),
            ("1b180282b20705040f020100000000", [], []),
            // No impedance: none announced, and none in the field (seen from a scale).
            ("1b180224b20705040f0201ac018642", ["weight 85.150 kg"], []),
            ("1b1802a6b2070213063335fdffec09", ["weight 12.700 kg"], []),
        ])
    func onlyASettledWeightIsAReading(hex: String, measurements: [String], flags: [String]) throws {
        let broadcast = try Self.broadcast(hex)
        #expect(Self.texts(broadcast.reading) == measurements)
        #expect(broadcast.reading.flags == flags)
        #expect(broadcast.isReading == !measurements.isEmpty)
    }

    @Test(
        arguments: [
            ("1b180224b20705040f020100008642", true), ("1b1802a4b20705040f020100008642", false),
            ("1b180226b20705040f0201ac018642", false), ("1d18229e43e507040b101301", false),
        ])
    func theImpedanceIsAwaitedWhileThePersonStandsThere(hex: String, awaits: Bool) throws {
        #expect(try Self.broadcast(hex).awaitsMore == awaits)
    }

    @Test func oneWeighingIsOneContentWhateverElseTheScaleSaysOfIt() throws {
        let settled = try Self.broadcast("1b180224b20705040f020100008642")
        let removed = try Self.broadcast("1b1802a4b20705040f020100008642")
        let whole = try Self.broadcast("1b1802a6b20705040f0201ac018642")
        #expect(settled.contents == removed.contents)
        #expect(whole.contents.contains { settled.contents == [$0] })
        let next = try Self.broadcast("1b180224b20705040f020200008642")
        #expect(next.contents != settled.contents)
    }

    @Test func aDateThatIsNotKnownOrDoesNotExistKeepsTheWeight() throws {
        #expect(try Self.broadcast("1d18229e43000000000a0000").reading.deviceTime == nil)
        let impossible = try Self.broadcast("1d18229e43e5070d0b101301").reading
        #expect(impossible.flags == ["device-time-invalid"])
        #expect(impossible.measurements.count == 1)
    }

    @Test(arguments: [("1d18229e43e507040b10130100", 10), ("1b180226b20705040f0201ac01864200", 13)])
    func dataOfAnotherLengthAreNotAMiScales(hex: String, length: Int) {
        #expect(throws: DecodeError.tooLong(count: length + 1, limit: length)) { try Self.broadcast(hex) }
    }
}
