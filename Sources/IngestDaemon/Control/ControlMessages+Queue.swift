// What goes over the control socket about the queue.
extension ControlMessage {
    /// POST /v1/failed/retry. POST /v1/failed/drop takes a `DeadLetterSelection`.
    struct Retry: Codable, Sendable {
        var selection: DeadLetterSelection
        var subject: String?
        /// Where the former part ended.
        var after: Int64?
    }

    /// The answer to it.
    struct Retried: Codable, Sendable {
        var released: Int
        /// How many stay set aside, by the reason.
        var left: [String: Int]
        /// Where the rest begins.
        var next: Int64?
    }

    /// The answer to POST /v1/failed/drop.
    struct Dropped: Codable, Sendable {
        var dropped: Int
        /// Whether there may be more.
        var isPart: Bool

        enum CodingKeys: String, CodingKey {
            case dropped
            case isPart = "part"
        }
    }

    /// POST /v1/records/resend.
    struct Resend: Codable, Sendable {
        var destination: String
        /// Seconds since 1970; the second is the first that is left out.
        var since: Int64
        var until: Int64
        /// Where the former part ended.
        var after: Int64?
    }

    /// The answer to it.
    struct Resent: Codable, Sendable {
        var resent: Int
        /// Where the rest begins.
        var next: Int64?
    }
}

extension DeadLetterRefusal {
    var message: ControlMessage.Refusal {
        switch self {
        case .unknown(let name):
            ControlMessage.Refusal(
                error: "\(name): nothing that is set aside there has this id or tag: ingestd failed list",
                reason: .unknownRecord)
        case .ambiguous(let name):
            ControlMessage.Refusal(
                error: "\(name): several records have an id that begins so: write more of it",
                reason: .ambiguousRecord)
        case .stays(let id, let obstacle):
            ControlMessage.Refusal(error: "\(id) \(obstacle.message)", reason: FailureReason(obstacle))
        }
    }
}

extension FailureReason {
    init(_ obstacle: DeadLetterObstacle) {
        self =
            switch obstacle {
            case .undecoded: .undecoded
            case .damaged: .damaged
            case .notConfigured: .notConfigured
            case .unassigned: .unassigned
            case .notUnassigned: .notUnassigned
            case .controlSolution: .controlSolution
            case .anotherPerson: .anotherPerson
            case .anotherSession: .anotherSession
            }
    }
}
