import Testing

@testable import IngestProfiles

/// The examples of bthome.io/format and bthome.io/encryption, and what they leave open.
@Suite struct BTHomeTests {
    static let address = "54:48:E6:8F:80:A5"
    static let key = "231d39c1d7cc1ab1aee224cd096db932"

    /// The objects after UUID and device information 0x40: not encrypted, regular, version 2.
    static func plain(_ objects: String) throws -> Broadcast {
        try broadcast("d2fc40" + objects)
    }

    static func broadcast(
        _ hex: String, key: String? = nil, address: String? = nil
    ) throws -> Broadcast {
        let value = try #require(Hex.bytes(hex))
        let structure = try #require(BroadcastFormat.bthome.structure(value))
        return try BroadcastFormat.bthome.decode(
            structure, key: key.flatMap { BindKey($0) }, address: address.flatMap { BluetoothAddress($0) })
    }

    @Test(
        arguments: [
            ("518756", "acceleration", "22.151", "m/s2"), ("630057D0FF", "acceleration", "-3.123456", "m/s2"),
            ("0161", "battery", "97", "%"), ("6001", "channel", "1", "1"), ("12E204", "co2", "1250", "[ppm]"),
            ("56E803", "conductivity", "1000", "uS/cm"), ("0960", "count", "96", "1"),
            ("3D0960", "count", "24585", "1"), ("3E2A2C0960", "count", "1611213866", "1"),
            ("59EA", "count", "-22", "1"), ("5AEAEA", "count", "-5398", "1"),
            ("5BEA0234EA", "count", "-365690134", "1"), ("434E34", "current", "13.390", "A"),
            ("5D02EA", "current", "-5.630", "A"), ("08CA06", "dewpoint", "17.38", "Cel"),
            ("5E9F8C", "direction", "359.99", "deg"), ("400C00", "distance", "12", "mm"),
            ("414E00", "distance", "7.8", "m"), ("424E3400", "duration", "13.390", "s"),
            ("4d12138a14", "energy", "344593.170", "kW.h"), ("0A138A14", "energy", "1346.067", "kW.h"),
            ("4B138A14", "gas", "1346.067", "m3"), ("4C41018A01", "gas", "25821.505", "m3"),
            ("528756", "gyroscope", "22.151", "deg/s"), ("03BF13", "humidity", "50.55", "%"),
            ("2E23", "humidity", "35", "%"), ("05138A14", "illuminance", "13460.67", "lx"),
            ("6402", "light-level", "2", "1"), ("065E1F", "mass", "80.30", "kg"),
            ("073E1D", "mass", "74.86", "[lb_av]"), ("14020C", "moisture", "30.74", "%"),
            ("2F23", "moisture", "35", "%"), ("0D120C", "pm2-5", "3090", "ug/m3"),
            ("0E021C", "pm10", "7170", "ug/m3"), ("0B021B00", "power", "69.14", "W"),
            ("5C02FBFFFF", "power", "-12.78", "W"), ("5FA00F", "precipitation", "400.0", "mm"),
            ("04138A01", "pressure", "1008.83", "hPa"), ("3F020C", "rotation", "307.4", "deg"),
            ("61AC0D", "rotational-speed", "3500", "/min"), ("6503", "settings-revision", "3", "1"),
            ("444E34", "speed", "133.90", "m/s"), ("624099DFFF", "speed", "-2.123456", "m/s"),
            ("57EA", "temperature", "-22", "Cel"), ("58EA", "temperature", "-7.70", "Cel"),
            ("451101", "temperature", "27.3", "Cel"), ("02CA09", "temperature", "25.06", "Cel"),
            ("505d396164", "timestamp", "1684093277", "s"), ("133301", "tvoc", "307", "ug/m3"),
            ("0C020C", "voltage", "3.074", "V"), ("4A020C", "voltage", "307.4", "V"),
            ("4E87562A01", "volume", "19551.879", "L"), ("478756", "volume", "2215.1", "L"),
            ("48DC87", "volume", "34780", "mL"), ("5587562A01", "volume-storage", "19551.879", "L"),
            ("49DC87", "volume-flow-rate", "34.780", "m3/h"), ("4632", "uv-index", "5.0", "1"),
            ("4F87562A01", "water", "19551.879", "L"),
        ])
    func aNumberIsRead(object: String, type: String, value: String, unit: String) throws {
        let reading = try Self.plain(object).reading
        let measurement = try #require(reading.measurements.first)
        #expect(reading.measurements.count == 1)
        #expect(reading.flags.isEmpty)
        #expect(measurement.type == type)
        #expect(measurement.unit == unit)
        guard case .exact(let number) = measurement.value else { return #expect(Bool(false)) }
        #expect(number.description == value)
    }

    @Test(
        arguments: [
            (0x15, "battery-normal", "battery-low"),
            (0x16, "battery-charging-not-charging", "battery-charging-charging"),
            (0x17, "carbon-monoxide-not-detected", "carbon-monoxide-detected"),
            (0x18, "cold-normal", "cold-cold"), (0x19, "connectivity-disconnected", "connectivity-connected"),
            (0x1A, "door-closed", "door-open"), (0x1B, "garage-door-closed", "garage-door-open"),
            (0x1C, "gas-clear", "gas-detected"), (0x0F, "generic-boolean-off", "generic-boolean-on"),
            (0x1D, "heat-normal", "heat-hot"), (0x1E, "light-no-light", "light-detected"),
            (0x1F, "lock-locked", "lock-unlocked"), (0x20, "moisture-dry", "moisture-wet"),
            (0x21, "motion-clear", "motion-detected"), (0x22, "moving-not-moving", "moving-moving"),
            (0x23, "occupancy-clear", "occupancy-detected"), (0x11, "opening-closed", "opening-open"),
            (0x24, "plug-unplugged", "plug-plugged-in"), (0x10, "power-off", "power-on"),
            (0x25, "presence-away", "presence-home"), (0x26, "problem-ok", "problem-problem"),
            (0x27, "running-not-running", "running-running"), (0x28, "safety-unsafe", "safety-safe"),
            (0x29, "smoke-clear", "smoke-detected"), (0x2A, "sound-clear", "sound-detected"),
            (0x2B, "tamper-off", "tamper-on"), (0x2C, "vibration-clear", "vibration-detected"),
            (0x2D, "window-closed", "window-open"),
        ] as [(UInt8, String, String)])
    func aBinarySensorIsAFlagInBothStates(object: UInt8, off: String, on: String) throws {
        #expect(try Self.plain(Hex.text([object, 0])).reading.flags == [off])
        #expect(try Self.plain(Hex.text([object, 1])).reading.flags == [on])
        // Other values are not defined.
        #expect(try Self.plain(Hex.text([object, 2])).reading.flags == [])
    }

    @Test(
        arguments: [
            ("3A00", [], nil), ("3A01", ["button-press"], nil), ("3A02", ["button-double-press"], nil),
            ("3A03", ["button-triple-press"], nil), ("3A04", ["button-long-press"], nil),
            ("3A05", ["button-long-double-press"], nil), ("3A06", ["button-long-triple-press"], nil),
            ("3A80", ["button-hold-press"], nil), ("3A81", ["button-hold-release"], nil),
            ("3A003A01", ["button-2-press"], nil),
            ("3B0000", ["command-off"], nil), ("3B0001", ["command-on"], nil),
            ("3B0002", ["command-toggle"], nil), ("3B010305", ["command-step-up"], "5"),
            ("3B010405", ["command-step-down"], "5"),
            // Arguments of a maker's own opcode are passed over, and what follows them is read.
            ("3B02FFAABB3C0000", [], nil), ("3C0000", [], nil), ("3C0103", ["dimmer-rotate-left"], "3"),
            ("3C020A", ["dimmer-rotate-right"], "10"),
        ] as [(String, [String], String?)])
    func anEventIsAFlag(objects: String, flags: [String], steps: String?) throws {
        let reading = try Self.plain(objects).reading
        #expect(reading.flags == flags)
        #expect(
            reading.measurements.map(\.value)
                == [steps].compactMap(\.self).compactMap { Int64($0) }
                .map { .exact(ExactDecimal(coefficient: $0, exponent: 0)) })
    }

    @Test func severalOfATypeAreToldApartByTheirOrder() throws {
        // Two temperatures and three doors.
        let reading = try Self.plain("02CA0902C4091A001A011A00").reading
        #expect(reading.measurements.map(\.type) == ["temperature", "temperature"])
        #expect(reading.flags == ["door-1-closed", "door-2-open", "door-3-closed"])
    }

    @Test func thePacketIDIsTheSequenceAndNoPartOfTheContent() throws {
        let first = try Self.plain("00090161")
        #expect(first.reading.sequence == 9)
        #expect(first.packetID == 9)
        #expect(first.contents == [Broadcast.Content(sort: [0x01], bytes: [0x61])])
        #expect(try Self.plain("000A0161").contents == first.contents)
    }

    @Test func deviceInformationIsNoReading() throws {
        let broadcast = try Self.plain("F00100F100010204")
        #expect(broadcast.firmware == "4.2.1.0")
        #expect(!broadcast.isReading)
        #expect(try Self.plain("F2000106").firmware == "6.1.0")
    }

    @Test func textAndRawBytesStayInThePayload() throws {
        // 0x53 and 0x54, 12 bytes each, and a battery after them in no order at all.
        let text = "530C48656C6C6F20576F726C6421"
        let raw = "540C48656C6C6F20576F726C6421"
        let broadcast = try Self.plain(text + raw + "0161")
        #expect(broadcast.reading.measurements.map(\.type) == ["battery"])
        #expect(broadcast.contents.first?.bytes.count == 27)
    }

    @Test func anUnknownObjectEndsTheReading() throws {
        let reading = try Self.plain("02CA09EE0102").reading
        #expect(reading.measurements.map(\.type) == ["temperature"])
        #expect(reading.flags == ["unknown-object"])
    }

    @Test func theDeviceSaysThatItSendsOnlyWhenThereIsSomethingToTell() throws {
        #expect(try !Self.broadcast("d2fc403A01").isTriggered)
        #expect(try Self.broadcast("d2fc443A01").isTriggered)
    }

    @Test(arguments: ["d2fc000161", "d2fc200161", "d2fc600161"])
    func anotherVersionIsRefused(hex: String) {
        #expect(throws: DecodeError.prohibitedValue(field: "BTHome version")) { try Self.broadcast(hex) }
    }

    @Test func theObjectThatIsCutShortIsNamed() {
        #expect(throws: DecodeError.truncated(field: "humidity", needed: 2, had: 1)) {
            try Self.plain("02CA0903BF")
        }
    }

    // MARK: Encryption

    /// bthome.io/encryption: 02CA09 03BF13 with counter 0x33221100.
    static let sealed = "d2fc41e445f3c9962b332211006c7c4519"

    @Test func thePublishedExampleIsDecrypted() throws {
        let broadcast = try Self.broadcast(Self.sealed, key: Self.key, address: Self.address)
        #expect(
            broadcast.reading.measurements == [
                Measurement("temperature", 2506, -2, "Cel"), Measurement("humidity", 5055, -2, "%"),
            ])
        // The page writes the counter 1122867 and its bytes 33 22 11 00.
        #expect(broadcast.counter == 1_122_867)
        #expect(broadcast.reading.sequence == 1_122_867)
        #expect(broadcast.isEncrypted)
    }

    @Test(
        arguments: [
            // bthome-ble, tests/test_v2_encryption.py: counter 00 11 22 33.
            ("d2fc41a47266c95f730011223378237214", 2, 0x3322_1100),
            ("d2fc4187b90011223372b0231f", 0, 0x3322_1100),
        ] as [(String, Int, UInt32)])
    func theParsersExamplesAreDecrypted(hex: String, measurements: Int, counter: UInt32) throws {
        let broadcast = try Self.broadcast(hex, key: Self.key, address: Self.address)
        #expect(broadcast.reading.measurements.count == measurements)
        #expect(broadcast.counter == counter)
        if measurements == 0 { #expect(broadcast.reading.flags == ["motion-detected"]) }
    }

    @Test func withoutTheRightKeyAndAddressNothingIsRead() {
        let wrong = String(Self.key.reversed())
        #expect(throws: DecodeError.keyNeeded) { try Self.broadcast(Self.sealed, address: Self.address) }
        #expect(throws: DecodeError.keyMismatch) {
            try Self.broadcast(Self.sealed, key: wrong, address: Self.address)
        }
        #expect(throws: DecodeError.addressNeeded) { try Self.broadcast(Self.sealed, key: Self.key) }
        #expect(throws: DecodeError.keyMismatch) {
            try Self.broadcast(Self.sealed, key: Self.key, address: "54:48:E6:8F:80:A6")
        }
    }

    @Test func anAddressInThePayloadIsUsedAndChecked() throws {
        // Device information 0x42: the address follows, least significant octet first.
        let hex = "d2fc42a5808fe648540161"
        #expect(try Self.broadcast(hex).reading.measurements.map(\.type) == ["battery"])
        #expect(try Self.broadcast(hex, address: Self.address).isReading)
        #expect(throws: DecodeError.otherAddress) { try Self.broadcast(hex, address: "54:48:E6:8F:80:A6") }
    }

    @Test(arguments: ["", "231d39c1d7cc1ab1aee224cd096db93", "231d39c1d7cc1ab1aee224cd096db932ff", "zz"])
    func aKeyHas32HexadecimalDigits(text: String) {
        #expect(BindKey(text) == nil)
    }

    @Test func aKeyIsNotShown() throws {
        let key = try #require(BindKey(Self.key))
        #expect("\(key)" == "<redacted>")
        #expect(String(reflecting: key) == "<redacted>")
        #expect(Mirror(reflecting: key).children.isEmpty)
    }
}
