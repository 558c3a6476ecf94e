/// What a destination's own listener for failed submissions is told, beside what every `failed` says. Times are in ISO
/// 8601 and in UTC.
package struct FailedSubmission: Sendable, Equatable {
    /// The destination's name for what was measured.
    package var dataType: String
    /// What was measured lies between these.
    package var from: String
    package var to: String
    /// When the gateway received it.
    package var collected: String
    /// When it was sent.
    package var submitted: String
    /// Of the request's body, in bytes.
    package var payloadSize: Int

    package init(
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
