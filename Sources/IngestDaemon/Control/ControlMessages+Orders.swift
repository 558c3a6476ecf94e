/// An operator's orders: scans, reads and pairings.
extension ControlMessage {
    /// The answer to what begins an order.
    struct Begun: Codable, Sendable {
        var id: String
    }

    /// POST /v1/scans.
    struct Scan: Codable, Sendable {
        static let seconds = 1...120

        var seconds: Int

        func parsed() throws(Refusal) -> OperatorOrders.Order {
            guard Self.seconds.contains(seconds) else {
                throw Refusal(error: "expected 1 to 120 seconds", reason: .badRequest)
            }
            return .scan(.seconds(seconds))
        }
    }

    /// POST /v1/reads.
    struct Read: Codable, Sendable {
        static let seconds = 1...600

        /// A catalogue ID or an address.
        var target: String
        /// How long the device is waited for, in seconds.
        var timeout: Int
        var isDryRun: Bool

        enum CodingKeys: String, CodingKey {
            case target, timeout
            case isDryRun = "dry_run"
        }

        func parsed() throws(Refusal) -> OperatorOrders.Order {
            let target = try Target(target: target).parsed()
            guard Self.seconds.contains(timeout) else {
                throw Refusal(error: "expected 1 to 600 seconds", reason: .badRequest)
            }
            return .read(OperatorRead(target: target, timeout: .seconds(timeout), isDryRun: isDryRun))
        }
    }

    /// The answer to GET /v1/orders/ID?after=N: those after number N, none when there was none for a while. The
    /// order is cancelled when nobody asks any more.
    struct OrderSteps: Codable, Sendable {
        var steps: [OperatorStep]
    }

    /// POST /v1/orders/ID/answer: one of the two; neither refuses to give a passkey.
    struct Answer: Codable, Sendable {
        /// Six digits.
        var passkey: String?
        var sameNumber: Bool?
        /// The number of the step that asked, so that an answer that comes late answers no other question.
        var step: Int?

        enum CodingKeys: String, CodingKey {
            case passkey, step
            case sameNumber = "same_number"
        }

        func parsed() throws(Refusal) -> PairingAnswer {
            if let sameNumber { return .sameNumber(sameNumber) }
            guard let passkey else { return .passkey(nil) }
            guard let number = Passkey.read(passkey) else {
                throw Refusal(error: "expected a passkey of six digits", reason: .badPasskey)
            }
            return .passkey(number)
        }
    }
}
