import FoundationEssentials
import IngestCore
import IngestPeripherals
import TestSupport
import Testing

@testable import IngestDelivery

/// The requests by which a destination is tried out, as their servers get them.
@Suite struct TrialTests {
    /// What came of it, and the request.
    private func tryOut(
        _ form: (String) -> any DestinationForm, token: String? = "s3cret", answer: TestReceiver.Answer
    ) async throws -> (outcome: TrialOutcome, request: TestReceiver.Received?) {
        let receiver = TestReceiver { _ in answer }
        var outcome = TrialOutcome.none
        try await withTemporaryDirectory { directory in
            let path = directory + "/token"
            if let token { try token.write(toFile: path, atomically: true, encoding: .utf8) }
            try await receiver.run { url in
                let form = form(String(url.dropLast("/readings".count)))
                var settings = DestinationSettings(name: "clinic", form: form)
                settings.credential = .path(path)
                let transport = HTTPTransport()
                outcome = await form.tryOut(
                    DestinationParts(
                        settings, gateway: "box",
                        vault: JunctionVault(load: { nil }, save: { _ in }, erase: {}), timeZone: "UTC",
                        credentials: Credentials(environment: [:]), transport: transport,
                        clock: DrivenClock(),
                        catalogue: Catalogue(models: []), publisher: { _ in NoBroker() },
                        told: { _ in }, isTrial: true))
                try await transport.shutdown()
            }
        }
        return (outcome, receiver.received.first)
    }

    private static let bundle = #"{"resourceType":"Bundle","type":"searchset","total":0}"#

    @Test(arguments: [
        (200, bundle, TrialOutcome.accepted),
        (
            200, "<html>sign in</html>",
            .failed(.misplaced(httpStatus: 200, error: "does not answer as a FHIR server does"))
        ),
        (
            200, #"{"resourceType":"OperationOutcome"}"#,
            .failed(.misplaced(httpStatus: 200, error: "does not answer as a FHIR server does"))
        ),
        (401, "", .failed(.unauthorized(httpStatus: 401))),
        (403, "", .notAllowed(httpStatus: 403)), (405, "", .notAllowed(httpStatus: 405)),
        (422, "", .notAllowed(httpStatus: 422)), (501, "", .notAllowed(httpStatus: 501)),
        (404, "", .failed(.misplaced(httpStatus: 404, error: "does not know the URL (HTTP 404)"))),
        (503, "", .failed(.unavailable(httpStatus: 503, error: "HTTP 503", retryAfter: nil))),
    ])
    func aFHIRServerIsSearchedForNobody(status: Int, body: String, expected: TrialOutcome) async throws {
        let (outcome, request) = try await tryOut(
            { FHIRSettings(url: $0 + "/base/") }, answer: TestReceiver.Answer(status: status, body: body))
        #expect(outcome == expected)
        #expect(request?.target == "GET /base/Observation")
        #expect(request?.headers["authorization"] == "Bearer s3cret")
        #expect(request?.headers["accept"] == "application/fhir+json")
        #expect(request?.headers["content-type"] == nil && request?.headers["prefer"] == nil)
    }

    @Test(arguments: [
        (200, TrialOutcome.accepted), (404, .accepted), (401, .failed(.unauthorized(httpStatus: 401))),
        (500, .failed(.unavailable(httpStatus: 500, error: "HTTP 500", retryAfter: nil))),
    ])
    func junctionIsAskedForTheUser(status: Int, expected: TrialOutcome) async throws {
        let (outcome, request) = try await tryOut(
            { JunctionSettings(user: "patient 17", url: $0, authentication: .apiKey) },
            answer: TestReceiver.Answer(status: status))
        #expect(outcome == expected)
        #expect(request?.target == "GET /v2/user/resolve/patient%2017")
        #expect(request?.headers["x-vital-api-key"] == "s3cret")
    }

    @Test func aKeyOfAnotherPlaceIsNotSentAnywhere() async throws {
        let (outcome, _) = try await tryOut(
            { _ in JunctionSettings(user: "p", authentication: .apiKey) }, token: "sk_eu_key",
            answer: TestReceiver.Answer(status: 200))
        guard case .failed(.misplaced(nil, let words)) = outcome else { throw TimedOut() }
        #expect(words.contains("the API key is for"))
    }

    @Test func whatHasNoHarmlessRequestMakesNone() async throws {
        let forms: [(String) -> any DestinationForm] = [
            { WebhookSettings(url: $0) }, { SpikeSettings(url: $0) }, { ValidicSettings(user: "p", url: $0) },
            { JunctionSettings(user: "p", url: $0) },
        ]
        for form in forms {
            let (outcome, request) = try await tryOut(form, answer: TestReceiver.Answer(status: 200))
            #expect(outcome == .none && request == nil)
        }
    }

    @Test func withoutItsCredentialNothingIsAsked() async throws {
        for form in [
            { FHIRSettings(url: $0) }, { JunctionSettings(user: "p", url: $0, authentication: .apiKey) },
        ] as [(String) -> any DestinationForm] {
            let (outcome, request) = try await tryOut(
                form, token: nil, answer: TestReceiver.Answer(status: 200))
            guard case .failed = outcome else { throw TimedOut() }
            #expect(request == nil)
        }
    }
}

private struct NoBroker: MessagePublisher {
    func publish(_ messages: [BrokerMessage], as login: BrokerLogin) async -> PublishOutcome {
        .failed("there is none")
    }

    func shutdown() async {}
}
