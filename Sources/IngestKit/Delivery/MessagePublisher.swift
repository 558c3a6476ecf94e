/// The port to an MQTT broker.
package protocol MessagePublisher: Sendable {
    /// Publishes the messages in their order with QoS 1 (MQTT 5, section 4.3.2), over the connection that stands for
    /// this login or a new one. It asks the broker once: nothing is sent again, and no connection made anew. Returns
    /// within 60 s if the host's name is found at once, and as soon as the task is cancelled.
    func publish(_ messages: [BrokerMessage], as login: BrokerLogin) async -> PublishOutcome
    /// Ends the connection for good, and tells so under the status topic.
    func shutdown() async
}

/// The version of MQTT that is spoken with a broker.
package enum BrokerVersion: String, Sendable, Hashable, CaseIterable {
    case v5 = "5"
    case v311 = "3.1.1"
}

/// Where to connect, and as what.
package struct BrokerSettings: Sendable {
    package let address: BrokerAddress
    package let clientID: String
    package let version: BrokerVersion
    /// Nil: the broker tells nobody whether the gateway is connected.
    package let status: BrokerStatus?
    /// Called when a connection was made.
    package let connected: @Sendable () -> Void
}

package struct BrokerMessage: Sendable, Equatable {
    package let topic: String
    package let payload: [UInt8]
    /// Whether the broker keeps it for who subscribes later.
    package let isRetained: Bool

    package init(topic: String, payload: [UInt8], isRetained: Bool = false) {
        self.isRetained = isRetained
        self.topic = topic
        self.payload = payload
    }
}

/// What came of messages.
package enum PublishOutcome: Sendable, Equatable {
    /// Each was answered: the reason codes of the PUBACKs, in the messages' order; 0 where MQTT 3.1.1 has none.
    /// - Parameter reply: the Reason String that came last, in the broker's words.
    case answered([UInt8], reply: String?)
    /// The broker did not let us in: the reason code of its CONNACK; of one of MQTT 3.1.1, its return code.
    case refused(UInt8)
    /// The broker ended the connection before everything was answered: the reason code of its DISCONNECT.
    case ended(UInt8)
    /// The broker closed the connection before everything was answered, and could not say why (MQTT 3.1.1).
    /// - Parameter acknowledged: of how many messages the answer had come.
    case closed(acknowledged: Int)
    /// A message is larger than what the broker takes (Maximum Packet Size); it was not sent.
    case tooLarge
    /// Answers were still coming when the time was over.
    case tooSlow
    /// The broker takes QoS 0 alone (Maximum QoS).
    case withoutAcknowledgement
    /// The connection was not made, or broke. In our words.
    case failed(String)
}
