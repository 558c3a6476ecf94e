/// The name of a record: UUID version 5 of what was measured (docs/records.md).
package struct RecordID: Sendable, Hashable {
    /// Of the text of an id, in bytes.
    package static let length = 36

    /// Lower case with dashes.
    package let text: String

    package init(text: String) {
        self.text = text
    }
}

extension RecordID: CustomStringConvertible {
    package var description: String { text }
}

/// One reading, complete: what the destinations get (docs/records.md, version 1).
package struct Record: Sendable, Equatable {
    package enum Stage: String, Sendable {
        /// Measured while the gateway listened.
        case live
        /// Stored in the device before its first reading here, or imported.
        case historical
    }

    package var id: RecordID
    package var kind: RecordKind
    package var stage: Stage
    package var time: RecordTime
    package var measurements: [Measurement]
    package var flags: [String]
    package var sequence: Int?
    package var user: Int?
    /// Nil is unassigned.
    package var subject: String?
    /// The record that this one belongs to: a glucose context to its glucose, a body composition to
    /// its weight.
    package var related: RecordID?
    package var device: DeviceBlock
    package var gateway: String
    /// The version of the program that decoded it.
    package var software: String
    package var raw: RawPayload
    /// True for readings of the built-in simulated peripherals.
    package var isSimulated: Bool
    /// What decides `time`, `stage` and `subject` when the gateway's clock is known to be right; nil where
    /// they are decided. No part of what is delivered.
    package var dating: RecordDating?

    package init(
        id: RecordID, kind: RecordKind, stage: Stage, time: RecordTime, measurements: [Measurement],
        flags: [String], sequence: Int?, user: Int?, subject: String?, related: RecordID? = nil,
        device: DeviceBlock, gateway: String, software: String = Software.version, raw: RawPayload,
        isSimulated: Bool, dating: RecordDating? = nil
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
        self.software = software
        self.raw = raw
        self.isSimulated = isSimulated
    }
}

/// The device that measured. What is not known yet is nil, and left out.
package struct DeviceBlock: Sendable, Equatable {
    /// The model's number in the catalogue.
    package var peripheralID: Int
    package var address: BluetoothAddress
    package var alias: String?
    package var manufacturer: String?
    package var model: String?
    package var serial: String?
    package var firmware: String?
    package var hardware: String?
    package var software: String?
    /// An EUI-64 in 16 upper-case hexadecimal digits.
    package var systemID: String?
    package var udi: UniqueDeviceIdentifier?
    /// Charge in percent, 0 to 100.
    package var battery: Int?

    package init(
        peripheralID: Int, address: BluetoothAddress, alias: String?, manufacturer: String? = nil,
        model: String? = nil, serial: String? = nil, firmware: String? = nil, hardware: String? = nil,
        software: String? = nil, systemID: String? = nil, udi: UniqueDeviceIdentifier? = nil,
        battery: Int? = nil
    ) {
        self.hardware = hardware
        self.software = software
        self.systemID = systemID
        self.udi = udi
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

/// What names a device by the rules of medical devices (Unique Device Identification).
package struct UniqueDeviceIdentifier: Sendable, Hashable, Codable {
    /// The whole of it, as people read it.
    package var label: String?
    /// The part that names the model.
    package var deviceIdentifier: String?
    /// Who issued it; an OID, by the specification.
    package var issuer: String?
    /// By whose rules; an OID, by the specification.
    package var authority: String?

    package init(
        label: String? = nil, deviceIdentifier: String? = nil, issuer: String? = nil, authority: String? = nil
    ) {
        self.label = label
        self.deviceIdentifier = deviceIdentifier
        self.issuer = issuer
        self.authority = authority
    }

    /// Its members, as records name them.
    package var members: [(name: String, text: String?)] {
        [
            ("label", label), ("device_identifier", deviceIdentifier), ("issuer", issuer),
            ("authority", authority),
        ]
    }
}
