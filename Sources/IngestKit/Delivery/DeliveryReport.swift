/// What a delivery has seen since the start.
package struct DeliveryReport: Sendable, Equatable {
    /// When the destination took records last.
    package var lastSubmit: MonotonicInstant?
    /// Why the last request did not succeed, in our words; nil when one has succeeded since.
    package var lastError: String?
    /// When the next request goes out, where one waits for its time.
    package var nextTry: MonotonicInstant?
}
