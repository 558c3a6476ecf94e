import IngestRecords
import Synchronization

/// Publishes each record as a message at a broker (docs/destinations/mqtt.md).
package final class MQTT: Destination {
    private let topic: TopicTemplate
    private let publisher: any MessagePublisher
    private let readLogin: @Sendable () throws(BrokerLoginError) -> BrokerLogin
    /// As last read; nil until it is, and after each answer but a good one.
    private let known = Mutex<BrokerLogin?>(nil)

    /// - Parameter login: reads it anew.
    package init(
        topic: TopicTemplate = .standard, publisher: any MessagePublisher,
        login: @escaping @Sendable () throws(BrokerLoginError) -> BrokerLogin
    ) {
        self.topic = topic
        self.publisher = publisher
        self.readLogin = login
    }

    package func deliver(_ batch: OutgoingBatch) async -> DeliveryAnswer {
        var messages: [BrokerMessage] = []
        for json in batch.records {
            guard let record = RecordContent(json: json) else {
                return .unfit("is no record that can be read")
            }
            messages.append(BrokerMessage(topic: topic.topic(of: record), payload: Array(json.utf8)))
        }
        do throws(BrokerLoginError) {
            let before = try currentLogin()
            let outcome = await publisher.publish(messages, as: before)
            let answer = Self.answer(outcome, to: before)
            guard case .refused = outcome, case .unauthorized = answer else {
                return remember(before, answer)
            }
            // What was replaced meanwhile is tried at once; the same would not help.
            let fresh = try readLogin()
            guard fresh != before else { return remember(before, answer) }
            return remember(fresh, Self.answer(await publisher.publish(messages, as: fresh), to: fresh))
        } catch {
            return .unavailable(httpStatus: nil, error: error.words, retryAfter: nil)
        }
    }

    /// Reads the credential and the files of TLS anew before the next message; one that differs makes a new connection.
    package func renew() {
        known.withLock { $0 = nil }
    }

    private func currentLogin() throws(BrokerLoginError) -> BrokerLogin {
        if let known = known.withLock({ $0 }) { return known }
        return try readLogin()
    }

    private func remember(_ login: BrokerLogin, _ answer: DeliveryAnswer) -> DeliveryAnswer {
        known.withLock { $0 = answer == .taken() ? login : nil }
        return answer
    }

    private static func answer(_ outcome: PublishOutcome, to login: BrokerLogin) -> DeliveryAnswer {
        switch outcome {
        case .answered(let reasons, let reply):
            let words = reply.map(ShownSecrets(login.password).redacted(_:))
            return reasons.map { MQTTReason.answer($0, in: .message, reply: words) }
                .max { $0.weight < $1.weight } ?? .taken()
        case .refused(let reason): return MQTTReason.answer(reason, in: .connection)
        case .ended(let reason): return MQTTReason.answer(reason, in: .end)
        // Half of it may be in time.
        case .tooLarge, .tooSlow: return .tooLarge()
        case .withoutAcknowledgement: return MQTTReason.answer(0x9B, in: .connection)
        case .failed(let error): return .unavailable(httpStatus: nil, error: error, retryAfter: nil)
        }
    }
}

extension DeliveryAnswer {
    /// Of the answers to the messages of a batch the one that concerns most of them counts.
    fileprivate var weight: Int {
        switch self {
        case .taken: 0
        case .refused, .unfit, .tooLarge: 1
        case .failing, .inProgress: 2
        case .busy: 3
        case .unavailable: 4
        case .misplaced: 5
        case .unauthorized, .sessionEnded: 6
        }
    }
}
