extension Profile {
    /// OneTouch meters, in LifeScan's own protocol.
    static let oneTouchVerio = Profile(
        name: "onetouch-verio", kinds: [.glucose],
        sources: [Source(OneTouchVerio.notification, in: OneTouchVerio.service)],
        procedure: .oneTouchVerio, longestPayload: payloadOfDefaultMTU,
        decoders: [OneTouchVerio.notification: OneTouchVerio.decodeRecord])
}

/// What LifeScan's OneTouch meters with Bluetooth speak (Verio Reflect, Verio Flex and their kin), as
/// the open code of its readers shows it; there is no public specification.
///
/// Three layers, the outermost first:
/// - A packet is one write or notification: an octet that says how many packets of its frame are still
///   to come, itself included, then up to 19 octets of the frame. The receiver acknowledges each packet.
/// - A frame: 02, its length, a control octet, the payload, 03, and a checksum.
/// - A payload: a command of the central, or the meter's answer, which begins with a status.
package enum OneTouchVerio {
    package static let service = uuid(0xA1)
    /// Takes the central's packets, by writes without response.
    package static let command = uuid(0xA2)
    /// Notifies the meter's packets.
    package static let notification = uuid(0xA3)

    /// What the meter's clock counts its seconds from, on the clock of 1970: 1999-12-31T23:59:59.
    static let epoch: Int64 = 946_684_799

    /// AF9DF7xx-E595-11E3-96B4-0002A5D5C51B.
    private static func uuid(_ number: UInt64) -> BluetoothUUID {
        BluetoothUUID(high: 0xAF9D_F700_E595_11E3 | number << 32, low: 0x96B4_0002_A5D5_C51B)
    }
}

// MARK: Commands

extension OneTouchVerio {
    /// What the central asks. None of them changes anything in the meter.
    enum Command: Sendable, Hashable {
        /// The answer is the clock, four octets.
        case readClock
        /// The number of the newest record, four octets.
        case readHighestNumber
        /// How many records the meter keeps, two octets.
        case readCount
        /// A record, eleven octets; none where there is no record of this number.
        case readRecord(UInt16)

        var payload: [UInt8] {
            switch self {
            case .readClock: [0x20, 0x02]
            case .readHighestNumber: [0x0A, 0x02, 0x06]
            case .readCount: [0x27, 0x00]
            case .readRecord(let number):
                [0xB3, UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
            }
        }

        /// What is to be written: a frame so short that one packet holds it.
        var packet: [UInt8] {
            [PacketHeader.first(of: 1)] + OneTouchVerio.frame(payload)
        }
    }
}

// MARK: Packets

extension OneTouchVerio {
    /// The first octet of a packet: what it is in the upper bits, a count in the lower four.
    enum PacketHeader: Sendable, Hashable {
        /// Begins a frame of `packets`.
        case begins(packets: UInt8)
        /// Goes on with a frame of which so many packets are left, this one included.
        case continues(left: UInt8)
        case acknowledges

        init?(_ octet: UInt8) {
            let count = octet & 0x0F
            switch octet & 0xF0 {
            case 0x00 where count > 0: self = .begins(packets: count)
            case 0x40 where count > 0: self = .continues(left: count)
            case 0x80: self = .acknowledges
            default: return nil
            }
        }

        static func first(of packets: UInt8) -> UInt8 { packets & 0x0F }

        /// The packet that acknowledges one with this count; it has no more octets.
        static func acknowledgement(of count: UInt8) -> [UInt8] { [0x80 | count & 0x0F] }
    }
}

// MARK: Frames

extension OneTouchVerio {
    private static let start: UInt8 = 0x02
    private static let end: UInt8 = 0x03
    /// The control octet of a command; meters take 04 too, and send others.
    private static let control: UInt8 = 0x03
    /// Start, length, control, end, checksum.
    static let frameOverhead = 7

    /// A frame around a payload of at most 248 octets.
    static func frame(_ payload: [UInt8]) -> [UInt8] {
        let length = UInt16(clamping: payload.count + frameOverhead)
        let body =
            [start, UInt8(truncatingIfNeeded: length), UInt8(truncatingIfNeeded: length >> 8), control]
            + payload + [end]
        let checksum = checksum(body)
        return body + [UInt8(truncatingIfNeeded: checksum), UInt8(truncatingIfNeeded: checksum >> 8)]
    }

    /// CRC-16/CCITT-FALSE: x¹⁶ + x¹² + x⁵ + 1 from 0xFFFF, the most significant bit first.
    static func checksum(_ bytes: some Sequence<UInt8>) -> UInt16 {
        var remainder: UInt16 = 0xFFFF
        for byte in bytes {
            remainder ^= UInt16(byte) << 8
            for _ in 0..<8 {
                remainder = remainder & 0x8000 != 0 ? remainder << 1 ^ 0x1021 : remainder << 1
            }
        }
        return remainder
    }

    /// What the meter says first in an answer.
    enum Status: Sendable, Hashable {
        case done
        /// There is no record of this number.
        case noSuchRecord
        /// Of the others, 7 is told where the central is not bonded.
        case refused(UInt8)

        init(_ octet: UInt8) {
            switch octet {
            case 0x06: self = .done
            case 0x09: self = .noSuchRecord
            default: self = .refused(octet)
            }
        }
    }

    struct Answer: Sendable, Equatable {
        var status: Status
        var data: [UInt8]

        /// - Parameter frame: whole, without the octets before its packets.
        init(frame: [UInt8]) throws(DecodeError) {
            var cursor = ByteCursor(frame)
            guard try cursor.uint8("start") == OneTouchVerio.start else {
                throw .prohibitedValue(field: "start")
            }
            guard Int(try cursor.uint16("length")) == frame.count else {
                throw .prohibitedValue(field: "length")
            }
            _ = try cursor.uint8("control")
            let status = Status(try cursor.uint8("status"))
            // End and checksum are the last three octets.
            guard cursor.remaining >= 3 else {
                throw .truncated(field: "end", needed: 3, had: cursor.remaining)
            }
            let data = try cursor.bytes(cursor.remaining - 3, "data")
            guard try cursor.uint8("end") == OneTouchVerio.end else { throw .prohibitedValue(field: "end") }
            guard try cursor.uint16("checksum") == checksum(frame.dropLast(2)) else {
                throw .checksumMismatch(field: "checksum")
            }
            self.status = status
            self.data = Array(data)
        }
    }
}

// MARK: Records

extension OneTouchVerio {
    /// The length of a record.
    static let recordLength = 11
    /// A frame with the answer to `readRecord`: its status, and the record.
    private static let recordFrameLength = frameOverhead + 1 + recordLength

    /// What a record says. Takes the record alone, the frame that holds it, and the one packet that
    /// such a frame makes.
    ///
    /// The number of the record is not in it.
    @Sendable
    static func decodeRecord(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        var bytes = Array(cursor.rest())
        if bytes.count == recordFrameLength + 1, bytes.first == PacketHeader.first(of: 1) {
            bytes.removeFirst()
        }
        if bytes.count == recordFrameLength {
            let answer = try Answer(frame: bytes)
            guard answer.status == .done else { throw .prohibitedValue(field: "status") }
            bytes = answer.data
        }
        guard bytes.count <= recordLength else {
            throw .tooLong(count: bytes.count, limit: recordLength)
        }
        var record = ByteCursor(bytes)
        return try reading(&record)
    }

    private static func reading(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        let time = Int32(bitPattern: try cursor.uint32("time"))
        let glucose = Int16(bitPattern: try cursor.uint16("glucose"))
        // A test with control solution says nothing of a person.
        guard try cursor.uint8("control solution") == 0 else {
            throw .prohibitedValue(field: "control solution")
        }
        // The unit on the meter's display, it seems; the number is in mg/dL whatever it is.
        _ = try cursor.uint8("unit")
        for _ in 0..<3 {
            // Events that are no test have something here, and no glucose.
            guard try cursor.uint8("kind of record") == 0 else {
                throw .prohibitedValue(field: "kind of record")
            }
        }
        guard glucose > 0 else { throw .prohibitedValue(field: "glucose") }
        return Reading(
            kind: .glucose,
            measurements: [
                // MDC_CONC_GLU_CAPILLARY_WHOLEBLOOD: a drop from the finger is all that they take.
                Measurement(
                    type: "glucose", code: 160184,
                    value: .exact(ExactDecimal(coefficient: Int64(glucose), exponent: 0)), unit: "mg/dL")
            ],
            deviceTime: clock(time))
    }

    /// A number of the meter's seconds as a wall time.
    static func clock(_ seconds: Int32) -> DeviceTime? {
        DeviceTime(wallSeconds: Int64(seconds) + epoch)
    }
}
