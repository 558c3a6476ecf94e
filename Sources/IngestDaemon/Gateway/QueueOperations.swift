/// What an operator does with records: by the running service, or by a command that has the queue to itself.
struct QueueOperations: Sendable {
    private let queue: SQLiteQueue
    /// Of the tags by which the journal names records; nil: none was made yet.
    private let key: TagKey?
    private let gateway: String
    private let destinations: [String: DestinationSettings]

    init(_ queue: SQLiteQueue, configuration: Configuration, key: TagKey?) {
        self.queue = queue
        self.key = key
        gateway = configuration.gateway.id
        destinations = Dictionary(uniqueKeysWithValues: configuration.destinations.map { ($0.name, $0) })
    }

    func retry(_ message: ControlMessage.Retry) async throws -> ControlMessage.Retried {
        try await check(message.selection)
        if let subject = message.subject, !Subject.isName(subject) {
            throw ControlMessage.Refusal(
                error: "--subject: expected the name of a person, as in the configuration",
                reason: .badTarget)
        }
        let outcome: RetryOutcome
        do {
            outcome = try await queue.deadLetters.retry(
                try await queue.deadLetters.resolve(message.selection, by: key), subject: message.subject,
                gateway: gateway, after: message.after ?? 0)
        } catch DeadLetterRefusal.stays(let id, let obstacle) {
            // Who asks with a tag or the beginning of an id is not told the id: a value can be found from it.
            let name = message.selection.records.first {
                id.text.hasPrefix($0) || key?.tag(ofRecord: id.text) == $0
            }
            throw ControlMessage.Refusal(
                error: "\(name ?? "a record") \(obstacle.message)", reason: FailureReason(obstacle))
        }
        return ControlMessage.Retried(
            released: outcome.released,
            left: Dictionary(uniqueKeysWithValues: outcome.left.map { ($0.rawValue, $1) }),
            next: outcome.next)
    }

    func drop(_ selection: DeadLetterSelection) async throws -> ControlMessage.Dropped {
        try await check(selection)
        let count = try await queue.deadLetters.drop(try await queue.deadLetters.resolve(selection, by: key))
        if count > 0 {
            let records = count.counted("record that was", "records that were")
            StandardError.print("an operator has given up \(records) set aside")
        }
        return ControlMessage.Dropped(dropped: count, isPart: selection.records.isEmpty && count > 0)
    }

    func resend(_ message: ControlMessage.Resend) async throws -> ControlMessage.Resent {
        guard let destination = destinations[message.destination] else {
            throw ControlMessage.Refusal(
                error: "no destination of the configuration is named \(message.destination)",
                reason: .badTarget)
        }
        guard message.since < message.until else {
            throw ControlMessage.Refusal(
                error: "expected a range of time that ends after it begins", reason: .badTarget)
        }
        // Whatever two numbers came, their difference fits.
        let length = Int128(message.until) - Int128(message.since)
        if let longest = destination.type.longestResend, length > longest {
            throw ControlMessage.Refusal(
                error:
                    "\(message.destination) takes ranges of at most \(longest / 86_400) days: send one after the "
                    + "other",
                reason: .badTarget)
        }
        let outcome = try await queue.resender.resend(
            to: message.destination, measured: message.since..<message.until,
            batching: destination.batching, gateway: gateway, after: message.after ?? 0)
        return ControlMessage.Resent(resent: outcome.resent, next: outcome.next)
    }

    private func check(_ selection: DeadLetterSelection) async throws {
        guard selection.records.allSatisfy(DeadLetterSelection.isRecord) else {
            throw ControlMessage.Refusal.malformed
        }
        if let name = selection.destination, try await !queue.destinations.knows(name) {
            throw ControlMessage.Refusal(unknown: name)
        }
    }
}

extension ControlMessage.Refusal {
    /// Every configured destination is in the queue, from its opening on.
    init(unknown destination: String) {
        self.init(
            error: "neither the configuration nor the queue has a destination \(destination)",
            reason: .badTarget)
    }
}
