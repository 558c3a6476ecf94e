package import IngestRecords
import Synchronization

/// What the operator set for a broker.
package struct MQTTSettings: DestinationForm {
    package static let typeName = "mqtt"
    package static let keys: [KeyDescription] = [
        KeyDescription("application_id", "text", default: "`ingestd-GATEWAY-NAME`", "The client identifier."),
        .batch,
        KeyDescription(
            "home_assistant", "boolean", default: "`false`",
            "Has Home Assistant discover a sensor for each value that is measured."),
        KeyDescription("protocol", "`5` or `3.1.1`", default: "`5`", "The version of MQTT."),
        .redact,
        KeyDescription(
            "status_topic", "text without `+` and `#`", default: "none",
            "The topic under which the broker keeps whether the gateway is connected, and how it fares; may hold "
                + "`{gateway}`."),
        KeyDescription(
            "topic", "text without `+` and `#`", default: "`ingestd/{gateway}/{kind}`",
            "The topic that a record is published under. Its placeholders are in docs/destinations/mqtt.md."),
        KeyDescription("user", "text", default: "none", "The user name."),
    ]

    private let text: String
    let address: BrokerAddress
    let clientID: String?
    package let topic: TopicTemplate
    /// The topic under which the broker keeps whether the gateway is connected, and its status document. Nil: the
    /// broker keeps neither.
    package let statusTopic: TopicTemplate?
    package let user: String?
    package let version: BrokerVersion
    /// Whether sensors are announced to Home Assistant.
    package let announcesSensors: Bool
    /// What messages do not hold of a record.
    package let redacted: Set<RedactedField>

    package init?(_ entries: some DestinationEntries) {
        let reader = entries.required("url", "a URL")
        let url = reader?.url(schemes: ["mqtts"], onLoopback: ["mqtt"])
        let address = url.flatMap { BrokerAddress(url: $0) }
        if url != nil, address == nil {
            reader?.error(
                expected: "a broker's host and port with nothing behind them, as mqtts://broker.example")
        }
        clientID = entries["application_id"]?.text()
        topic = Self.topic(entries["topic"], TopicTemplate.Placeholder.allCases) ?? .standard
        statusTopic = Self.topic(entries["status_topic"], [.gateway])
        user = entries["user"]?.text()
        version = entries["protocol"]?.choice(of: BrokerVersion.self) ?? .v5
        if version == .v311, user == nil {
            // Its section 3.1.2.9.
            entries["credential"]?.error(
                expected: "user beside it: MQTT 3.1.1 has no password without a user name")
        }
        redacted = entries["redact"]?.redactedFields() ?? []
        announcesSensors = entries["home_assistant"]?.boolean() ?? false
        if announcesSensors, redacted.contains(.address) {
            entries["home_assistant"]?.error(
                expected: "redact without address: sensors tell devices apart by it")
        }
        for hidden in topic.placeholders.compactMap(\.redacted) where redacted.contains(hidden) {
            entries["topic"]?.error(expected: "a topic without {\(hidden.rawValue)}, which redact leaves out")
        }
        guard let url, let address else { return nil }
        (text, self.address) = (url, address)
    }

    package var url: String? { text }
    package var endpoint: String { text }
    package var credentialKind: AuthenticationKind { .password }

    package func connect(_ parts: DestinationParts) -> ConnectedDestination {
        let status = parts.isTrial ? nil : statusTopic.map { BrokerStatus(topic: $0, gateway: parts.gateway) }
        let changes = WakeUp()
        let publisher = parts.publisher(
            BrokerSettings(
                address: address,
                // A broker ends the connection of a client when another one comes with its identifier.
                clientID: (clientID ?? "ingestd-\(parts.gateway)-\(parts.name)")
                    + (parts.isTrial ? "-doctor" : ""),
                version: version,
                // The broker has `online` alone then.
                status: status, connected: { changes.raise() }))
        let homeAssistant =
            announcesSensors && !parts.isTrial
            ? HomeAssistant(
                gateway: parts.gateway, availabilityTopic: status?.topic, catalogue: parts.catalogue,
                hidesSubjects: redacted.contains(.subject)) : nil
        let mqtt = MQTT(
            topic: topic, redacted: redacted, version: version, homeAssistant: homeAssistant,
            publisher: publisher
        ) {
            () throws(BrokerLoginError) in
            try BrokerLogin(
                user: user, credential: parts.credential, transport: parts.transportSettings,
                isEncrypted: address.isEncrypted, credentials: parts.credentials)
        }
        return ConnectedDestination(
            destination: mqtt,
            renew: { _ in
                await mqtt.renew()
                return true
            },
            allow: { entries in
                homeAssistant?.allow(entries)
                // What waits for the next record otherwise.
                _ = await Task { await mqtt.announce() }.result(
                    within: MQTT.announcementPatience, by: parts.clock)
            },
            atEnd: { await publisher.shutdown() },
            status: status.map { status in
                StatusOutlet(
                    interval: StatusSettings.usualInterval, redacted: redacted, changes: changes
                ) {
                    await mqtt.tell($0, under: status.topic)
                }
            })
    }

    /// Connects and ends the connection.
    package func tryOut(_ parts: DestinationParts) async -> TrialOutcome {
        let connected = connect(parts)
        let answer = await connected.destination.deliver(OutgoingBatch(gateway: parts.gateway, records: []))
        await connected.atEnd()
        return answer == .taken() ? .accepted : .failed(answer)
    }

    private static func topic(
        _ value: (some SettingValue)?, _ placeholders: [TopicTemplate.Placeholder]
    ) -> TopicTemplate? {
        guard let value, let text = value.text("a topic", limit: TopicTemplate.limit) else { return nil }
        do throws(TopicTemplate.Malformed) {
            return try TopicTemplate(text, allowed: placeholders)
        } catch {
            value.error(expected: "\(error.expected)")
            return nil
        }
    }
}

/// Publishes each record as a message at a broker (docs/destinations/mqtt.md).
package final class MQTT: Destination {
    private let topic: TopicTemplate
    private let redacted: Set<RedactedField>
    private let version: BrokerVersion
    private let homeAssistant: HomeAssistant?
    private let publisher: any MessagePublisher
    private let readLogin: @Sendable () throws(BrokerLoginError) -> BrokerLogin
    /// As last read; nil until it is, and after each answer but a good one.
    private let known = Mutex<BrokerLogin?>(nil)
    private let closings = BrokerClosings()

    /// - Parameter login: reads it anew.
    package init(
        topic: TopicTemplate = .standard, redacted: Set<RedactedField> = [], version: BrokerVersion = .v5,
        homeAssistant: HomeAssistant? = nil, publisher: any MessagePublisher,
        login: @escaping @Sendable () throws(BrokerLoginError) -> BrokerLogin
    ) {
        self.topic = topic
        self.redacted = redacted
        self.version = version
        self.homeAssistant = homeAssistant
        self.publisher = publisher
        self.readLogin = login
    }

    package func deliver(_ batch: OutgoingBatch) async -> DeliveryAnswer {
        var messages: [BrokerMessage] = []
        var contents: [(content: RecordContent, topic: String)] = []
        for json in batch.records {
            guard let record = RecordContent(json: json),
                let payload = RecordContent.json(json, without: redacted)
            else { return .unfit("is no record that can be read") }
            contents.append((record, topic.topic(of: record)))
            messages.append(
                BrokerMessage(topic: contents[contents.count - 1].topic, payload: Array(payload.utf8)))
        }
        do throws(BrokerLoginError) {
            let before = try currentLogin()
            if let obstacle = await announce(before: contents, as: before) {
                return remember(before, self.answer(obstacle, to: before, about: batch))
            }
            let outcome = await publisher.publish(messages, as: before)
            let answer = answer(outcome, to: before, about: batch)
            guard case .refused = outcome, case .unauthorized = answer else {
                return remember(before, answer)
            }
            // What was replaced meanwhile is tried at once; the same would not help.
            let fresh = try readLogin()
            guard fresh != before else { return remember(before, answer) }
            let second = await publisher.publish(messages, as: fresh)
            return remember(fresh, self.answer(second, to: fresh, about: batch))
        } catch {
            return .unavailable(httpStatus: nil, error: error.message, retryAfter: nil)
        }
    }

    /// How long a reload waits for the broker.
    static let announcementPatience = Duration.seconds(5)

    /// Takes back what is not to be seen any more.
    fileprivate func announce() async {
        guard let login = try? currentLogin() else { return }
        _ = await announce(before: [], as: login)
    }

    /// Publishes the discovery messages of the sensors that show these records. If the broker refuses one, the records
    /// are delivered all the same.
    /// - Returns: why there is no connection, if there is none.
    private func announce(
        before records: [(content: RecordContent, topic: String)], as login: BrokerLogin
    ) async -> PublishOutcome? {
        guard let homeAssistant, let messages = homeAssistant.messages(before: records) else { return nil }
        let outcome = await publisher.publish(messages.all, as: login)
        homeAssistant.note(messages, outcome)
        switch outcome {
        case .failed: return outcome
        // With another password it may be let in, which the records' own request finds out.
        case .refused, .answered, .ended, .closed, .tooLarge, .tooSlow, .withoutAcknowledgement: return nil
        }
    }

    /// Has the broker keep a status document.
    func tell(_ document: [UInt8], under topic: String) async -> DeliveryAnswer {
        do throws(BrokerLoginError) {
            let login = try currentLogin()
            let message = BrokerMessage(topic: topic, payload: document, isRetained: true)
            switch await publisher.publish([message], as: login) {
            // It is kept, for whoever subscribes later.
            case .answered([0x10], _): return .taken()
            case .closed: return .failing(error: "closes the connection at it")
            case let outcome:
                return answer(outcome, to: login, about: OutgoingBatch(gateway: "", records: []))
            }
        } catch {
            return .unavailable(httpStatus: nil, error: error.message, retryAfter: nil)
        }
    }

    /// Reads the credential and the files of TLS anew before the next message; one that differs makes a new connection.
    @discardableResult
    package func renew() async -> Bool {
        known.withLock { $0 = nil }
        return true
    }

    private func currentLogin() throws(BrokerLoginError) -> BrokerLogin {
        if let known = known.withLock({ $0 }) { return known }
        return try readLogin()
    }

    private func remember(_ login: BrokerLogin, _ answer: DeliveryAnswer) -> DeliveryAnswer {
        known.withLock { $0 = answer == .taken() ? login : nil }
        return answer
    }

    private func answer(
        _ outcome: PublishOutcome, to login: BrokerLogin, about batch: OutgoingBatch
    ) -> DeliveryAnswer {
        switch outcome {
        case .answered(let reasons, let reply):
            if version == .v311 { closings.noteTaken(batch.records.prefix(reasons.count)) }
            let words = reply.map(ShownSecrets(login.password).redacted(_:))
            return reasons.map { MQTTReason.answer($0, in: .message, reply: words) }
                .max { $0.weight < $1.weight } ?? .taken()
        case .refused(let reason):
            return MQTTReason.answer(reason, in: version == .v5 ? .connection : .returnCode)
        case .ended(let reason): return MQTTReason.answer(reason, in: .end)
        case .closed(let acknowledged):
            if acknowledged > 0 { closings.noteTaken(batch.records.prefix(acknowledged)) }
            return closings.answer(about: batch)
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
