import Dispatch

/// Runs what blocks on a thread that is not of the cooperative pool.
package enum BlockingCall {
    private static let queue = DispatchQueue(label: "ingestd.queue.opening")

    package static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws
        -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Result { try body() })
            }
        }
    }
}
