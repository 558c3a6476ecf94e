import FoundationEssentials
import QueueTestSupport
import Synchronization
import Testing

@testable import IngestDelivery

@Suite struct WebhookTests {
    private typealias Answer = TestReceiver.Answer
    private static let key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    private static let otherKey = "whsec_" + String(repeating: "AbCd", count: 8)

    private static func secrets(_ text: String) throws -> WebhookSecrets {
        let keys = try #require(SigningKeys(text))
        return WebhookSecrets(signingKeys: keys)
    }

    // MARK: - Signatures

    @Test func theSignatureIsThatOfTheReferenceLibraries() throws {
        // The vector that all libraries of github.com/standard-webhooks/standard-webhooks are tested with.
        let keys = try #require(SigningKeys(Self.key))
        let signature = keys.signatures(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330,
            body: Array(#"{"test": 2432232314}"#.utf8))
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test(arguments: [
        (key, true), ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", true), ("\(key) \(otherKey)", true),
        ("\(key)\n\(otherKey)\n", true),
        // 25 bytes, with and without padding; 64 bytes; 65
        ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwBg==", true),
        ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwBg", true),
        (String(repeating: "A", count: 86), true), (String(repeating: "A", count: 87), false),
        // 23 bytes
        ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS=", false),
        ("", false), ("whsec_", false), ("no base64 here, only words", false),
        ("whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", false),
        ("\(key) whsec_short", false), (Array(repeating: key, count: 4).joined(separator: " "), true),
        (Array(repeating: key, count: 5).joined(separator: " "), false),
    ])
    func keysAreReadStrictly(_ text: String, _ isGood: Bool) {
        #expect((SigningKeys(text) != nil) == isGood)
    }

    @Test func keysAreNotShown() throws {
        let secrets = try Self.secrets(Self.key)
        var dumped = ""
        dump(secrets, to: &dumped)
        #expect(!"\(secrets) \(String(reflecting: secrets)) \(dumped)".contains("MfKQ"))
        #expect(dumped.contains("<redacted>"))
    }

    @Test func aSignatureIsGoodForItsRequestAndFiveMinutes() throws {
        let (keys, other) = (try #require(SigningKeys(Self.key)), try #require(SigningKeys(Self.otherKey)))
        let both = try #require(SigningKeys("\(Self.otherKey) \(Self.key)"))
        let body = Array("body".utf8)
        let signed = both.signatures(id: "a", timestamp: 1000, body: body)
        func isGood(
            _ keys: SigningKeys, id: String = "a", timestamp: String = "1000", _ signatures: String? = nil,
            body: [UInt8] = body, now: Int64 = 1000
        ) -> Bool {
            keys.verify(
                id: id, timestamp: timestamp, signatures: signatures ?? signed, body: body, nowSeconds: now)
        }
        #expect(isGood(keys) && isGood(other) && isGood(both))
        #expect(isGood(keys, now: 1300) && isGood(keys, now: 700))
        #expect(!isGood(keys, now: 1301) && !isGood(keys, now: 699))
        #expect(!isGood(keys, timestamp: "1001") && !isGood(keys, id: "b") && !isGood(keys, body: [0x62]))
        #expect(!isGood(keys, timestamp: "\(Int64.min)") && !isGood(keys, timestamp: "soon"))
        #expect(!isGood(keys, other.signatures(id: "a", timestamp: 1000, body: body)))
        #expect(!isGood(keys, signed.replacing("v1,", with: "v2,")))
        #expect(!isGood(keys, "v1,") && !isGood(keys, ""))
    }

    // MARK: - Requests

    @Test func aRetryHasTheSameIdAndBodyAndItsOwnTimeAndSignature() async throws {
        try await withHarness(Answer(status: 503)) { harness, receiver in
            let running = try await harness.start(ids: ["a"], secrets: { try Self.secrets(Self.key) })
            try await running.eventually(1, .retrying)
            try await running.untilWaiting()
            receiver.change { _ in Answer(status: 200) }
            harness.clock.advance(by: .seconds(7))
            try await running.eventually(1, .submitted)
            let requests = receiver.received
            try #require(requests.count == 2)
            #expect(requests[0].body == requests[1].body)
            #expect(requests.allSatisfy { $0.headers["webhook-id"] == $0.key && $0.key != nil })
            #expect(requests[0].key == requests[1].key)
            #expect(requests.map(\.headers["webhook-timestamp"]) == ["1795000000", "1795000007"])
            let keys = try #require(SigningKeys(Self.key))
            for (request, time) in zip(requests, [1_795_000_000, 1_795_000_007] as [Int64]) {
                let signature = keys.signatures(id: request.key ?? "", timestamp: time, body: request.body)
                #expect(request.headers["webhook-signature"] == signature)
            }
            try await running.stop()
        }
    }

    @Test func aCompressedRequestIsSignedAsItIsWithoutCompression() async throws {
        try await withHarness(Answer(status: 200)) { harness, receiver in
            let running = try await harness.start(
                settings: WebhookSettings(url: harness.url, format: .ndjson, usesGzip: true),
                ids: ["a", "b"],
                secrets: { try Self.secrets("\(Self.otherKey) \(Self.key)") })
            try await running.eventually(2, .submitted)
            let request = try #require(receiver.received.first)
            let body = try Gzip.decompress(request.body, limit: 1 << 20)
            let signatures = try #require(request.headers["webhook-signature"])
            #expect(signatures.split(separator: " ").count == 2)
            for key in [Self.key, Self.otherKey] {
                let keys = try #require(SigningKeys(key))
                #expect(
                    keys.verify(
                        id: request.key ?? "", timestamp: "1795000000", signatures: signatures, body: body,
                        nowSeconds: 1_795_000_000))
            }
            try await running.stop()
        }
    }

    @Test func aRequestHasNothingThatTheDestinationDoesNotGet() async throws {
        try await withHarness(Answer(status: 200)) { harness, receiver in
            let running = try await harness.start(
                settings: WebhookSettings(url: harness.url, redacted: [.raw, .address]), ids: ["a", "b"])
            try await running.eventually(2, .submitted)
            let request = try #require(receiver.received.first)
            #expect(try request.ids == ["a", "b"])
            #expect(!request.text.contains("\"raw\"") && !request.text.contains("\"address\""))
            #expect(request.text.contains("\"measurements\""))
            try await running.stop()
        }
    }

    @Test func aStatusDocumentGoesToItsURLInTheWayOfRecords() async throws {
        let receiver = TestReceiver { _ in Answer(status: 204) }
        try await receiver.run { url in
            let transport = HTTPTransport()
            let webhook = Webhook(
                settings: WebhookSettings(url: url, format: .ndjson), transport: transport,
                clock: DrivenClock(wall: DrivenClock.morning)
            ) {
                WebhookSecrets(token: "t", signingKeys: try Self.secrets(Self.key).signingKeys)
            }
            let answer = await webhook.post(Array("{}".utf8), to: url + "/status", as: .json)
            #expect(answer == .taken(httpStatus: 204))
            try await transport.shutdown()
        }
        let request = try #require(receiver.received.first)
        #expect(request.target == "POST /readings/status" && request.text == "{}")
        #expect(request.headers["content-type"] == "application/json")
        #expect(request.headers["authorization"] == "Bearer t")
        #expect(request.headers["webhook-signature"] != nil)
    }

    @Test func aKeyThatWasReplacedIsTriedAtOnce() async throws {
        let keys = try #require(SigningKeys(Self.otherKey))
        let answer: @Sendable (TestReceiver.Received) -> Answer = { request in
            let isGood = keys.verify(
                id: request.key ?? "", timestamp: request.headers["webhook-timestamp"] ?? "",
                signatures: request.headers["webhook-signature"] ?? "", body: request.body,
                nowSeconds: 1_795_000_000)
            return Answer(status: isGood ? 200 : 401)
        }
        let texts = Mutex([Self.key, Self.otherKey])
        try await withHarness(answer) { harness, receiver in
            let running = try await harness.start(ids: ["a"]) {
                try Self.secrets(texts.withLock { $0.removeFirst() })
            }
            try await running.eventually(1, .submitted)
            #expect(receiver.received.count == 2)
            #expect(try await running.count(.authRejected) == 0)
            try await running.stop()
        }
    }

    @Test func aKeyThatIsNoneKeepsTheRecordsAndIsNotTold() async throws {
        try await withHarness(Answer(status: 200)) { harness, receiver in
            let file = harness.directory + "/signing-key"
            try "my own secret phrase".write(toFile: file, atomically: true, encoding: .utf8)
            let credentials = Credentials(environment: [:])
            let running = try await harness.start(ids: ["a"]) {
                WebhookSecrets(signingKeys: try credentials.signingKeys(.path(file)))
            }
            try await running.eventually(1, .destinationDown)
            let event = try #require(try await running.store.events.first { $0.name == "destination-down" })
            #expect(
                event[.error]
                    == "signing_key: credential \(file): expected one to four signing keys, each 24 to 64 bytes "
                    + "in base64, with or without whsec_ in front")
            #expect(receiver.received.isEmpty)
            try (Self.key + "\n").write(toFile: file, atomically: true, encoding: .utf8)
            running.worker.retryNow()
            try await running.eventually(1, .submitted)
            try await running.stop()
        }
    }

    @Test func nothingIsSignedWithATimeThatMayBeWrong() async throws {
        try await withHarness(Answer(status: 200)) { harness, receiver in
            let judged = JudgedClock(harness.clock)
            let running = try await harness.start(
                ids: ["a"], secrets: { try Self.secrets(Self.key) }, webhookClock: judged)
            // A moment is no reason to call the destination down.
            for _ in 0..<30 {
                try await eventually("it waits for the clock") { harness.clock.sleeperCount == 2 }
                #expect(try await running.count(.destinationDown) == 0)
                harness.clock.advance(by: .seconds(1))
            }
            try await running.eventually(1, .destinationDown)
            let event = try #require(try await running.store.events.first { $0.name == "destination-down" })
            #expect(
                event[.error] == "requests cannot be signed: the clock of this box is not known to be right")
            #expect(receiver.received.isEmpty)

            judged.judge(.configured, lead: 0)
            try await running.untilWaiting()
            harness.clock.advance(by: .seconds(1))
            try await running.eventually(1, .submitted)
            #expect(receiver.received.map(\.headers["webhook-timestamp"]) == ["1795000031"])
            try await running.stop()
        }
    }

    // MARK: - NDJSON

    @Test func aLineIsARecordAsItIs() {
        let batch = OutgoingBatch(gateway: "ward", records: [#"{"value":36.60}"#, #"{"value":2.00}"#])
        #expect(
            String(decoding: Webhook.body(of: batch, .ndjson), as: UTF8.self)
                == "{\"value\":36.60}\n{\"value\":2.00}\n")
    }

    @Test func linesAreSentWithTheKeyOfTheirBytes() async throws {
        try await withHarness(Answer(status: 200)) { harness, receiver in
            let running = try await harness.start(
                settings: WebhookSettings(url: harness.url, format: .ndjson), ids: ["a", "b"])
            try await running.eventually(2, .submitted)
            let request = try #require(receiver.received.first)
            #expect(request.headers["content-type"] == "application/x-ndjson")
            #expect(request.text == (try record("a").json) + "\n" + (try record("b").json) + "\n")
            #expect(request.key == IdempotencyKey.of(request.body))
            #expect(request.headers["webhook-signature"] == nil)
            try await running.stop()
        }
    }

    @Test func receivedLinesKeepEveryDigit() throws {
        let batch = try ReceivedBatch(lines: Array("{\"value\": 36.60}\n\r\n {\"text\":\"a\\nb\"}\r\n7".utf8))
        #expect(batch.records == [#"{"value": 36.60}"#, #"{"text":"a\nb"}"#, "7"])
        #expect(throws: ReceivedBatch.Malformed.self) { try ReceivedBatch(lines: Array("{}\n{\n".utf8)) }
        #expect(throws: ReceivedBatch.Malformed.self) { try ReceivedBatch(lines: Array("{} {}".utf8)) }
        #expect(throws: ReceivedBatch.Malformed.self) { try ReceivedBatch(lines: Array("\n".utf8)) }
    }
}
