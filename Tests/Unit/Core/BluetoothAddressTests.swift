import Testing

@testable import IngestCore

@Suite struct BluetoothAddressTests {
    @Test(
        arguments: [
            ("F1:F1:F1:F1:F1:F1", 0xF1F1_F1F1_F1F1), ("00:11:22:aa:bB:0c", 0x0011_22AA_BB0C),
            ("00:00:00:00:00:00", 0),
        ] as [(String, UInt64)])
    func anAddressIsReadInEitherCaseAndWrittenInUpperCase(text: String, value: UInt64) {
        let address = BluetoothAddress(text)
        #expect(address?.value == value)
        #expect(address?.description == text.uppercased())
    }

    @Test(arguments: [
        "", "F1:F1:F1:F1:F1", "F1:F1:F1:F1:F1:F1:F1", "F1F1F1F1F1F1", "F1-F1-F1-F1-F1-F1",
        "+1:F1:F1:F1:F1:F1",
        "F1:F1:F1:F1:F1:G1", "F1:F1:F1:F1:F1:1", "F1:F1:F1:F1:F1:", " F1:F1:F1:F1:F1:F1", "F1:F1:F1::F1:F1",
        "Ｆ1:F1:F1:F1:F1:F1",
    ])
    func whatIsNoAddressIsRefused(text: String) {
        #expect(BluetoothAddress(text) == nil)
    }

    @Test func onlyTheLower48BitsCount() {
        #expect(BluetoothAddress(value: .max) == BluetoothAddress("FF:FF:FF:FF:FF:FF"))
    }

    @Test(arguments: [
        ("C0:00:00:00:00:01", AddressType.random, false),  // static
        ("80:00:00:00:00:01", .random, true),  // reserved, so nobody's identity
        ("40:00:00:00:00:01", .random, true),  // resolvable private
        ("00:00:00:00:00:01", .random, true),  // non-resolvable private
        ("40:00:00:00:00:01", .public, false),
    ])
    func onlyRandomAddressesThatAreNotStaticArePrivate(text: String, type: AddressType, isPrivate: Bool)
        throws
    {
        let address = try #require(BluetoothAddress(text))
        #expect(DeviceAddress(address, type).isPrivate == isPrivate)
    }
}
