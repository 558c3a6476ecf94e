/// One step of an operator's order, as the operator's side is told it over the control socket. Of a pairing it is also a
/// line of `ingestd pair --json`.
package struct OperatorStep: Sendable, Equatable, Codable {
    package enum Kind: String, Sendable, Codable {
        /// A reading is under way and ends first.
        case readingUnderWay = "reading-under-way"
        /// The model's pairing instructions, in `text`.
        case instructions
        /// The scan goes on: `found` devices so far, `seconds` to go.
        case scanning
        /// The device has not been heard yet.
        case waiting
        /// It is being paired with.
        case found
        /// The device's passkey is wanted, six digits.
        case passkeyWanted = "passkey-wanted"
        /// Does the device show the number `code`?
        case confirmNumber = "confirm-number"
        /// The person types `code` on the device.
        case typeOnDevice = "type-on-device"
        /// It is being read.
        case reading
        /// It gave a reading, which is not in the queue yet: `record`.
        case record
        /// The end: what was asked for is done. A scan's `devices`.
        case done
        /// The end: there is a bond.
        case paired
        /// The end: it is not; `reason` and `text` say why.
        case failed
    }

    package var step: Kind
    /// From 1 on.
    package var number = 0
    /// For people; may have several lines.
    package var text: String?
    package var seconds: Int?
    package var found: Int?
    /// The strongest signal first.
    package var devices: [AirDevice]?
    /// A record of version 1, as JSON.
    package var record: String?
    /// Our words for why a reading could not be decoded.
    package var error: String?
    package var reason: FailureReason?
    /// Catalogue ID of the model that is paired.
    package var peripheralID: Int?
    /// The device that is paired: the address that it was heard under, and its identity once there is a bond.
    package var address: BluetoothAddress?
    /// Six digits.
    package var code: String?
    /// A line for `peripherals` of the configuration that pins the device.
    package var entry: String?

    enum CodingKeys: String, CodingKey {
        case step, number, text, seconds, found, devices, record, error, reason
        case peripheralID = "peripheral_id"
        case address, code, entry
    }

    package init(
        _ step: Kind, _ text: String? = nil, peripheralID: Int? = nil, address: BluetoothAddress? = nil,
        code: UInt32? = nil, entry: String? = nil, reason: FailureReason? = nil
    ) {
        self.step = step
        self.text = text
        self.peripheralID = peripheralID
        self.address = address
        self.code = code.map(Passkey.digits)
        self.entry = entry
        self.reason = reason
    }

    package var isLast: Bool {
        switch step {
        case .done, .paired, .failed: true
        default: false
        }
    }
}
