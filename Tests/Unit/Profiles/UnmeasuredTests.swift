import TestSupport
import Testing

@testable import IngestProfiles

/// What devices send where they have measured nothing, as their owners captured it.
@Suite struct UnmeasuredTests {
    private func absences(_ hex: String, _ characteristic: BluetoothUUID) throws -> [String: AbsentReason] {
        let bytes = try #require(Hex.bytes(hex))
        let reading = try Profiles.decode(characteristic: characteristic, bytes: bytes)
        return Dictionary(
            reading.measurements.compactMap { measurement in
                guard case .absent(let reason) = measurement.value else { return nil }
                return (measurement.type, reason)
            }, uniquingKeysWith: { first, _ in first })
    }

    private func isUnmeasured(_ hex: String, _ characteristic: BluetoothUUID) throws -> Bool {
        try Profiles.decode(characteristic: characteristic, bytes: try #require(Hex.bytes(hex))).isUnmeasured
    }

    /// Beurer BM85: the mean pressure is 0, the others are right.
    @Test func aMeanPressureOfZeroIsAbsent() throws {
        let hex = "566A0047000000EA07080B121F00003F000000"
        #expect(try absences(hex, 0x2A35) == ["mean-arterial-pressure": .notMeasured])
        #expect(try !isUnmeasured(hex, 0x2A35))
    }

    /// Beurer BF788: all but the basal metabolism is 0.
    @Test func aBodyCompositionOfZerosIsAbsent() throws {
        let hex = "9803000096230000000000000000"
        let zeros = ["body-fat", "muscle-percentage", "soft-lean-mass", "body-water-mass", "impedance"]
        #expect(
            try absences(hex, 0x2A9C) == Dictionary(uniqueKeysWithValues: zeros.map { ($0, .notMeasured) }))
        #expect(try !isUnmeasured(hex, 0x2A9C))
    }

    /// A meter fills the field with FFFF, which is -10000 mg/dL by the letter.
    @Test(arguments: ["030100E407030E1717000000FFFF11", "030100E407030E1717000000000011"])
    func aGlucoseOfZeroOrBelowIsAbsent(hex: String) throws {
        #expect(try absences(hex, 0x2A18) == ["glucose": .notMeasured])
        #expect(try isUnmeasured(hex, 0x2A18))
    }

    /// PM 100, off the finger: 0, or the last value.
    @Test(arguments: ["1C0000000000002008 0000F0", "1C6100000000002008 0000F0"])
    func anOximeterOffTheFingerMeasuresNothing(hex: String) throws {
        let hex = hex.filter { $0 != " " }
        #expect(
            try absences(hex, 0x2A5F) == [
                "spo2": .notMeasured, "pulse-rate": .notMeasured, "pulse-amplitude-index": .notMeasured,
            ])
        #expect(try isUnmeasured(hex, 0x2A5F))
    }

    /// Measurement status in bits 13 and 15, device status in bits 1 and 14.
    @Test(arguments: [
        "0C6100480000200000 00", "0C6100480000800000 00", "0C6100480000000200 00", "0C6100480000000040 00",
    ])
    func whatAnOximeterCallsUnusableIsAbsentAndStaysAReading(hex: String) throws {
        let hex = hex.filter { $0 != " " }
        #expect(try absences(hex, 0x2A5F) == ["spo2": .markedUnusable, "pulse-rate": .markedUnusable])
        #expect(try !isUnmeasured(hex, 0x2A5F))
    }

    @Test(
        arguments: [
            // 2A9D: weight 0, alone and beside BMI and height.
            ("000000", 0x2A9D, true), ("08 0000 DC00 D606", 0x2A9D, true),
            ("08 B80B 0000 0000", 0x2A9D, false),
            // One that failed, in the device's words.
            ("00 FFFF", 0x2A9D, false),
            // 2A35: all of zeros, and with a pulse.
            ("00 0000 0000 0000", 0x2A35, true), ("04 0000 0000 0000 4800", 0x2A35, false),
            ("04 7800 5000 5D00 0000", 0x2A35, false),
            // 2A37: 0, with intervals.
            ("10 00 5503", 0x2A37, true), ("10 48 5503", 0x2A37, false),
            // 2A5E: a spot-check of 0.
            ("00 0000 0000", 0x2A5E, true), ("00 6100 0000", 0x2A5E, false),
            // 2AA7: a sensor that warms up.
            ("06 00 0000 0500", 0x2AA7, true), ("06 00 7800 0500", 0x2AA7, false),
            // 2A1C: no temperature is impossible by itself.
            ("00 000000 00", 0x2A1C, false),
            // 2A36: a cuff begins at 0.
            ("00 0000 FF07 FF07", 0x2A36, false),
        ] as [(String, BluetoothUUID, Bool)])
    func nothingWasMeasuredWhereAllOfItIsAbsent(hex: String, source: BluetoothUUID, isSo: Bool) throws {
        #expect(try isUnmeasured(hex.filter { $0 != " " }, source) == isSo)
    }
}
