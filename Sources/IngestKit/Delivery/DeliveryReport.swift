/// What a delivery has seen since the start.
public struct DeliveryReport: Sendable, Equatable {
    /// When the destination took records last.
    public var lastSubmit: MonotonicInstant?
    /// Why the last request did not succeed, in our words; nil when one has succeeded since.
    public var lastError: String?
    /// When the next request goes out, where one waits for its time.
    public var nextTry: MonotonicInstant?
}
