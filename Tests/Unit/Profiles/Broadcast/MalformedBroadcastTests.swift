import TestSupport
import Testing

@testable import IngestProfiles

/// What no list of cases covers: any advert at all gives a reading or an error.
@Suite struct MalformedBroadcastTests {
    /// Service data values, the key and the address of their devices.
    private static let samples: [(hex: String, key: String, address: String)] = [
        ("d2fc40000102CA0903BF131A013A01530248693B010305f1000102040161", "", ""),
        ("d2fc41e445f3c9962b332211006c7c4519", BTHomeTests.key, BTHomeTests.address),
        ("95fe5020aa01a3bf2e3b342d580d1004b40095020a10013b", "", "58:2D:34:3B:2E:BF"),
        ("95fe7022db006fc16fddf9810009002005c60d630d51", "", ""),
        ("95fe40505b0507014804333341410a10013b", "", ""),
        (
            "95fe4859d53b0abc078ff2348c844138e930220000009e538599", "0728974d657a4b60964c1b1677f35f7c",
            "8C:D0:B2:F6:BE:EF"
        ),
        ("1d18229e43e507040b101301", "", ""), ("1b180226b20705040f0201ac018642", "", ""),
    ]

    private static func decode(_ sample: (hex: String, key: String, address: String), _ bytes: [UInt8])
        throws(DecodeError) -> Reading
    {
        try BroadcastFormats.decode(
            bytes, key: BindKey(sample.key), address: BluetoothAddress(sample.address))
    }

    @Test func everyTruncationIsAReadingOfWhatIsThereOrAnError() throws {
        for sample in Self.samples {
            let value = Hex.bytes(sample.hex) ?? []
            let whole = try Self.decode(sample, value)
            for length in 0..<value.count {
                guard let part = try? Self.decode(sample, Array(value.prefix(length))) else { continue }
                // The end of an object is the end of a payload too.
                #expect(whole.measurements.starts(with: part.measurements), "\(sample.hex) \(length)")
            }
        }
    }

    @Test func mutationsGiveAReadingWithPlainNumbersOrAnError() throws {
        var random = SeededGenerator(seed: 0xFCD2_FE95)
        var readings = 0
        var errors = 0
        let values = Self.samples.map { Hex.bytes($0.hex) ?? [] }
        for _ in 0..<40_000 {
            let number = Int(random.next() % UInt64(values.count))
            var bytes = values[number]
            for _ in 0...random.next() % 4 {
                switch random.next() % 4 {
                case 0, 1:
                    if bytes.count > 2 {
                        bytes[2 + Int(random.next() % UInt64(bytes.count - 2))] = UInt8(random.next() & 0xFF)
                    }
                case 2: bytes = Array(bytes.prefix(2 + Int(random.next() % 30)))
                default: bytes.append(UInt8(random.next() & 0xFF))
                }
            }
            if random.next() % 2 == 0 {
                // In an advert, whose length byte may lie.
                let length = UInt8(truncatingIfNeeded: bytes.count + 1)
                bytes =
                    [2, 1, 6, random.next() % 8 == 0 ? UInt8(random.next() & 0xFF) : length, 0x16] + bytes
            }
            do throws(DecodeError) {
                try expectPlain(Self.decode(Self.samples[number], bytes))
                readings += 1
            } catch {
                errors += 1
            }
        }
        // Both ways are taken often, or the mutations test nothing.
        #expect(readings > 4_000 && errors > 4_000, "\(readings) readings, \(errors) errors")
    }

    @Test func dataLongerThanAStructureAreRefused() {
        let value = [0xD2, 0xFC, 0x40] + [UInt8](repeating: 0, count: 300)
        #expect(throws: DecodeError.tooLong(count: 303, limit: 255)) {
            try BroadcastFormats.decode(value, key: nil, address: nil)
        }
    }

    @Test func dataWithoutABroadcastAreNamedSo() {
        for hex in ["", "d2", "020106", "020106030309180a16abcd4002c40903bf13"] {
            #expect(throws: DecodeError.noBroadcast) {
                try BroadcastFormats.decode(Hex.bytes(hex) ?? [], key: nil, address: nil)
            }
        }
    }

    @Test(
        arguments: [
            // bthome.io/format: flags, the name DIY-sensor, temperature and humidity.
            "020106 0B094449592D73656E736F72 0A16D2FC4002C40903BF13",
            // One structure with its length and type, and its value alone.
            "0A16D2FC4002C40903BF13", "D2FC4002C40903BF13",
            // After service data of another owner.
            "051609180000 0A16D2FC4002C40903BF13",
        ])
    func theFirstKnownStructureIsAnswered(hex: String) {
        let answer = DecodeAnswer(advertisement: hex)
        #expect(answer.isDecoded)
        #expect(
            answer.json
                == #"{"ok":true,"kind":"bthome","measurements":[{"type":"temperature","value":25.00,"unit":"Cel"},"#
                + #"{"type":"humidity","value":50.55,"unit":"%"}]}"#)
    }

    @Test func ofTwoBroadcastsTheFirstIsAnswered() {
        let scale = "0D161D18229E43E507040B101301"
        let sensor = "0A16D2FC4002C40903BF13"
        #expect(DecodeAnswer(advertisement: scale + sensor).json.contains("mi-scale"))
        #expect(DecodeAnswer(advertisement: sensor + scale).json.contains("bthome"))
    }

    @Test func anEncryptedAdvertIsAnsweredWithItsCounter() {
        let hex = "020106 1216" + BTHomeTests.sealed
        let answer = DecodeAnswer(
            advertisement: hex, key: BindKey(BTHomeTests.key), address: BluetoothAddress(BTHomeTests.address))
        #expect(answer.json.hasSuffix(#""sequence":1122867}"#))
        #expect(
            DecodeAnswer(advertisement: hex).json
                == #"{"ok":false,"error":"encrypted: the device's bind key is needed"}"#)
        #expect(!DecodeAnswer(advertisement: hex).isDecoded)
    }
}
