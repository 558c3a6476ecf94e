import Dispatch
import Glibc

/// Hands readings out for plots, to those who could read the queue themselves: root, and the user of the service. It
/// reads beside the service, one question at a time.
actor ReadingDesk {
    /// Of one answer; of a device that is read each minute, a day and a half.
    static let mostReadings = 2_000
    /// Of one question; some seconds of work on a small box.
    static let mostSeen = 20_000

    private let path: String
    private var isBusy = false

    /// - Parameter path: of the queue's file.
    init(path: String) {
        self.path = path
    }

    /// - Parameter user: who asks; nil is not known.
    /// - Throws: `ControlMessage.Refusal`, `StoreError`.
    func readings(
        _ question: ControlMessage.Readings, user: UInt32?
    ) async throws -> ControlMessage.ReadingList {
        guard let user, user == 0 || user == geteuid() else {
            throw ControlMessage.Refusal(
                error: "only root and the user of the service may see readings", reason: .noPermission)
        }
        guard (question.device == nil) != (question.subject == nil) else {
            throw ControlMessage.Refusal.malformed
        }
        guard !isBusy else {
            throw ControlMessage.Refusal(
                error: "readings are being looked for already: ask again", reason: .busy)
        }
        isBusy = true
        defer { isBusy = false }
        let found = try await newest(question)
        return ControlMessage.ReadingList(readings: found.records.map { .init($0) }, isPart: found.isPart)
    }

    /// Reads on a thread that may block.
    private func newest(
        _ question: ControlMessage.Readings
    ) async throws -> (records: [RecordSummary], isPart: Bool) {
        let path = path
        let address = question.device?.description
        return try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global(qos: .utility).async {
                continuation.resume(
                    with: Result {
                        try QueueReader(path: path).newestRecords(
                            since: question.since, most: Self.mostReadings, mostSeen: Self.mostSeen
                        ) { record in
                            address.map { record.address == $0 } ?? (record.subject == question.subject)
                        }
                    })
            }
        }
    }
}
