/// A LifeScan OneTouch Verio, as the open code of its readers shows its protocol: framed commands
/// without response, answered by notifications.
package struct OneTouchMeter: SimulatedSensor {
    package struct Record: Sendable, Equatable {
        /// Seconds since 1970-01-01T00:00:00 on the meter's clock.
        package var wallSeconds: Int64
        /// In mg/dL.
        package var glucose: Int16

        package init(at wallSeconds: Int64, _ glucose: Int16) {
            self.wallSeconds = wallSeconds
            self.glucose = glucose
        }

        var payload: [UInt8] {
            Wire.bytes(Int32(truncatingIfNeeded: wallSeconds - epoch)) + Wire.bytes(glucose)
                + [0, 0, 0, 0, 0]
        }
    }

    /// AF9DF7xx-E595-11E3-96B4-0002A5D5C51B.
    private static func uuid(_ number: UInt64) -> BluetoothUUID {
        BluetoothUUID(high: 0xAF9D_F700_E595_11E3 | number << 32, low: 0x96B4_0002_A5D5_C51B)
    }

    package static let service = uuid(0xA1)
    package static let command = uuid(0xA2)
    package static let notification = uuid(0xA3)

    /// The meter counts seconds from here, 1999-12-31T23:59:59.
    private static let epoch: Int64 = 946_684_799
    private static let acknowledgement: [UInt8] = [0x81]

    /// In the order in which they were stored; the first has the number `firstNumber`.
    package private(set) var records: [Record]
    package private(set) var firstNumber: UInt32
    /// The meter's clock, in seconds since 1970-01-01T00:00:00.
    package var wallSeconds: Int64
    /// Whether the next answer has a wrong checksum; once.
    package var sendsWrongChecksum = false
    /// Hangs up instead of giving the record of this number; once.
    package var breaksAtNumber: UInt16?
    /// The payloads of the commands that it took, in order.
    package private(set) var commands: [[UInt8]] = []
    /// Frames that it did not understand.
    package private(set) var faults = 0
    /// Answers whose receipt the central acknowledged.
    package private(set) var acknowledged = 0
    private let name: String
    private var delivered: Set<UInt32> = []
    private var recordsSent = 0
    private var outgoing: [[UInt8]] = []

    package init(
        _ records: [Record] = [], firstNumber: UInt32 = 1, wallSeconds: Int64,
        name: String = "OneTouch 0001"
    ) {
        self.records = records
        self.firstNumber = firstNumber
        self.wallSeconds = wallSeconds
        self.name = name
    }

    package mutating func add(_ record: Record) {
        records.append(record)
    }

    /// Forgets all records; numbers begin again.
    package mutating func clear() {
        records = []
        firstNumber = 1
    }

    // MARK: The sensor

    package var services: [SimulatedService] {
        [
            SimulatedService(
                Self.service,
                [
                    Characteristic(Self.command, .writeWithoutResponse),
                    Characteristic(Self.notification, .notify),
                ]),
            .deviceInformation(model: "Simulated OneTouch Verio", serial: "V-0001"),
        ]
    }

    /// Flags and the name; its service is not in it.
    package var advert: [UInt8] {
        let text = name.utf8.prefix(26)
        return [0x02, 0x01, 0x06, UInt8(clamping: text.count + 1), 0x09] + text
    }

    package var tally: SensorTally {
        SensorTally(readings: records.count, offered: recordsSent, confirmed: delivered.count)
    }

    package mutating func linked() {
        outgoing = []
    }

    package mutating func written(
        _ value: [UInt8], to characteristic: BluetoothUUID, subscriptions: Set<BluetoothUUID>
    ) -> UInt8? {
        guard characteristic == Self.command else { return nil }
        if value == Self.acknowledgement {
            acknowledged += 1
            return nil
        }
        guard let payload = Self.payload(of: value) else {
            faults += 1
            return nil
        }
        if commands.count < 1_024 { commands.append(payload) }
        outgoing += [Self.acknowledgement, frame(answer(payload), isRecordMissing: payload.first == 0xB3)]
        return nil
    }

    package mutating func next(_ subscriptions: Set<BluetoothUUID>) -> SensorStep? {
        if let number = breaksAtNumber, commands.last == [0xB3] + Wire.bytes(number) {
            breaksAtNumber = nil
            return .hangUp
        }
        guard subscriptions.contains(Self.notification), !outgoing.isEmpty else { return nil }
        return .send(Self.notification, outgoing.removeFirst())
    }

    // MARK: Frames

    /// What comes after the status byte 06; nil for a command that it does not know.
    private mutating func answer(_ command: [UInt8]) -> [UInt8]? {
        switch command {
        case [0x20, 0x02]: return Wire.bytes(UInt32(truncatingIfNeeded: wallSeconds - Self.epoch))
        case [0x0A, 0x02, 0x06]: return Wire.bytes(firstNumber &+ UInt32(records.count) &- 1)
        case [0x27, 0x00]: return Wire.bytes(UInt16(clamping: records.count))
        case _ where command.first == 0xB3 && command.count == 3:
            guard let low = Wire.number(command, at: 1) else { return nil }
            let number = UInt32(low)
            guard number >= firstNumber, number - firstNumber < UInt32(records.count) else { return nil }
            recordsSent += 1
            delivered.insert(number)
            return records[Int(number - firstNumber)].payload
        default: return nil
        }
    }

    private mutating func frame(_ answer: [UInt8]?, isRecordMissing: Bool) -> [UInt8] {
        // 06 stands before an answer; 09 says that there is no such record, 07 refuses a command.
        let payload = answer.map { [0x06] + $0 } ?? [isRecordMissing ? 0x09 : 0x07]
        let body = [0x02, UInt8(clamping: payload.count + 7), 0x00, 0x03] + payload + [0x03]
        defer { sendsWrongChecksum = false }
        return [0x01] + body + Wire.bytes(Self.checksum(body) ^ (sendsWrongChecksum ? 1 : 0))
    }

    /// The payload of a command's frame; nil when the frame is not whole.
    private static func payload(of frame: [UInt8]) -> [UInt8]? {
        let body = Array(frame.dropFirst().dropLast(2))
        guard frame.first == 0x01, body.count >= 5, body.starts(with: [0x02]), body.last == 0x03,
            Int(body[1]) == body.count + 2, body[2...].starts(with: [0x00, 0x03]),
            Wire.number(frame, at: frame.count - 2) == checksum(body)
        else { return nil }
        return Array(body.dropFirst(4).dropLast())
    }

    /// CRC-16 with the polynomial 0x1021 from 0xFFFF, the most significant bit first.
    package static func checksum(_ bytes: [UInt8]) -> UInt16 {
        bytes.reduce(0xFFFF) { checksum, byte in
            (0..<8).reduce(checksum ^ UInt16(byte) << 8) { value, _ in
                value & 0x8000 != 0 ? value << 1 ^ 0x1021 : value << 1
            }
        }
    }
}
