/// One step of a pairing, as the operator is shown it. Its JSON is that of the control socket and of
/// `ingestd pair --json`.
package struct PairingStep: Sendable, Equatable, Codable {
    package enum Kind: String, Sendable, Codable {
        /// The model's pairing instructions, in `text`.
        case instructions
        /// A reading is under way and ends first.
        case readingUnderWay = "reading-under-way"
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
        /// The end: there is a bond.
        case paired
        /// The end: there is none; `reason` and `text` say why.
        case failed
    }

    package var step: Kind
    /// From 1 on.
    package var number: Int
    /// For people; may have several lines.
    package var text: String
    /// Catalogue ID of the model.
    package var peripheralID: Int?
    /// The device: the address that it was heard under, and its identity once there is a bond.
    package var address: BluetoothAddress?
    /// Six digits.
    package var code: String?
    /// A line for `peripherals` of the configuration that pins the device.
    package var entry: String?
    package var reason: FailureReason?

    enum CodingKeys: String, CodingKey {
        case step, number, text
        case peripheralID = "peripheral_id"
        case address, code, entry, reason
    }

    package init(
        _ step: Kind, _ text: String, peripheralID: Int? = nil, address: BluetoothAddress? = nil,
        code: UInt32? = nil, entry: String? = nil, reason: FailureReason? = nil
    ) {
        self.step = step
        number = 0
        self.text = text
        self.peripheralID = peripheralID
        self.address = address
        self.code = code.map(Self.digits)
        self.entry = entry
        self.reason = reason
    }

    package var isLast: Bool { step == .paired || step == .failed }

    /// The six digits of a code (Core Specification Vol 3 Part C 3.2.3.3).
    private static func digits(_ code: UInt32) -> String {
        let text = String(code)
        return String(repeating: "0", count: max(0, 6 - text.utf8.count)) + text
    }
}

/// What an operator answers to a step that asks.
package enum PairingAnswer: Sendable, Equatable {
    /// 0 to 999999; nil refuses.
    case passkey(UInt32?)
    /// Whether the device shows the same number.
    case sameNumber(Bool)
}
