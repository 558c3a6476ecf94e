import Testing

@testable import IngestCore
@testable import IngestProfiles
@testable import IngestRecords

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

    /// Device Information Service 1.2, 3.7: the manufacturer's 40 bits, then the company's 24, the lowest octet first.
    @Test(
        arguments: [
            ("debc9afeff563412", "123456FFFE9ABCDE"), ("0000000000000000", nil), ("ffffffffffffffff", nil),
            ("debc9afeff5634", nil), ("debc9afeff56341200", nil), ("", nil),
        ] as [(String, String?)])
    func aSystemIDIsAnEUI64(hex: String, id: String?) throws {
        #expect(DeviceInformation.systemID(try #require(Hex.bytes(hex))) == id)
    }

    @Test(
        arguments: [
            (
                [0x0F] + Array("L\0D\0I\0A\0".utf8),
                UniqueDeviceIdentifier(label: "L", deviceIdentifier: "D", issuer: "I", authority: "A")
            ),
            ([0x02] + Array("D\0".utf8), UniqueDeviceIdentifier(deviceIdentifier: "D")),
            // The last text may lack its NUL; bits that are reserved say nothing.
            ([0xF9] + Array("L\0A".utf8), UniqueDeviceIdentifier(label: "L", authority: "A")),
            // Fewer texts than the flags announce, and more.
            ([0x0F] + Array("L\0".utf8), UniqueDeviceIdentifier(label: "L")),
            ([0x01] + Array("L\0D\0".utf8), UniqueDeviceIdentifier(label: "L")),
            // An empty text is none.
            ([0x03] + Array("\0D\0".utf8), UniqueDeviceIdentifier(deviceIdentifier: "D")),
            ([0x0F], nil), ([0x00], nil), ([], nil), ([0x00] + Array("L\0".utf8), nil),
            (
                [0x03] + [UInt8](repeating: 0x41, count: 511),
                UniqueDeviceIdentifier(label: String(repeating: "A", count: 160))
            ),
        ] as [([UInt8], UniqueDeviceIdentifier?)])
    func aUDIHasTheTextsThatItsFlagsAnnounce(bytes: [UInt8], udi: UniqueDeviceIdentifier?) {
        #expect(DeviceInformation.udi(bytes) == udi)
    }
}
