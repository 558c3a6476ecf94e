/// The name of a record: UUID version 5 of what was measured (docs/records.md).
public struct RecordID: Sendable, Hashable {
    /// Of the text of an id, in bytes.
    static let length = 36

    /// Lower case with dashes.
    public let text: String
}

extension RecordID: CustomStringConvertible {
    public var description: String { text }
}

/// One reading, complete: what the destinations get (docs/records.md, version 1).
public struct Record: Sendable, Equatable {
    public enum Stage: String, Sendable {
        /// Measured while the gateway listened.
        case live
        /// Stored in the device before its first reading here, or imported.
        case historical
    }

    public var id: RecordID
    public var kind: RecordKind
    public var stage: Stage
    public var time: RecordTime
    public var measurements: [Measurement]
    public var flags: [String]
    public var sequence: Int?
    public var user: Int?
    /// Nil is unassigned.
    public var subject: String?
    /// The record that this one belongs to: a glucose context to its glucose, a body composition to
    /// its weight.
    public var related: RecordID?
    public var device: DeviceBlock
    public var gateway: String
    public var raw: RawPayload
    /// True for readings of the built-in simulated peripherals.
    public var isSimulated: Bool
    /// What decides `time`, `stage` and `subject` when the gateway's clock is known to be right; nil where
    /// they are decided. No part of what is delivered.
    public var dating: RecordDating?

    public init(
        id: RecordID, kind: RecordKind, stage: Stage, time: RecordTime, measurements: [Measurement],
        flags: [String], sequence: Int?, user: Int?, subject: String?, related: RecordID? = nil,
        device: DeviceBlock, gateway: String, raw: RawPayload, isSimulated: Bool,
        dating: RecordDating? = nil
    ) {
        self.dating = dating
        self.related = related
        self.id = id
        self.kind = kind
        self.stage = stage
        self.time = time
        self.measurements = measurements
        self.flags = flags
        self.sequence = sequence
        self.user = user
        self.subject = subject
        self.device = device
        self.gateway = gateway
        self.raw = raw
        self.isSimulated = isSimulated
    }
}

/// The device that measured. What is not known yet is nil, and left out.
public struct DeviceBlock: Sendable, Equatable {
    /// The model's number in the catalogue.
    public var peripheralID: Int
    public var address: BluetoothAddress
    public var alias: String?
    public var manufacturer: String?
    public var model: String?
    public var serial: String?
    public var firmware: String?
    /// Charge in percent, 0 to 100.
    public var battery: Int?

    public init(
        peripheralID: Int, address: BluetoothAddress, alias: String?, manufacturer: String? = nil,
        model: String? = nil, serial: String? = nil, firmware: String? = nil, battery: Int? = nil
    ) {
        self.peripheralID = peripheralID
        self.address = address
        self.alias = alias
        self.manufacturer = manufacturer
        self.model = model
        self.serial = serial
        self.firmware = firmware
        self.battery = battery
    }
}
