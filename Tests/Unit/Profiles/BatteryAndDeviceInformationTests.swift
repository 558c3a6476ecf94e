import Testing

@testable import IngestProfiles

@Suite struct BatteryAndDeviceInformationTests {
    @Test(arguments: [([0], 0), ([90], 90), ([100], 100), ([55, 1, 2], 55)] as [([UInt8], Int)])
    func batteryLevelIsAPercentage(bytes: [UInt8], percent: Int) throws {
        #expect(try BatteryLevel.percent(bytes) == percent)
    }

    @Test func prohibitedOrMissingBatteryLevelsAreErrors() {
        #expect(throws: DecodeError.prohibitedValue(field: "battery level")) {
            try BatteryLevel.percent([101])
        }
        #expect(throws: DecodeError.truncated(field: "battery level", needed: 1, had: 0)) {
            try BatteryLevel.percent([])
        }
    }

    @Test(
        arguments: [
            (Array("ACME".utf8), "ACME"),
            (Array("ACME\0\0\0".utf8), "ACME"),
            (Array("ACME\0old text".utf8), "ACME"),
            (Array("  BP 100 \r\n".utf8), "BP 100"),
            (Array("A\u{01}B\u{7F}\u{85}C".utf8), "ABC"),
            (Array("Größe ✓".utf8), "Größe ✓"),
            ([0x41, 0xFF, 0x42], "A\u{FFFD}B"),  // invalid UTF-8 in the middle
            ([0x41, 0xE2, 0x9C], "A\u{FFFD}"),  // a character cut short
            ([], nil), ([0, 0x41], nil), ([0x20, 0x09, 0x0A], nil),
            ([UInt8](repeating: 0x41, count: 512), String(repeating: "A", count: 88)),
            // 29 characters of 3 bytes are 87: the thirtieth does not fit, and nothing is cut in two.
            (Array(String(repeating: "✓", count: 40).utf8), String(repeating: "✓", count: 29)),
        ] as [([UInt8], String?)])
    func textIsTrimmedRepairedAndBounded(bytes: [UInt8], text: String?) {
        #expect(DeviceInformation.text(bytes) == text)
    }
}
