import Synchronization

/// Finds the record at which a broker of MQTT 3.1.1 closes the connection: it can refuse a message in no other way
/// (section 3.3.5), and a restart or a broken network look the same.
final class BrokerClosings: Sendable {
    /// What a record has to come to before it counts as refused.
    private struct Suspicion {
        var closings = 0
        /// Whether the broker has taken another record since.
        var isOtherTaken = false
    }

    /// By then it was no restart.
    private static let proof = 5
    /// Each lane has one at a time.
    private static let mostSuspects = 16

    private let suspects = Mutex<[String: Suspicion]>([:])

    /// The broker has acknowledged these.
    func noteTaken(_ records: some Sequence<String>) {
        suspects.withLock { suspects in
            for record in records { suspects[record] = nil }
            for key in suspects.keys { suspects[key]?.isOtherTaken = true }
        }
    }

    /// The broker has closed the connection before it had acknowledged all of the batch. Of several records each half is
    /// tried alone. A single one is tried again, while others go their way, until the broker has closed the connection at
    /// it time and again and has taken others meanwhile.
    func answer(about batch: OutgoingBatch) -> DeliveryAnswer {
        guard let record = batch.records.first, batch.records.count == 1 else { return .tooLarge() }
        let isProven = suspects.withLock { suspects in
            if suspects[record] == nil, suspects.count >= Self.mostSuspects { suspects = [:] }
            var suspicion = suspects[record] ?? Suspicion()
            suspicion.closings += 1
            let isProven = suspicion.closings >= Self.proof && suspicion.isOtherTaken
            suspects[record] = isProven ? nil : suspicion
            return isProven
        }
        guard isProven else {
            return .failing(
                error: "closes the connection at this message, and MQTT 3.1.1 has it give no reason")
        }
        return .refused(
            httpStatus: nil,
            error:
                "closed the connection \(Self.proof) times or more at this message, and took others meanwhile",
            reply: nil)
    }
}
