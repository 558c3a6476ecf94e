import Testing

@testable import IngestProfiles

/// Frames that others published: the tests of xiaomi-ble (tests/test_parser.py), and examples of
/// "Mijia BLE Object Definition".
@Suite struct MiBeaconTests {
    static func broadcast(
        _ hex: String, key: String? = nil, address: String? = nil
    ) throws -> Broadcast {
        let value = try #require(Hex.bytes("95fe" + hex))
        let structure = try #require(BroadcastFormat.mibeacon.structure(value))
        return try BroadcastFormat.mibeacon.decode(
            structure, key: key.flatMap { BindKey($0) }, address: address.flatMap { BluetoothAddress($0) })
    }

    /// A frame of version 5 without address and capability: control 0x5040 (objects), product 0x055B,
    /// frame counter 7.
    private static func plain(_ objects: String, product: String = "5b05") throws -> Reading {
        try broadcast("4050" + product + "07" + objects).reading
    }

    private static func texts(_ reading: Reading) -> [String] {
        reading.measurements.map { measurement in
            guard case .exact(let number) = measurement.value else { return measurement.type }
            return "\(measurement.type) \(number) \(measurement.unit)"
        }
    }

    @Test func everyFieldOfAFrameIsRead() throws {
        // LYWSDCGQ.
        let frame =
            "5020"  // frame control 0x2050: version 2, objects, address
            + "aa01"  // product 0x01AA
            + "a3"  // frame counter
            + "bf2e3b342d58"  // 58:2D:34:3B:2E:BF
            + "0d1004b4009502"  // temperature 18.0 and humidity 66.1
            + "0a10013b"  // battery 59
        let broadcast = try Self.broadcast(frame, address: "58:2D:34:3B:2E:BF")
        #expect(Self.texts(broadcast.reading) == ["temperature 18.0 Cel", "humidity 66.1 %", "battery 59 %"])
        #expect(broadcast.reading.sequence == 0xA3)
        #expect(broadcast.packetID == 0xA3)
        #expect(broadcast.counter == nil)
        #expect(!broadcast.isEncrypted)
        #expect(throws: DecodeError.otherAddress) {
            try Self.broadcast(frame, address: "58:2D:34:3B:2E:BE")
        }
    }

    @Test(
        arguments: [
            // LYWSD03MMC, version 3.
            ("50305b05034c94b438c1a40d10041001ea01", ["temperature 27.2 Cel", "humidity 49.0 %"]),
            // HHCCJCY01, version 2 with capability 0x0D.
            ("71209800667a3e6a8d7cc40d071003000000", ["illuminance 0 lx"]),
            ("71209800687a3e6a8d7cc40d0910025702", ["soil-conductivity 599 uS/cm"]),
            ("71209800477a3e6a8d7cc40d08100140", ["soil-moisture 64 %"]),
            ("71209800697a3e6a8d7cc40d041002f400", ["temperature 24.4 Cel"]),
            // JQJCY01YM.
            ("5040df0201df02008d7cc41010027d00", ["formaldehyde 1.25 mg/m3"]),
            // MMC-T201: skin and board, not the body.
            (
                "7022db006fc16fddf9810009002005c60d630d51",
                ["skin-temperature 35.26 Cel", "pcb-temperature 34.27 Cel", "battery 81 %"]
            ),
            // MMC-W505.
            ("702291030fdbab531824d0090a0002750d07", ["body-temperature 34.45 Cel"]),
            // ESM787, version 5.
            ("5059db780df4f80238c1a40d1004eb00e701", ["temperature 23.5 Cel", "humidity 48.7 %"]),
        ])
    func aPublishedFrameIsRead(frame: String, measurements: [String]) throws {
        #expect(Self.texts(try Self.broadcast(frame).reading) == measurements)
    }

    @Test(
        arguments: [
            // CGG1.
            (
                "5858480b685f12342d585a0b1841e2aa000e00a4964fb5", "814aac74c4f17b6c1581e1ab87816b99",
                "5A:58:2D:34:12:5F", ["humidity 59.6 %"]
            ),
            // LYWSD02MMC: a number of IEEE 754.
            (
                "4858422529202d8c7a76b756a82a0078b8224e", "19b1c678ab0a8bc3dc77765f059188d4",
                "A4:C1:38:0E:FD:78", ["temperature 26.1 Cel"]
            ),
            (
                "585842258878fd0e38c1a405f6538aa72a0062b1a966", "19b1c678ab0a8bc3dc77765f059188d4",
                "A4:C1:38:0E:FD:78", ["humidity 38 %"]
            ),
            // CGDK3, whose address is not in the frame.
            (
                "4858594fef546f0e7450729321010038d74333", "872ea1bb02ba9713e885cb054c537368",
                "58:2D:34:87:94:0C", ["temperature 23.8 Cel"]
            ),
            // LYWSD03MMC.
            (
                "58585b0550f4830238c1a495ef58763c26000097e2abb5", "e9ea895fac7cca6d30532432a516f3a8",
                "A4:C1:38:02:83:F4", ["humidity 46.7 %"]
            ),
            // Scale S200.
            (
                "4859044c019a80a275939010f0abc4fadc0600003d29c044", "653b1b10e1cb35e4ac5e60fa45f3bf29",
                "D0:7B:6F:27:D7:29", ["weight 62.25 kg"]
            ),
            // Scale S400: the two adverts of a weighing, one with socks on, one without anybody.
            (
                "4859d53b0abc078ff2348c844138e930220000009e538599", "0728974d657a4b60964c1b1677f35f7c",
                "8C:D0:B2:F6:BE:EF", ["weight 69.9 kg", "heart-rate 92 /min", "impedance-low 543.2 Ohm"]
            ),
            (
                "4859d53b0bd6ef0b25db72785e7e2f46d6000000d8642df6", "0728974d657a4b60964c1b1677f35f7c",
                "8C:D0:B2:F6:BE:EF", ["impedance-high 497.6 Ohm"]
            ),
            (
                "4859d53b71530438b5894b242c209908da000000479ecda3", "02d2900363ef629c736a4549677acbee",
                "04:AE:47:67:C6:7C", ["weight 74.7 kg"]
            ),
            (
                "4859d53b72036c6794355a19dbc864bfb3000000e4151dc8", "02d2900363ef629c736a4549677acbee",
                "04:AE:47:67:C6:7C", []
            ),
        ])
    func aPublishedEncryptedFrameIsRead(
        frame: String, key: String, address: String, measurements: [String]
    ) throws {
        let broadcast = try Self.broadcast(frame, key: key, address: address)
        #expect(Self.texts(broadcast.reading) == measurements)
        #expect(broadcast.isReading == !measurements.isEmpty)
        #expect(broadcast.isEncrypted)
        #expect(throws: DecodeError.keyNeeded) { try Self.broadcast(frame, address: address) }
        #expect(throws: DecodeError.keyMismatch) {
            try Self.broadcast(frame, key: String(key.reversed()), address: address)
        }
    }

    @Test func aWeightOfAllBitsIsNoWeight() throws {
        // Scale S400 Pro: heart rate and impedance, impedance alone, nothing.
        let frames = [
            ("4020d93007166e0907ff1fd5156b13b1ff", ["heart-rate 85 /min", "impedance-low 139.7 Ohm"]),
            ("4020d93008166e0907ff07d4156b13b1ff", ["impedance-high 139.7 Ohm"]),
            ("4020d93009166e0907ff0700006b13b1ff", []),
        ]
        for (frame, measurements) in frames {
            let reading = try Self.broadcast(frame).reading
            #expect(Self.texts(reading) == measurements)
            #expect(reading.user == (measurements.isEmpty ? nil : 7))
        }
    }

    @Test func theCounterIsRandomNumberAndFrameCounter() throws {
        // LYWSD03MMC: frame counter 0x50, random number 26 00 00.
        let broadcast = try Self.broadcast(
            "58585b0550f4830238c1a495ef58763c26000097e2abb5", key: "e9ea895fac7cca6d30532432a516f3a8")
        #expect(broadcast.counter == 0x2650)
        #expect(broadcast.packetID == 0x50)
    }

    @Test func theScalesSayWhoStandsOnThem() throws {
        let broadcast = try Self.broadcast(
            "4859044c019a80a275939010f0abc4fadc0600003d29c044", key: "653b1b10e1cb35e4ac5e60fa45f3bf29",
            address: "D0:7B:6F:27:D7:29")
        #expect(broadcast.reading.user == 1)
    }

    @Test func anEncryptedFrameWithoutAddressNeedsIt() {
        #expect(throws: DecodeError.addressNeeded) {
            try Self.broadcast(
                "4858594fef546f0e7450729321010038d74333", key: "872ea1bb02ba9713e885cb054c537368")
        }
    }

    @Test func encryptionThatShowsNoWrongKeyIsRefused() {
        // YLKG07YL, version 3.
        #expect(throws: DecodeError.unverifiable) {
            try Self.broadcast(
                "5830b603d28b98c54124f8c3491476757e00000099", key: "e9ea895fac7cca6d30532432a516f3a8")
        }
    }

    @Test(
        arguments: [
            ("04100219ff", ["temperature -23.1 Cel"]),  // 0xFF19 is -231
            ("0410021a01", ["temperature 28.2 Cel"]),
            ("0a0002a70e", ["body-temperature 37.51 Cel"]),
            ("0a100164", ["battery 100 %"]),
            ("031001c4", ["rssi -60 dB{mW}"]),
            ("1a1002f401", ["weight 500 g"]),
            ("120003f40101", ["weight 500 g"]),
            ("032003102740", ["steps 10000 1", "heart-rate 64 /min"]),
            ("02480130", ["humidity 48 %"]),
            ("01480466e6d141", ["temperature 26.2375 Cel"]),  // 26.237499237060547 in full
            ("0148040000c041", ["temperature 24 Cel"]),
            ("0148040000c0ff", ["temperature"]),  // not a number
            ("014804000080ff", ["temperature"]),  // negative infinity
        ])
    func anObjectIsRead(object: String, measurements: [String]) throws {
        #expect(Self.texts(try Self.plain(object)) == measurements)
    }

    @Test(
        arguments: [
            ("02100101", ["asleep"]), ("02100100", ["awake"]), ("02100107", []), ("1c100101", ["in-bed"]),
            ("1c100100", ["out-of-bed"]), ("120003f40102", ["weight-increased"]),
            // A door, which is not decoded, alone and with another object.
            ("19100100", ["unknown-object"]), ("1910010002100101", ["asleep", "unknown-object"]),
        ])
    func aStateIsAFlag(objects: String, flags: [String]) throws {
        #expect(try Self.plain(objects).flags == flags)
    }

    @Test func theScalesObjectsCountForTheirProductsOnly() throws {
        let s400 = "166e09" + "01" + "bb52e154" + "00000000"
        #expect(try Self.plain(s400).measurements.isEmpty)
        #expect(try Self.plain(s400).flags == ["unknown-object"])
        #expect(try Self.plain(s400, product: "d53b").measurements.count == 3)
    }

    @Test func capabilitiesAreSteppedOver() throws {
        // Control 0x5060: capability and objects; capability 0x28: two bytes follow.
        let reading = try Self.broadcast("6050" + "5b05" + "07" + "28" + "0100" + "0a10013b").reading
        #expect(Self.texts(reading) == ["battery 59 %"])
    }

    @Test(
        arguments: [
            // Version 5, address, no objects; and with the flag for encryption.
            "1059db780df4f80238c1a4", "1859db780df4f80238c1a4",
        ])
    func aFrameWithoutObjectsIsNoReading(frame: String) throws {
        #expect(try !Self.broadcast(frame).isReading)
    }

    @Test(arguments: [("4010", "MiBeacon version"), ("4060", "MiBeacon version"), ("c050", "mesh flag")])
    func anotherVersionAndMeshAreRefused(control: String, field: String) {
        #expect(throws: DecodeError.prohibitedValue(field: field)) {
            try Self.broadcast(control + "5b05070a10013b")
        }
    }
}
