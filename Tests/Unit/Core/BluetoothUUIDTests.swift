import Testing

@testable import IngestCore

@Suite struct BluetoothUUIDTests {
    @Test(arguments: [
        ("1809", "1809"), ("2a1c", "2A1C"), ("0000180900001000800000805F9B34FB", "1809"),
        ("00001809-0000-1000-8000-00805f9b34fb", "1809"),
        ("6e400001-b5a3-f393-e0a9-e50e24dcca9e", "6E400001B5A3F393E0A9E50E24DCCA9E"),
        ("00010000-0000-1000-8000-00805F9B34FB", "0001000000001000800000805F9B34FB"),
        ("0000000000000000000000000000000F", "0000000000000000000000000000000F"),
    ])
    func aUUIDIsWrittenInItsShortestForm(text: String, written: String) {
        #expect(BluetoothUUID(text)?.description == written)
    }

    @Test(arguments: ["", "180", "18090", "180G", "+809", "0x1809", "6e400001-b5a3-f393-e0a9-e50e24dcca9"])
    func whatIsNoUUIDIsRefused(text: String) {
        #expect(BluetoothUUID(text) == nil)
    }

    @Test func theShortFormIsThatOfTheBluetoothBase() {
        let uuid: BluetoothUUID = 0x1809
        #expect(uuid.short == 0x1809)
        #expect(BluetoothUUID(high: uuid.high | 1 << 48, low: uuid.low).short == nil)
        #expect(BluetoothUUID(high: uuid.high, low: uuid.low ^ 1).short == nil)
        #expect(BluetoothUUID(high: uuid.high ^ 1, low: uuid.low).short == nil)
    }
}
