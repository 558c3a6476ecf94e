import Crypto
import FoundationEssentials
import Synchronization
import TestSupport
import Testing

@testable import IngestCore
@testable import IngestDelivery

/// Tokens of an authorization server: asked for when they are needed, kept as long as they hold, and never twice at once.
@Suite struct OAuthTests {
    private typealias Answer = TestReceiver.Answer

    /// One server in two parts: `/readings/token` issues tokens 1, 2, …; all else takes what carries the last one.
    private final class Backend: Sendable {
        struct State {
            var issued = 0
            var lifetime: Int? = 3_600
            var refusal: Answer?
            var accepts: (@Sendable (String?) -> Bool)?
        }

        let state = Mutex(State())

        func answer(_ request: TestReceiver.Received) -> Answer {
            state.withLock { state in
                guard request.target.hasSuffix("/token") else {
                    let authorization = request.headers["authorization"]
                    let isGood =
                        state.accepts?(authorization) ?? (authorization == "Bearer token-\(state.issued)")
                    return Answer(status: isGood ? 200 : 401)
                }
                if let refusal = state.refusal { return refusal }
                state.issued += 1
                let lifetime = state.lifetime.map { ",\"expires_in\":\($0)" } ?? ""
                return Answer(
                    status: 200,
                    body: "{\"access_token\":\"token-\(state.issued)\",\"token_type\":\"Bearer\"\(lifetime)}")
            }
        }
    }

    /// A destination whose tokens are asked for with the secret of a file.
    private func withWebhook(
        _ secret: String = "s+ 1", isKey: Bool = false, scope: String? = nil,
        clock: DrivenClock = DrivenClock(wall: DrivenClock.morning),
        _ body: (Webhook, OAuthTokens, Backend, TestReceiver) async throws -> Void
    ) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "oauth-\(UUID())").path
        try Data(secret.utf8).write(to: URL(filePath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        let name = try #require(CredentialName(file))
        let backend = Backend()
        let receiver = TestReceiver { backend.answer($0) }
        try await receiver.run { url in
            let transport = HTTPTransport()
            let credentials = Credentials(environment: [:])
            let tokens = OAuthTokens(
                OAuthSettings(
                    tokenURL: url + "/token", clientID: "box:1", scope: scope,
                    client: isKey ? .privateKey(name) : .secret(name)),
                credentials: credentials, transport: transport, clock: clock)
            let webhook = Webhook(
                settings: WebhookSettings(url: url), transport: transport, clock: clock, oauth: tokens
            ) { WebhookSecrets(token: try await tokens.token()) }
            try await body(webhook, tokens, backend, receiver)
            try await transport.shutdown()
        }
    }

    private static let batch = OutgoingBatch(gateway: "box", records: ["{}"])

    private func tokenRequests(_ receiver: TestReceiver) -> [TestReceiver.Received] {
        receiver.received.filter { $0.target.hasSuffix("/token") }
    }

    // MARK: The secret

    @Test func theClientShowsItsSecretAndKeepsTheToken() async throws {
        try await withWebhook(scope: "readings write") { webhook, _, _, receiver in
            for _ in 0..<3 { #expect(await webhook.deliver(Self.batch) == .taken(httpStatus: 200)) }
            let requests = tokenRequests(receiver)
            #expect(requests.count == 1)
            // RFC 6749 section 2.3.1: both are encoded as values of forms are before they are joined.
            let pair = Data("box%3A1:s%2B%201".utf8).base64EncodedString()
            #expect(requests[0].headers["authorization"] == "Basic \(pair)")
            #expect(requests[0].text == "grant_type=client_credentials&scope=readings%20write")
            #expect(requests[0].headers["content-type"] == "application/x-www-form-urlencoded")
        }
    }

    @Test(arguments: [(3_600, 3_539), (40, 29)])
    func aTokenIsRenewedBeforeItsEnd(lifetime: Int, kept: Int) async throws {
        let clock = DrivenClock(wall: DrivenClock.morning)
        try await withWebhook(clock: clock) { webhook, _, backend, receiver in
            backend.state.withLock { $0.lifetime = lifetime }
            for (pause, count) in [(0, 1), (kept, 1), (2, 2)] {
                clock.advance(by: .seconds(pause))
                #expect(await webhook.deliver(Self.batch) == .taken(httpStatus: 200))
                #expect(tokenRequests(receiver).count == count, "\(pause) s later")
            }
        }
    }

    @Test func aTokenWithoutAnEndIsUsedUntilItIsRefused() async throws {
        let clock = DrivenClock(wall: DrivenClock.morning)
        try await withWebhook(clock: clock) { webhook, _, backend, receiver in
            backend.state.withLock { $0.lifetime = nil }
            _ = await webhook.deliver(Self.batch)
            clock.advance(by: .seconds(400_000))
            #expect(await webhook.deliver(Self.batch) == .taken(httpStatus: 200))
            #expect(tokenRequests(receiver).count == 1)
            // The server has forgotten it.
            backend.state.withLock { $0.issued += 1 }
            #expect(await webhook.deliver(Self.batch) == .taken(httpStatus: 200))
            #expect(tokenRequests(receiver).count == 2)
        }
    }

    @Test func aServerThatRefusesTheNewTokenTooIsAskedForNoThird() async throws {
        try await withWebhook { webhook, _, backend, receiver in
            backend.state.withLock { $0.accepts = { _ in false } }
            #expect(await webhook.deliver(Self.batch) == .unauthorized(httpStatus: 401))
            #expect(tokenRequests(receiver).count == 2)
            #expect(receiver.received.count == 4)
        }
    }

    @Test func manyAskForOneToken() async throws {
        try await withWebhook { _, tokens, _, receiver in
            let found = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<20 { group.addTask { try await tokens.token() } }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(found == ["token-1"])
            #expect(tokenRequests(receiver).count == 1)
        }
    }

    // MARK: Refusals

    @Test(
        arguments: [
            // What it answers; what that means for the records.
            (
                401, #"{"error":"invalid_client"}"#,
                DeliveryAnswer.unauthorized(
                    httpStatus: 401, error: "the authorization server refuses this client: invalid_client")
            ),
            (
                400, #"{"error":"s+ 1 is wrong"}"#,
                .unauthorized(
                    httpStatus: 400, error: "the authorization server refuses this client: HTTP 400")
            ),
            (
                503, "",
                .unavailable(
                    httpStatus: 503, error: "authorization server: HTTP 503", retryAfter: .seconds(7))
            ),
            (
                429, "",
                .busy(
                    httpStatus: 429, error: "authorization server: HTTP 429", retryAfter: .seconds(7))
            ),
            (404, "", .misplaced(httpStatus: 404, error: "authorization server: HTTP 404")),
            (200, #"{"access_token":"a"}"#, Self.noToken),
            (200, #"{"access_token":"a b","token_type":"bearer"}"#, Self.noToken),
            (200, #"{"access_token":"","token_type":"bearer"}"#, Self.noToken),
            (200, #"{"access_token":"a","token_type":"mac"}"#, Self.noToken),
            (200, "<html>", Self.noToken),
        ] as [(Int, String, DeliveryAnswer)])
    func withoutATokenNothingIsSent(status: Int, body: String, meaning: DeliveryAnswer) async throws {
        try await withWebhook { webhook, _, backend, receiver in
            backend.state.withLock {
                $0.refusal = Answer(status: status, headers: ["Retry-After": "7"], body: body)
            }
            #expect(await webhook.deliver(Self.batch) == meaning)
            #expect(receiver.received.allSatisfy { $0.target.hasSuffix("/token") })
            // And then it is given one.
            backend.state.withLock { $0.refusal = nil }
            #expect(await webhook.deliver(Self.batch) == .taken(httpStatus: 200))
        }
    }

    private static let noToken = DeliveryAnswer.unavailable(
        httpStatus: nil, error: "authorization server: the answer holds no bearer token", retryAfter: nil)

    // MARK: The key

    private static func decoded(_ part: Substring) throws -> Data {
        let standard = part.replacing("-", with: "+").replacing("_", with: "/")
        return try #require(
            Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.count % 4) % 4)))
    }

    @Test func theClientSignsAnAssertion() async throws {
        let key = P384.Signing.PrivateKey()
        try await withWebhook(key.pemRepresentation, isKey: true) { webhook, _, _, receiver in
            #expect(await webhook.deliver(Self.batch) == .taken(httpStatus: 200))
            let request = try #require(tokenRequests(receiver).first)
            #expect(request.headers["authorization"] == nil)
            let fields = request.text.split(separator: "&").map { $0.split(separator: "=") }
            #expect(fields.map { $0[0] } == ["grant_type", "client_assertion_type", "client_assertion"])
            let parts = fields[2][1].split(separator: ".")
            try #require(parts.count == 3)
            let signature = try P384.Signing.ECDSASignature(rawRepresentation: try Self.decoded(parts[2]))
            #expect(key.publicKey.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8)))
            let header = String(decoding: try Self.decoded(parts[0]), as: UTF8.self)
            #expect(header.hasPrefix(#"{"alg":"ES384","kid":""#) && header.hasSuffix(#"","typ":"JWT"}"#))
            struct Claims: Decodable {
                let iss: String
                let sub: String
                let aud: String
                let exp: Int
                let iat: Int
                let jti: String
            }
            let claims = try JSONDecoder().decode(Claims.self, from: try Self.decoded(parts[1]))
            #expect(claims.iss == "box:1" && claims.sub == "box:1" && claims.aud.hasSuffix("/readings/token"))
            #expect(claims.iat == 1_795_166_100 && claims.exp == 1_795_166_340)
            #expect(UUID(uuidString: claims.jti) != nil)
        }
    }

    /// The key of RFC 7638 section 3.1 has no private part: these and their thumbprints stand in `ClientKeySamples`.
    @Test(arguments: ClientKeySamples.all)
    func aKeyIsNamedByItsThumbprint(sample: ClientKeySamples.Sample) throws {
        #expect(try #require(ClientKey(pem: sample.pem)).identifier == sample.thumbprint)
    }

    @Test(arguments: ["", "no key", P256.Signing.PrivateKey().pemRepresentation, ClientKeySamples.shortRSA])
    func whatIsNoKeyOfSMARTIsSaid(pem: String) async throws {
        #expect(ClientKey(pem: pem) == nil)
        guard !pem.isEmpty else { return }
        try await withWebhook(pem, isKey: true) { webhook, _, _, receiver in
            let error = "oauth.private_key: " + ClientKey.expected
            #expect(
                await webhook.deliver(Self.batch)
                    == .unavailable(httpStatus: nil, error: error, retryAfter: nil))
            #expect(receiver.received.isEmpty)
        }
    }

    @Test(arguments: [(-600, "10 min behind"), (90, "2 min ahead of"), (20, nil)] as [(Int64, String?)])
    func aClockThatIsWrongIsNamedAsTheReason(lead: Int64, words: String?) async throws {
        let key = P384.Signing.PrivateKey().pemRepresentation
        let clock = DrivenClock(wall: (1_795_166_100 + lead) * 1_000_000_000)
        try await withWebhook(key, isKey: true, clock: clock) { webhook, _, backend, _ in
            backend.state.withLock {
                $0.refusal = Answer(
                    status: 400, headers: ["Date": "Fri, 20 Nov 2026 09:15:00 GMT"],
                    body: #"{"error":"invalid_client"}"#)
            }
            let remark = words.map { "; this box's clock is \($0) the server's" } ?? ""
            let error = "the authorization server refuses this client: invalid_client" + remark
            #expect(await webhook.deliver(Self.batch) == .unauthorized(httpStatus: 400, error: error))
        }
    }
}
