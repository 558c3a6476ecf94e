import FoundationEssentials

/// Why there is no token, as the answer to what would have been sent under it.
package struct OAuthFailure: Error, Sendable, Equatable {
    package let answer: DeliveryAnswer
}

/// The access tokens of one destination. They stay in memory, and are asked for by one request at a time.
package actor OAuthTokens {
    private struct Token: Sendable {
        let text: String
        /// When another one is asked for; nil: when this one is refused.
        let end: MonotonicInstant?
    }

    private typealias Asked = Result<Token, OAuthFailure>

    /// A token is used until so long before its end, or until a quarter of its time is left, if that is less.
    private static let margin: Int64 = 60
    /// How long an assertion waits for a clock that is right. After a start it takes a moment until the clock was judged.
    private static let clockPatience = Duration.seconds(30)
    /// A clock that is further from the server's is named as the reason of a refusal, in seconds.
    private static let noticedSkew: Int64 = 60
    /// The longest token that is put into a request, in bytes.
    private static let longestToken = 16 * 1_024
    /// Of RFC 6749 section 5.2. What else a server says is not repeated.
    private static let errors: Set = [
        "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
        "invalid_scope",
    ]

    private let settings: OAuthSettings
    private let credentials: Credentials
    private let transport: HTTPTransport
    private let clock: any GatewayClock
    private var known: Token?
    private var request: Task<Asked, Never>?

    package init(
        _ settings: OAuthSettings, credentials: Credentials, transport: HTTPTransport,
        clock: any GatewayClock
    ) {
        self.settings = settings
        self.credentials = credentials
        self.transport = transport
        self.clock = clock
    }

    /// The token for the next request.
    func token() async throws(OAuthFailure) -> String {
        if let known, known.end.map({ clock.now < $0 }) ?? true { return known.text }
        let task = request ?? Task { await ask() }
        request = task
        let asked = await task.value
        if request == task { request = nil }
        let token = try asked.get()
        known = token
        return token.text
    }

    /// A server has refused this token: another one is asked for.
    func forget(_ text: String) {
        if known?.text == text { known = nil }
    }

    private func ask() async -> Asked {
        var fields = [("grant_type", "client_credentials")]
        if let scope = settings.scope { fields.append(("scope", scope)) }
        var headers = [
            ("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json"),
            ("User-Agent", "ingestd"),
        ]
        do throws(OAuthFailure) {
            switch settings.client {
            case .secret(let name): headers.append(("Authorization", try basic(name)))
            case .privateKey(let name):
                fields += [
                    ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
                    ("client_assertion", try await assertion(name)),
                ]
            }
        } catch {
            return .failure(error)
        }
        let form = fields.map { $0.0 + "=" + URLText.percentEncoded($0.1) }.joined(separator: "&")
        let began = clock.now
        do throws(HTTPTransport.Failure) {
            return meaning(
                try await transport.post(
                    Array(form.utf8), to: settings.tokenURL, headers: headers, clock: clock), since: began)
        } catch {
            return .failure(.unavailable("authorization server: \(error.message)"))
        }
    }

    private func basic(_ name: CredentialName) throws(OAuthFailure) -> String {
        guard let secret = try? credentials.read(name).text else {
            throw .unavailable("the credential cannot be read")
        }
        let pair = URLText.percentEncoded(settings.clientID) + ":" + URLText.percentEncoded(secret)
        return "Basic " + Data(pair.utf8).base64EncodedString()
    }

    private func assertion(_ name: CredentialName) async throws(OAuthFailure) -> String {
        let found: ClientKey?
        do {
            found = try credentials.clientKey(name)
        } catch {
            throw .unavailable("the credential cannot be read")
        }
        guard let key = found else { throw .unavailable("oauth.private_key: \(ClientKey.expected)") }
        guard let now = await trustedSeconds() else {
            throw .unavailable("no token can be asked for: the clock of this box is not known to be right")
        }
        let assertion = try? key.assertion(
            of: settings.clientID, for: settings.tokenURL, at: now, identifier: UUID().uuidString)
        guard let assertion else { throw .unavailable("oauth.private_key: cannot sign") }
        return assertion
    }

    private func trustedSeconds() async -> Int64? {
        let end = clock.now + Self.clockPatience
        while true {
            if let wall = clock.trustedWallNanoseconds { return wall / 1_000_000_000 }
            guard clock.now < end, (try? await clock.sleep(for: .seconds(1))) != nil else { return nil }
        }
    }

    // MARK: Answers

    /// What a successful answer holds (RFC 6749 section 5.1).
    private struct Grant: Decodable {
        let accessToken: String
        let tokenType: String
        /// In seconds.
        let expiresIn: Double?
    }

    private struct Refusal: Decodable {
        let error: String
    }

    private func meaning(_ answer: HTTPTransport.Answer, since began: MonotonicInstant) -> Asked {
        let body = Data((answer.body ?? "").utf8)
        switch answer.status {
        case 200..<300:
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            guard let grant = try? decoder.decode(Grant.self, from: body),
                grant.tokenType.lowercased() == "bearer", Self.isToken(grant.accessToken)
            else { return .failure(.unavailable("authorization server: the answer holds no bearer token")) }
            let end = grant.expiresIn.map { seconds in
                let lifetime = Int64(max(0, min(seconds, 1e9)))
                return began + .seconds(lifetime - min(Self.margin, lifetime / 4))
            }
            return .success(Token(text: grant.accessToken, end: end))
        case 400, 401, 403:
            let said = (try? JSONDecoder().decode(Refusal.self, from: body))?.error
            let words = said.flatMap { Self.errors.contains($0) ? $0 : nil } ?? "HTTP \(answer.status)"
            return .failure(
                OAuthFailure(
                    answer: .unauthorized(
                        httpStatus: answer.status,
                        error: "the authorization server refuses this client: \(words)\(skew(answer.date))")))
        default:
            let now = clock.wallNanoseconds / 1_000_000_000
            let retryAfter = RetryAfter.parse(answer.retryAfter, date: answer.date, nowSeconds: now)
            let words = "authorization server: HTTP \(answer.status)"
            switch answer.status {
            case 429:
                return .failure(.init(answer: .busy(httpStatus: 429, error: words, retryAfter: retryAfter)))
            case 300..<429, 430..<500:
                return .failure(.init(answer: .misplaced(httpStatus: answer.status, error: words)))
            default: return .failure(.unavailable(words, httpStatus: answer.status, retryAfter: retryAfter))
            }
        }
    }

    /// That the clocks differ, where that may be why an assertion was refused.
    private func skew(_ date: String?) -> String {
        guard case .privateKey = settings.client,
            let server = date.flatMap(RetryAfter.secondsSince1970(httpDate:))
        else { return "" }
        let lead = clock.wallNanoseconds / 1_000_000_000 - server
        guard lead.magnitude > Self.noticedSkew else { return "" }
        return
            "; this box's clock is \((lead.magnitude + 30) / 60) min \(lead > 0 ? "ahead of" : "behind") the server's"
    }

    /// Visible ASCII of a length that goes into a header (RFC 6750 section 2.1).
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= longestToken
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

extension ClientKey {
    /// What a private key has to be.
    package static let expected =
        "expected a private key in PEM: EC on the curve P-384, or RSA of 2048 bits or more"
}

extension OAuthFailure {
    fileprivate static func unavailable(
        _ words: String, httpStatus: Int? = nil, retryAfter: Duration? = nil
    ) -> Self {
        Self(answer: .unavailable(httpStatus: httpStatus, error: words, retryAfter: retryAfter))
    }
}
