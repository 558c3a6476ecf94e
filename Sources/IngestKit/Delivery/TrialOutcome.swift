/// What came of asking a destination's server something that leaves nothing there.
package enum TrialOutcome: Sendable, Equatable {
    /// Its type has no such request.
    case none
    /// The server answered, and accepted the credential.
    case accepted
    /// The server answered that it does not allow this question, or does not know it. Whether it takes records is not known.
    case notAllowed(httpStatus: Int)
    /// As it would be for a batch.
    case failed(DeliveryAnswer)

    /// How long an answer is waited for.
    package static let limit = Duration.seconds(10)
}
