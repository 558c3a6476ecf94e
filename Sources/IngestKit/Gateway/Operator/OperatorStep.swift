/// One step of a scan or a read, as the operator's side is told it over the control socket.
package struct OperatorStep: Sendable, Equatable, Codable {
    package enum Kind: String, Sendable, Codable {
        /// A reading is under way and ends first.
        case readingUnderWay = "reading-under-way"
        /// The scan goes on: `found` devices so far, `seconds` to go.
        case scanning
        /// The device to be read has not shown itself yet.
        case waiting
        /// It is being read.
        case reading
        /// It gave a reading, which is not in the queue yet: `record`.
        case record
        /// The end: what was asked for is done. A scan's `devices`.
        case done
        /// The end: it is not; `reason` and `text` say why.
        case failed
    }

    package var step: Kind
    /// From 1 on.
    package var number = 0
    /// For people.
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

    package init(_ step: Kind, _ text: String? = nil, reason: FailureReason? = nil) {
        self.step = step
        self.text = text
        self.reason = reason
    }

    package var isLast: Bool { step == .done || step == .failed }
}
