internal import CMosquitto
import IngestDelivery

/// One connection to a broker on libmosquitto, from CONNECT to its end. It is not made anew, and nothing is sent again on
/// another: what was not acknowledged is in the queue. Everything blocks, and is called by one thread at a time.
@safe
final class BrokerConnection {
    /// Why a wait ended before what was waited for came.
    private enum Ending {
        case overdue
        case over(PublishOutcome)
    }

    /// From the first packet until the broker has let us in and taken the status, with TLS.
    private static let connectBound = Duration.seconds(10)
    /// Without an acknowledgement, and for all messages together. With a second login, and the look-up of the host's
    /// name, it all stays below what the delivery worker takes for a request that hangs.
    private static let silenceBound = Duration.seconds(30)
    private static let publishBound = Duration.seconds(50)
    /// How long one turn waits, in milliseconds: that often it is asked whether the caller has gone.
    private static let turn: Int32 = 200
    /// How often the broker hears from the gateway at least, in seconds, unless it wants another time. It gives up after
    /// one and a half times that (section 3.1.2.10).
    private static let keepAlive: Int32 = 60

    let login: BrokerLogin
    private let version: BrokerVersion
    private let client: OpaquePointer

    /// Nil without memory.
    init?(clientID: String, version: BrokerVersion, login: BrokerLogin) {
        guard let client = unsafe CMosquitto_new(clientID, version == .v311) else { return nil }
        unsafe self.client = client
        self.login = login
        self.version = version
    }

    deinit { unsafe CMosquitto_free(client) }

    /// Connects, and tells under the status topic that the gateway is there.
    /// - Returns: nil when the broker lets it in.
    func connect(
        to address: BrokerAddress, byIPv4: Bool, status: BrokerStatus?, isAbandoned: () -> Bool
    ) -> PublishOutcome? {
        var result = unsafe CMosquitto_set_login(client, login.user, login.password)
        if result == 0, address.isEncrypted {
            result = unsafe CMosquitto_set_tls(client, login.authorities, login.certificate, login.key)
        }
        if result == 0, let status {
            result = unsafe CMosquitto_set_will(client, status.topic, status.offline)
        }
        if result == 0 {
            result = unsafe CMosquitto_connect(
                client, address.host, Int32(address.port), Self.keepAlive, byIPv4)
        }
        guard result == 0 else { return .failed(reason(result)) }
        let end = ContinuousClock.now + Self.connectBound
        let ending = wait(until: end, isAbandoned: isAbandoned) { unsafe CMosquitto_welcome(client) >= 0 }
        switch ending {
        case .over(let outcome): return outcome
        case .overdue: return .failed(hasPeer ? "the broker did not answer within 10 s" : Self.noConnection)
        case nil: break
        }
        let welcome = unsafe CMosquitto_welcome(client)
        guard welcome == 0 else { return .refused(UInt8(truncatingIfNeeded: welcome)) }
        return status.flatMap { tell($0, until: end, isAbandoned: isAbandoned) }
    }

    /// What is said of a connection that TCP did not make in time.
    static let noConnection = "no connection within 10 s"

    private var isClosed: Bool { unsafe CMosquitto_is_closed(client) }
    private var hasPeer: Bool { unsafe CMosquitto_has_peer(client) }

    private func tell(
        _ status: BrokerStatus, until end: ContinuousClock.Instant, isAbandoned: () -> Bool
    ) -> PublishOutcome? {
        let message = BrokerMessage(topic: status.topic, payload: Array(status.online.utf8), isRetained: true)
        switch publish([message], until: end, isAbandoned: isAbandoned) {
        // It is kept, for whoever subscribes later.
        case .answered([0x00], _), .answered([0x10], _): return nil
        case .answered(let reasons, _): return .refused(reasons.first ?? 0x80)
        case .closed: return .failed("the connection was closed at the message under status_topic")
        case let other: return other
        }
    }

    /// Publishes in order; at most `CMosquitto_window` messages.
    func publish(_ messages: [BrokerMessage], isAbandoned: () -> Bool) -> PublishOutcome {
        publish(messages, until: ContinuousClock.now + Self.publishBound, isAbandoned: isAbandoned)
    }

    private func publish(
        _ messages: [BrokerMessage], until end: ContinuousClock.Instant, isAbandoned: () -> Bool
    ) -> PublishOutcome {
        var numbers: [Int32] = []
        var obstacle: PublishOutcome?
        for message in messages {
            switch queue(message) {
            case .success(let number): numbers.append(number)
            case .failure(let found): obstacle = found.outcome
            }
            if obstacle != nil { break }
        }
        var reasons: [UInt8] = []
        for number in numbers {
            let silence = ContinuousClock.now + Self.silenceBound
            let ending = wait(until: min(end, silence), isAbandoned: isAbandoned) {
                unsafe CMosquitto_answer(client, number) >= 0
            }
            switch ending {
            // MQTT 3.1.1 has no DISCONNECT of the broker's: this is how it refuses a message (section 3.3.5).
            case .over(.failed) where version == .v311 && isClosed:
                return .closed(acknowledged: reasons.count)
            case .over(let outcome): return outcome
            case .overdue:
                return reasons.isEmpty ? .failed("no acknowledgement in time") : .tooSlow
            case nil:
                reasons.append(UInt8(truncatingIfNeeded: unsafe CMosquitto_answer(client, number)))
            }
        }
        let reply = unsafe String(cString: CMosquitto_reason(client))
        return obstacle ?? .answered(reasons, reply: reply.isEmpty ? nil : reply)
    }

    private struct Obstacle: Error {
        let outcome: PublishOutcome
    }

    private func queue(_ message: BrokerMessage) -> Result<Int32, Obstacle> {
        var number: Int32 = 0
        let result = unsafe message.payload.withUnsafeBytes { payload in
            unsafe CMosquitto_publish(
                client, message.topic, payload.baseAddress, payload.count, message.isRetained, &number)
        }
        let outcome: PublishOutcome
        switch result {
        case MOSQ_ERR_SUCCESS.rawValue: return .success(number)
        case MOSQ_ERR_OVERSIZE_PACKET.rawValue, MOSQ_ERR_PAYLOAD_SIZE.rawValue: outcome = .tooLarge
        case MOSQ_ERR_QOS_NOT_SUPPORTED.rawValue: outcome = .withoutAcknowledgement
        // The library's own look at the topic.
        case MOSQ_ERR_MALFORMED_UTF8.rawValue, MOSQ_ERR_INVAL.rawValue: outcome = .refused(0x90)
        case MOSQ_ERR_RETAIN_NOT_SUPPORTED.rawValue: outcome = .refused(0x9A)
        default: outcome = .failed(reason(result))
        }
        return .failure(Obstacle(outcome: outcome))
    }

    /// Does what there is to do without waiting: answers of the broker, a ping when it is time.
    /// - Returns: whether the connection stands.
    func tick() -> Bool {
        unsafe CMosquitto_turn(client, 0) == 0
    }

    /// How often `tick` is to be called: a sixth of the time after which the broker wants to hear from us, so that no ping
    /// is too late.
    var tickInterval: Duration { .seconds(max(1, unsafe CMosquitto_keep_alive(client) / 6)) }

    /// Ends the connection.
    /// - Parameter publishesWill: whether the broker tells that the gateway has gone.
    func disconnect(publishesWill: Bool) {
        // Its DISCONNECT takes the will back (section 3.14.4 of MQTT 3.1.1): the end of the connection alone has the
        // broker publish it.
        if publishesWill, version == .v311 { return }
        // Section 3.14.2.1 of MQTT 5: normal disconnection, disconnect with will message.
        unsafe CMosquitto_disconnect(client, publishesWill ? 0x04 : 0x00)
    }

    private func wait(
        until end: ContinuousClock.Instant, isAbandoned: () -> Bool, _ isDone: () -> Bool
    ) -> Ending? {
        while !isDone() {
            guard !isAbandoned() else { return .over(.failed("the request was abandoned")) }
            guard ContinuousClock.now < end else { return .overdue }
            let result = unsafe CMosquitto_turn(client, Self.turn)
            guard result != 0, !isDone() else { continue }
            let farewell = unsafe CMosquitto_farewell(client)
            return .over(
                farewell >= 0 ? .ended(UInt8(truncatingIfNeeded: farewell)) : .failed(reason(result)))
        }
        return nil
    }

    private func reason(_ result: Int32) -> String {
        let problem = unsafe String(cString: CMosquitto_problem(client))
        return ConnectionWords(
            result: result, errno: unsafe CMosquitto_errno(client), problem: problem, version: version
        ).text
    }
}
