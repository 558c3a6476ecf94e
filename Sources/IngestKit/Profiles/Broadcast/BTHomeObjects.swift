/// The objects of BTHome v2, by their numbers (bthome.io/format).
enum BTHomeObjects {
    /// A number: an integer of so many bytes, times `multiplier` × 10^`exponent`.
    private struct Number {
        let type: String
        let length: Int
        let isSigned: Bool
        var multiplier: Int64 = 1
        let exponent: Int8
        /// UCUM; `1` where the format has no unit.
        let unit: String

        static func unsigned(_ type: String, _ length: Int, _ exponent: Int8, _ unit: String) -> Self {
            Self(type: type, length: length, isSigned: false, exponent: exponent, unit: unit)
        }

        static func signed(_ type: String, _ length: Int, _ exponent: Int8, _ unit: String) -> Self {
            Self(type: type, length: length, isSigned: true, exponent: exponent, unit: unit)
        }
    }

    /// A binary sensor, and what its two states are called.
    private struct State {
        let type: String
        let off: String
        let on: String

        init(_ type: String, _ off: String, _ on: String) {
            self.type = type
            self.off = off
            self.on = on
        }
    }

    private static let numbers: [UInt8: Number] = [
        0x01: .unsigned("battery", 1, 0, "%"),
        0x02: .signed("temperature", 2, -2, "Cel"),
        0x03: .unsigned("humidity", 2, -2, "%"),
        0x04: .unsigned("pressure", 3, -2, "hPa"),
        0x05: .unsigned("illuminance", 3, -2, "lx"),
        0x06: .unsigned("mass", 2, -2, "kg"),
        0x07: .unsigned("mass", 2, -2, "[lb_av]"),
        0x08: .signed("dewpoint", 2, -2, "Cel"),
        0x09: .unsigned("count", 1, 0, "1"),
        0x0A: .unsigned("energy", 3, -3, "kW.h"),
        0x0B: .unsigned("power", 3, -2, "W"),
        0x0C: .unsigned("voltage", 2, -3, "V"),
        0x0D: .unsigned("pm2-5", 2, 0, "ug/m3"),
        0x0E: .unsigned("pm10", 2, 0, "ug/m3"),
        0x12: .unsigned("co2", 2, 0, "[ppm]"),
        0x13: .unsigned("tvoc", 2, 0, "ug/m3"),
        0x14: .unsigned("moisture", 2, -2, "%"),
        0x2E: .unsigned("humidity", 1, 0, "%"),
        0x2F: .unsigned("moisture", 1, 0, "%"),
        0x3D: .unsigned("count", 2, 0, "1"),
        0x3E: .unsigned("count", 4, 0, "1"),
        0x3F: .signed("rotation", 2, -1, "deg"),
        0x40: .unsigned("distance", 2, 0, "mm"),
        0x41: .unsigned("distance", 2, -1, "m"),
        0x42: .unsigned("duration", 3, -3, "s"),
        0x43: .unsigned("current", 2, -3, "A"),
        0x44: .unsigned("speed", 2, -2, "m/s"),
        0x45: .signed("temperature", 2, -1, "Cel"),
        0x46: .unsigned("uv-index", 1, -1, "1"),
        0x47: .unsigned("volume", 2, -1, "L"),
        0x48: .unsigned("volume", 2, 0, "mL"),
        0x49: .unsigned("volume-flow-rate", 2, -3, "m3/h"),
        0x4A: .unsigned("voltage", 2, -1, "V"),
        0x4B: .unsigned("gas", 3, -3, "m3"),
        0x4C: .unsigned("gas", 4, -3, "m3"),
        0x4D: .unsigned("energy", 4, -3, "kW.h"),
        0x4E: .unsigned("volume", 4, -3, "L"),
        0x4F: .unsigned("water", 4, -3, "L"),
        // Seconds since 1970-01-01T00:00:00Z. What happened then is the device's own matter, so it
        // is not the time of the measurement.
        0x50: .unsigned("timestamp", 4, 0, "s"),
        0x51: .unsigned("acceleration", 2, -3, "m/s2"),
        0x52: .unsigned("gyroscope", 2, -3, "deg/s"),
        0x55: .unsigned("volume-storage", 4, -3, "L"),
        0x56: .unsigned("conductivity", 2, 0, "uS/cm"),
        0x57: .signed("temperature", 1, 0, "Cel"),
        0x58: Number(
            type: "temperature", length: 1, isSigned: true, multiplier: 35, exponent: -2, unit: "Cel"),
        0x59: .signed("count", 1, 0, "1"),
        0x5A: .signed("count", 2, 0, "1"),
        0x5B: .signed("count", 4, 0, "1"),
        0x5C: .signed("power", 4, -2, "W"),
        0x5D: .signed("current", 2, -3, "A"),
        0x5E: .unsigned("direction", 2, -2, "deg"),
        0x5F: .unsigned("precipitation", 2, -1, "mm"),
        0x60: .unsigned("channel", 1, 0, "1"),
        0x61: .unsigned("rotational-speed", 2, 0, "/min"),
        0x62: .signed("speed", 4, -6, "m/s"),
        0x63: .signed("acceleration", 4, -6, "m/s2"),
        0x64: .unsigned("light-level", 1, 0, "1"),
        0x65: .unsigned("settings-revision", 1, 0, "1"),
    ]

    private static let states: [UInt8: State] = [
        0x0F: State("generic-boolean", "off", "on"),
        0x10: State("power", "off", "on"),
        0x11: State("opening", "closed", "open"),
        0x15: State("battery", "normal", "low"),
        0x16: State("battery-charging", "not-charging", "charging"),
        0x17: State("carbon-monoxide", "not-detected", "detected"),
        0x18: State("cold", "normal", "cold"),
        0x19: State("connectivity", "disconnected", "connected"),
        0x1A: State("door", "closed", "open"),
        0x1B: State("garage-door", "closed", "open"),
        0x1C: State("gas", "clear", "detected"),
        0x1D: State("heat", "normal", "hot"),
        0x1E: State("light", "no-light", "detected"),
        0x1F: State("lock", "locked", "unlocked"),
        0x20: State("moisture", "dry", "wet"),
        0x21: State("motion", "clear", "detected"),
        0x22: State("moving", "not-moving", "moving"),
        0x23: State("occupancy", "clear", "detected"),
        0x24: State("plug", "unplugged", "plugged-in"),
        0x25: State("presence", "away", "home"),
        0x26: State("problem", "ok", "problem"),
        0x27: State("running", "not-running", "running"),
        0x28: State("safety", "unsafe", "safe"),
        0x29: State("smoke", "clear", "detected"),
        0x2A: State("sound", "clear", "detected"),
        0x2B: State("tamper", "off", "on"),
        0x2C: State("vibration", "clear", "detected"),
        0x2D: State("window", "closed", "open"),
    ]

    private static let buttonEvents: [UInt8: String] = [
        0x01: "press", 0x02: "double-press", 0x03: "triple-press", 0x04: "long-press",
        0x05: "long-double-press", 0x06: "long-triple-press", 0x80: "hold-press",
        // Only the format's own parser, bthome-ble, has this one so far.
        0x81: "hold-release",
    ]
    private static let commandEvents: [UInt8: String] = [
        0x00: "off", 0x01: "on", 0x02: "toggle", 0x03: "step-up", 0x04: "step-down",
    ]
    private static let dimmerEvents: [UInt8: String] = [0x01: "rotate-left", 0x02: "rotate-right"]

    /// Objects that are not a plain number or state.
    private enum Special {
        static let packetID: UInt8 = 0x00
        static let button: UInt8 = 0x3A
        static let command: UInt8 = 0x3B
        static let dimmer: UInt8 = 0x3C
        static let text: UInt8 = 0x53
        static let raw: UInt8 = 0x54
        static let deviceType: UInt8 = 0xF0
        static let firmware4: UInt8 = 0xF1
        static let firmware3: UInt8 = 0xF2
    }

    /// Says that there are objects that this version does not know, with all that follow them: the
    /// objects stand in the order of their numbers so that receivers may stop there.
    static let unknownObjectFlag = "unknown-object"

    /// What is collected before it is known how many there are of a type.
    private struct Sighting {
        let type: String
        /// Nil for the event 0, which stands in for a button that was not used.
        let state: String?
    }

    static func decode(_ objects: [UInt8], into broadcast: inout Broadcast) throws(DecodeError) {
        var cursor = ByteCursor(objects)
        var sightings: [Sighting] = []
        var content = Broadcast.Content(sort: [], bytes: [])
        var hasUnknown = false
        while cursor.remaining > 0 {
            let number = try cursor.uint8("object id")
            let start = objects.count - cursor.remaining
            if let object = numbers[number] {
                let value = try cursor.integer(bytes: object.length, signed: object.isSigned, object.type)
                broadcast.reading.measurements.append(
                    Measurement(object.type, value &* object.multiplier, object.exponent, object.unit))
            } else if let object = states[number] {
                switch try cursor.uint8(object.type) {
                case 0: sightings.append(Sighting(type: object.type, state: object.off))
                case 1: sightings.append(Sighting(type: object.type, state: object.on))
                // Only 0 and 1 are defined.
                default: sightings.append(Sighting(type: object.type, state: nil))
                }
            } else if number == Special.packetID {
                let packetID = try cursor.uint8("packet id")
                broadcast.packetID = packetID
                broadcast.isRenewedByPacketID = true
                broadcast.reading.sequence = Int(packetID)
                // It counts the content and is not part of it.
                continue
            } else if let sighting = try special(number, &cursor, &broadcast) {
                sightings += sighting
            } else {
                hasUnknown = true
                content.sort.append(number)
                content.bytes += cursor.rest()
                break
            }
            content.sort.append(number)
            content.bytes += objects[start..<objects.count - cursor.remaining]
        }
        broadcast.contents = [content]
        broadcast.reading.flags += flags(sightings)
        if hasUnknown { broadcast.reading.flags.append(unknownObjectFlag) }
    }

    /// Takes an object of a form of its own; nil for an unknown one.
    private static func special(
        _ number: UInt8, _ cursor: inout ByteCursor, _ broadcast: inout Broadcast
    ) throws(DecodeError) -> [Sighting]? {
        switch number {
        case Special.button:
            return [Sighting(type: "button", state: buttonEvents[try cursor.uint8("button")])]
        case Special.command:
            // The length of the arguments in the lower 5 bits; it does not count the opcode.
            let length = try cursor.uint8("command length") & 0x1F
            let opcode = try cursor.uint8("command")
            var arguments = ByteCursor(Array(try cursor.bytes(Int(length), "command arguments")))
            if opcode == 0x03 || opcode == 0x04, arguments.remaining > 0 {
                broadcast.reading.measurements.append(
                    Measurement("command-steps", Int64(try arguments.uint8("steps")), 0, "1"))
            }
            return [Sighting(type: "command", state: commandEvents[opcode])]
        case Special.dimmer:
            let event = dimmerEvents[try cursor.uint8("dimmer")]
            let steps = try cursor.uint8("dimmer steps")
            if event != nil {
                broadcast.reading.measurements.append(Measurement("dimmer-steps", Int64(steps), 0, "1"))
            }
            return [Sighting(type: "dimmer", state: event)]
        case Special.text, Special.raw:
            // Neither is a measured number: what it says stays in the payload.
            let length = try cursor.uint8("length")
            _ = try cursor.bytes(Int(length), number == Special.text ? "text" : "raw")
            return []
        case Special.deviceType:
            _ = try cursor.uint16("device type id")
            return []
        case Special.firmware4, Special.firmware3:
            let count = number == Special.firmware4 ? 4 : 3
            let parts = try cursor.bytes(count, "firmware version")
            broadcast.firmware = parts.reversed().map(String.init).joined(separator: ".")
            return []
        default:
            return nil
        }
    }

    /// `door-open`; `door-2-open` where there are several of a type, because their order is all that
    /// tells them apart.
    private static func flags(_ sightings: [Sighting]) -> [String] {
        var totals: [String: Int] = [:]
        for sighting in sightings { totals[sighting.type, default: 0] += 1 }
        var counts: [String: Int] = [:]
        return sightings.compactMap { sighting in
            counts[sighting.type, default: 0] += 1
            guard let state = sighting.state else { return nil }
            guard let total = totals[sighting.type], total > 1, let number = counts[sighting.type] else {
                return "\(sighting.type)-\(state)"
            }
            return "\(sighting.type)-\(number)-\(state)"
        }
    }
}
