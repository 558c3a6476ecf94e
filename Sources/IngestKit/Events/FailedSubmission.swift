/// What a destination's own listener for failed submissions is told, beside what every `failed` says. Times are in ISO
/// 8601 and in UTC.
public struct FailedSubmission: Sendable, Equatable {
    /// The destination's name for what was measured.
    public var dataType: String
    /// What was measured lies between these.
    public var from: String
    public var to: String
    /// When the gateway received it.
    public var collected: String
    /// When it was sent.
    public var submitted: String
    /// Of the request's body, in bytes.
    public var payloadSize: Int

    public init(
        dataType: String, from: String, to: String, collected: String, submitted: String, payloadSize: Int
    ) {
        self.dataType = dataType
        self.from = from
        self.to = to
        self.collected = collected
        self.submitted = submitted
        self.payloadSize = payloadSize
    }

    var fields: [(EventField, String)] {
        [
            (.dataType, dataType), (.dateFrom, from), (.dateTo, to), (.collectedAt, collected),
            (.submittedAt, submitted), (.payloadSize, String(payloadSize)),
        ]
    }
}
