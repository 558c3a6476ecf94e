import Testing

@testable import IngestRecords

/// The first four are the worked examples of docs/records.md. The expected ids come from Python:
/// `uuid.uuid5(uuid.UUID("02322d06-b248-45e8-8c81-81d8effc6022"), name)`.
@Suite struct RecordIdentityTests {
    private static let bootID = "3b0f7c1e-8f0e-4c0a-9d37-5b1a6f0c2d11"

    private func check(
        _ address: String, _ characteristic: BluetoothUUID?, _ hex: String,
        _ distinction: RecordIdentity.Distinction, name: String, id: String
    ) throws {
        let address = try #require(BluetoothAddress(address))
        let raw = RawPayload(characteristic: characteristic, bytes: try #require(Hex.bytes(hex)))
        #expect(RecordIdentity.name(address: address, raw: raw, distinction: distinction) == name)
        #expect(RecordIdentity.id(address: address, raw: raw, distinction: distinction).text == id)
    }

    @Test func aDatedPayloadIsNamedByItsBytesAlone() throws {
        try check(
            "f1:f1:f1:f1:f1:f1", 0x2A35, "1e8a0055006600e807060f11111b4800010400", .dateInPayload,
            name: "F1:F1:F1:F1:F1:F1|2A35|1e8a0055006600e807060f11111b4800010400|",
            id: "212439d9-1b6a-5d07-8092-9420fec8b57f")
    }

    @Test func anUndatedPayloadIsNamedByItsReceptionToo() throws {
        try check(
            "0C:B2:B7:00:11:22", 0x2A1C, "006e0100ff",
            .reception(bootID: Self.bootID, MonotonicInstant(nanoseconds: 734_512_000_000)),
            name: "0C:B2:B7:00:11:22|2A1C|006e0100ff|\(Self.bootID):734512000000",
            id: "b85950f9-9fc1-5e97-93ff-39129553f40b")
    }

    @Test func aBroadcastHasNoCharacteristic() throws {
        try check(
            "A4:C1:38:00:11:22", nil, "d2fc4000010161025409",
            .reception(bootID: Self.bootID, MonotonicInstant(nanoseconds: .max)),
            name: "A4:C1:38:00:11:22|ADV|d2fc4000010161025409|\(Self.bootID):18446744073709551615",
            id: "dc9f0cfd-5935-5869-b04e-0044ede27074")
    }

    @Test func aValueThatCountsFromAnotherTimeIsNamedByThatToo() throws {
        try check(
            "C0:26:DA:00:11:22", 0x2AA7, "060078000500",
            .base(DeviceTime(year: 2026, month: 11, day: 20, hours: 8, minutes: 0, seconds: 0)),
            name: "C0:26:DA:00:11:22|2AA7|060078000500|2026-11-20T08:00:00",
            id: "58452446-5729-54a8-93ae-84fae65d0c75")
    }

    @Test func aVendorsCharacteristicHas32Digits() throws {
        try check(
            "F1:F1:F1:F1:F1:F1", BluetoothUUID(high: 0x0000_FEE7_0000_1000, low: 0x8000_0080_5F9B_34FC), "00",
            .dateInPayload, name: "F1:F1:F1:F1:F1:F1|0000FEE700001000800000805F9B34FC|00|",
            id: "3fdcc159-10aa-5927-876c-1b182583a63b")
    }
}
