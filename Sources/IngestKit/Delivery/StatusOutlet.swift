package import IngestRecords

/// Where and how often a webhook's receiver gets the status document.
package struct StatusSettings: Sendable, Equatable {
    /// As usual, and for a broker always.
    package static let usualInterval = Duration.seconds(900)

    /// Where to POST.
    package let url: String
    package let interval: Duration

    package init(url: String, interval: Duration = usualInterval) {
        self.url = url
        self.interval = interval
    }
}

/// Where a destination gets the status document, beside its records. What cannot be sent is not kept: the next one is
/// newer.
package struct StatusOutlet: Sendable {
    /// How often at least it gets one.
    package let interval: Duration
    /// The fields that are left out of its documents.
    package let redacted: Set<RedactedField>
    /// Raised when there is a reason to send one soon.
    package let changes: WakeUp
    /// Sends one, of JSON; returns within 60 s.
    package let send: @Sendable (_ document: [UInt8]) async -> DeliveryAnswer

    package init(
        interval: Duration, redacted: Set<RedactedField>, changes: WakeUp = WakeUp(),
        send: @escaping @Sendable (_ document: [UInt8]) async -> DeliveryAnswer
    ) {
        self.interval = interval
        self.redacted = redacted
        self.changes = changes
        self.send = send
    }
}

extension DeliveryAnswer {
    /// Why something was not taken, in our words, and what the server asked to wait; nil if it was.
    package var failure: (error: String, retryAfter: Duration?)? {
        switch self {
        case .taken: nil
        case .inProgress(let status, let wait): ("is still working on it (HTTP \(status))", wait)
        case .refused(_, let error, _), .failing(let error), .misplaced(_, let error): (error, nil)
        case .unfit: ("cannot be sent there", nil)
        case .tooLarge(let status): ("too large" + (status.map { " (HTTP \($0))" } ?? ""), nil)
        case .unauthorized(let status, let error):
            (error ?? "the credential is rejected" + (status.map { " (HTTP \($0))" } ?? ""), nil)
        case .sessionEnded(let status): ("the session has ended (HTTP \(status))", nil)
        case .busy(_, let error, let wait), .unavailable(_, let error, let wait): (error, wait)
        }
    }
}
