internal import Synchronization

/// POSTs to one destination under a secret that may be replaced while the gateway runs: a token, keys to sign with.
final class AuthorizedPosts<Secret: Sendable & Equatable>: Sendable {
    private struct Known {
        /// As last read.
        var secret: Secret?
        /// The one that the server rejected last.
        var rejected: Secret?
    }

    private let transport: HTTPTransport
    private let clock: any GatewayClock
    /// Where the secret's token is from; nil: a file, and the secret is read once.
    private let oauth: OAuthTokens?
    private let token: @Sendable (Secret) -> String?
    private let read: @Sendable () async throws -> Secret
    private let known = Mutex(Known())

    /// - Parameters:
    ///   - oauth: where the secret's token is from, if it is not from a file.
    ///   - token: the token of a secret.
    ///   - read: reads the secret anew.
    init(
        transport: HTTPTransport, clock: any GatewayClock, oauth: OAuthTokens? = nil,
        token: @escaping @Sendable (Secret) -> String? = { _ in nil },
        read: @escaping @Sendable () async throws -> Secret
    ) {
        self.transport = transport
        self.clock = clock
        self.oauth = oauth
        self.token = token
        self.read = read
    }

    /// Makes a request under the secret. Where that is not accepted, and it was replaced meanwhile, once more: the same
    /// would not help.
    func perform(_ request: (Secret) async -> DeliveryAnswer) async -> DeliveryAnswer {
        let before: Secret
        do {
            before = try await current()
        } catch {
            return Self.answer(to: error)
        }
        let answer = await request(before)
        guard case .unauthorized = answer else {
            if case .taken = answer { known.withLock { $0.rejected = nil } }
            return answer
        }
        let hasNewFiles = await transport.refresh()
        if let oauth, let refused = token(before) { await oauth.forget(refused) }
        let fresh: Secret
        do {
            fresh = try await read()
        } catch let failure as OAuthFailure {
            return failure.answer
        } catch {
            fresh = before
        }
        known.withLock { $0 = Known(secret: fresh, rejected: fresh) }
        guard hasNewFiles || fresh != before else { return answer }
        let second = await request(fresh)
        if case .taken = second { known.withLock { $0.rejected = nil } }
        return second
    }

    /// Reads the secret and the files of TLS anew before the next request.
    /// - Returns: false where the secret is the one that the server rejected: to try it again would not help.
    @discardableResult
    func renew() async -> Bool {
        let hasNewFiles = await transport.refresh()
        let fresh = try? await read()
        return known.withLock { known in
            known.secret = nil
            return hasNewFiles || fresh == nil || fresh != known.rejected
        }
    }

    /// Sends one request.
    /// - Parameters:
    ///   - secrets: left out of the server's words.
    ///   - packs: whether the body goes as gzip.
    ///   - refusals: statuses that say of this content that it is not taken, beside those that always do.
    ///   - success: what a status of 2xx means, where the body says that.
    func post(
        _ body: [UInt8], to url: String, headers: [(String, String)], hiding secrets: ShownSecrets,
        packs: Bool = false, refusals: Set<Int> = [],
        success: (_ httpStatus: Int, _ reply: String?) -> DeliveryAnswer = { status, _ in
            .taken(httpStatus: status)
        }
    ) async -> DeliveryAnswer {
        var (body, headers) = (body, headers)
        if packs {
            guard let packed = try? Gzip.compress(body) else {
                return .unavailable(
                    httpStatus: nil, error: "the body could not be compressed", retryAfter: nil)
            }
            body = packed
            headers.append(("Content-Encoding", "gzip"))
        }
        do {
            let answer = try await transport.post(body, to: url, headers: headers, clock: clock)
            let retryAfter = RetryAfter.parse(
                answer.retryAfter, date: answer.date, nowSeconds: clock.wallNanoseconds / 1_000_000_000)
            let (status, reply) = (answer.status, answer.body)
            let meaning: DeliveryAnswer
            if (200..<300).contains(status) {
                meaning = success(status, reply)
            } else if refusals.contains(status) {
                meaning = .refused(httpStatus: status, error: "HTTP \(status)", reply: reply)
            } else {
                meaning = DeliveryAnswer(httpStatus: status, retryAfter: retryAfter, reply: reply)
            }
            return meaning.leavingOut(secrets)
        } catch {
            return .unavailable(httpStatus: nil, error: error.message, retryAfter: nil)
        }
    }

    /// Asks for something.
    /// - Parameter limit: from the call to the answer's status; at most 60 s.
    func get(
        _ url: String, headers: [(String, String)], hiding secrets: ShownSecrets, within limit: Duration,
        meaning: (_ httpStatus: Int, _ reply: String?) -> DeliveryAnswer
    ) async -> DeliveryAnswer {
        do {
            let answer = try await transport.get(url, headers: headers, within: limit, clock: clock)
            return meaning(answer.status, answer.body).leavingOut(secrets)
        } catch {
            return .unavailable(httpStatus: nil, error: error.message, retryAfter: nil)
        }
    }

    /// What it means for the request that there is no secret.
    private static func answer(to error: any Error) -> DeliveryAnswer {
        let words: String
        switch error {
        case let failure as OAuthFailure: return failure.answer
        case let error as SigningKeyError: words = "signing_key: \(error)"
        default: words = "the credential cannot be read"
        }
        return .unavailable(httpStatus: nil, error: words, retryAfter: nil)
    }

    private func current() async throws -> Secret {
        // Tokens have an end of their own.
        if oauth == nil, let known = known.withLock({ $0.secret }) { return known }
        let fresh = try await read()
        known.withLock { $0.secret = fresh }
        return fresh
    }
}

extension DeliveryAnswer {
    /// With the server's words as they may be kept. What they mean is read before: a short secret may stand anywhere.
    fileprivate func leavingOut(_ secrets: ShownSecrets) -> DeliveryAnswer {
        guard case .refused(let status, let error, let reply) = self else { return self }
        return .refused(httpStatus: status, error: error, reply: reply.map(secrets.redacted(_:)))
    }
}
