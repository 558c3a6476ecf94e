import FoundationEssentials

/// Requests to Junction's hosts.
struct JunctionClient: Sendable {
    let transport: HTTPTransport
    let clock: any GatewayClock

    /// What shows Junction who sends.
    enum Credential: Sendable, Equatable {
        case apiKey(String)
        case accessToken(String)

        var text: String {
            switch self {
            case .apiKey(let text), .accessToken(let text): text
            }
        }

        fileprivate var header: (String, String) {
            switch self {
            case .apiKey(let key): ("x-vital-api-key", key)
            case .accessToken(let token): ("Authorization", "Bearer " + token)
            }
        }
    }

    /// An answer, and what it means for what was sent.
    struct Reply {
        let status: Int?
        let meaning: DeliveryAnswer
        /// What the server said; may hold secrets.
        let body: String?

        var isTaken: Bool { if case .taken = meaning { true } else { false } }
    }

    /// Sends JSON.
    /// - Parameter packs: whether it goes as gzip, which Junction's SDKs use for data.
    func post(
        _ body: [UInt8], to url: String, as credential: Credential, packs: Bool = false
    ) async -> Reply {
        var headers = [("Content-Type", "application/json"), credential.header]
        var sent = body
        if packs {
            guard let packed = try? Gzip.compress(body) else {
                return Self.failure("the body could not be compressed")
            }
            sent = packed
            headers.append(("Content-Encoding", "gzip"))
        }
        return await send(sent, to: url, headers, hiding: credential.text)
    }

    /// Asks for tokens (RFC 6749).
    func tokens(_ fields: [(String, String)], at url: String) async -> Reply {
        let form = fields.map { $0.0 + "=" + URLText.percentEncoded($0.1) }.joined(separator: "&")
        return await send(
            Array(form.utf8), to: url, [("Content-Type", "application/x-www-form-urlencoded")],
            hiding: nil)
    }

    private static let common = [("Accept", "application/json"), ("User-Agent", "ingestd")]

    private func send(
        _ body: [UInt8], to url: String, _ headers: [(String, String)], hiding secret: String?
    ) async -> Reply {
        await reply(hiding: secret) { () throws(HTTPTransport.Failure) in
            try await transport.post(body, to: url, headers: headers + Self.common, clock: clock)
        }
    }

    private func reply(
        hiding secret: String?, _ exchange: () async throws(HTTPTransport.Failure) -> HTTPTransport.Answer
    ) async -> Reply {
        do {
            let answer = try await exchange()
            let retryAfter = RetryAfter.parse(
                answer.retryAfter, date: answer.date, nowSeconds: clock.wallNanoseconds / 1_000_000_000)
            // Of a request for tokens nothing is kept.
            let words = secret.flatMap { answer.body.map(ShownSecrets($0).redacted(_:)) }
            return Reply(
                status: answer.status,
                meaning: DeliveryAnswer(httpStatus: answer.status, retryAfter: retryAfter, reply: words),
                body: answer.body)
        } catch {
            return Self.failure(error.message)
        }
    }

    private static func failure(_ words: String) -> Reply {
        Reply(status: nil, meaning: .unavailable(httpStatus: nil, error: words, retryAfter: nil), body: nil)
    }
}

extension JunctionClient {
    /// Makes a user with an API key. Where there is one of this name already, it is refused, and the refusal tells
    /// which (`userID(in:)`).
    func makeUser(
        _ clientUserID: String, at settings: JunctionSettings, as credential: Credential
    ) async -> Reply {
        var text = JSONText()
        text.beginObject()
        text.member("client_user_id", clientUserID)
        text.endObject()
        return await post(text.bytes, to: settings.api + "/v2/user", as: credential)
    }

    /// Asks for the user of a name; 404 if there is none.
    /// - Parameter limit: from the call to the answer's status; at most 60 s.
    func resolve(
        _ clientUserID: String, at settings: JunctionSettings, as credential: Credential,
        within limit: Duration
    ) async -> Reply {
        let url = settings.api + "/v2/user/resolve/" + URLText.percentEncoded(clientUserID)
        return await reply(hiding: credential.text) { () throws(HTTPTransport.Failure) in
            try await transport.get(
                url, headers: [credential.header] + Self.common, within: limit, clock: clock)
        }
    }

    /// The user that was made, or was there.
    static func userID(in reply: Reply) -> String? {
        struct Made: Decodable {
            let userID: String

            enum CodingKeys: String, CodingKey {
                case userID = "user_id"
            }
        }
        guard let body = reply.body else { return nil }
        if reply.isTaken {
            let made = try? JSONDecoder().decode(Made.self, from: Data(body.utf8))
            return made.flatMap { JunctionUserID($0.userID)?.text }
        }
        guard reply.status == 400 else { return nil }
        return JunctionRefusal(body)?.detail.userID.flatMap { JunctionUserID($0)?.text }
    }
}

/// Makes users at Junction, as `ingestd user create` does.
package struct JunctionUsers: Sendable {
    /// A user under the name that was asked for.
    package struct User: Sendable, Equatable {
        /// Junction's id.
        package let id: String
        /// Whether it is new.
        package let isNew: Bool
    }

    /// Why there is none.
    package enum Failure: Error, Sendable, Equatable {
        /// In our words.
        case unavailable(String)
        case keyRejected(httpStatus: Int)
        /// The server does not take it.
        case refused(String)
    }

    private let settings: JunctionSettings
    private let client: JunctionClient

    package init(settings: JunctionSettings, transport: HTTPTransport, clock: any GatewayClock) {
        self.settings = settings
        client = JunctionClient(transport: transport, clock: clock)
    }

    /// Makes the user of the settings.
    package func create(apiKey: String) async throws(Failure) -> User {
        if let words = settings.contradiction("the API key", of: JunctionPlace(ofKey: apiKey)) {
            throw .refused(words)
        }
        let reply = await client.makeUser(settings.user, at: settings, as: .apiKey(apiKey))
        if let id = JunctionClient.userID(in: reply) { return User(id: id, isNew: reply.isTaken) }
        switch reply.meaning {
        case .unauthorized(let status, _): throw .keyRejected(httpStatus: status ?? 401)
        case .unavailable(_, let error, _), .busy(_, let error, _): throw .unavailable(error)
        case .misplaced(_, let error): throw .refused(error)
        default: throw .refused("answers HTTP \(reply.status ?? 0) to a new user")
        }
    }
}
