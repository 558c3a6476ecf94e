import Crypto
import FoundationEssentials
import Synchronization
import TestSupport
import Testing

@testable import IngestDelivery
@testable import IngestQueue

/// The form that records have at Spike, and what becomes of them there.
@Suite struct SpikeTests {
    private static func content(
        _ kind: RecordKind, _ values: [(type: String, coefficient: Int64, exponent: Int8, unit: String)],
        source: RecordTime.Source = .device
    ) throws -> RecordContent {
        try #require(RecordContent(json: ValidicFormTests.record(kind, values, source: source).json))
    }

    private static func body(
        _ kind: RecordKind, _ values: [(type: String, coefficient: Int64, exponent: Int8, unit: String)]
    ) throws -> String? {
        try SpikeNotification(content(kind, values)).map { String(decoding: $0.body, as: UTF8.self) }
    }

    @Test func theDocumentsRequestIsWhatIsSent() throws {
        let body = try #require(try Self.body(.glucose, [("glucose", 54, -1, "mmol/L")]))
        let document = try String(
            contentsOf: URL(filePath: Repository.root + "/docs/destinations/spike.md"), encoding: .utf8)
        #expect(document.contains("\n\(body)\n"))
    }

    @Test(
        arguments: [
            ("mg/dL", 97, 0, "97"), ("mmol/L", 54, -1, "97.3"), ("mmol/L", 5, 0, "90"),
            ("mmol/L", 1000, -2, "180.16"),
        ] as [(String, Int64, Int8, String)])
    func glucoseIsInMilligramsPerDecilitre(unit: String, coefficient: Int64, exponent: Int8, value: String)
        throws
    {
        let body = try Self.body(.glucose, [("glucose", coefficient, exponent, unit)])
        #expect(try #require(body).contains("\"avg_value\":\(value),\"min_value\":\(value),"))
    }

    @Test func eachDataTypeHasItsForm() throws {
        let moment = "2026-11-20T09:15:00"
        #expect(
            try #require(try Self.body(.heartRate, [("heart-rate", 72, 0, "/min")])).hasSuffix(
                """
                "data_type":"heart","data":[{"date":"2026-11-20","timezone_offset":3600,"min_hr":72,"avg_hr":72,\
                "max_hr":72,"heart_rate_samples":[{"time":"\(moment)","value":72}],"source":"Beurer"}]}
                """))
        #expect(
            try #require(
                try Self.body(.pulseOximetry, [("spo2", 975, -1, "%"), ("pulse-rate", 60, 0, "/min")])
            ).hasSuffix(
                """
                "data_type":"oxygen_saturation","data":[{"date":"2026-11-20","avg":97.5,"min":97.5,"max":97.5,\
                "intraday_data":[{"time":"\(moment)","value":97.5}],"source":"Beurer"}]}
                """))
        #expect(
            try #require(
                try Self.body(.weight, [("weight", 7250, -2, "kg"), ("height", 1753, -3, "m")])
            ).hasSuffix(
                """
                "data_type":"body","data":[{"date":"2026-11-20","source":"Beurer","timezone_offset":3600,\
                "body_data":{"weight_kg":{"value":72.50,"timeseries":[{"timestamp":"\(moment)","value":72.50}]},\
                "height_cm":{"value":175.3,"timeseries":[{"timestamp":"\(moment)","value":175.3}]}}}]}
                """))
        let composition = try #require(
            try Self.body(
                .bodyComposition,
                [("body-fat", 212, -1, "%"), ("muscle-mass", 30005, -3, "kg"), ("weight", 100, 0, "[lb_av]")])
        )
        for part in [
            #""bodyfat_percentage":{"value":21.2"#, #""muscle_mass_g":{"value":30005"#,
            #""weight_kg":{"value":45.4"#,
        ] {
            #expect(composition.contains(part), "\(part)")
        }
    }

    @Test func whatHasNoValueHasNoForm() throws {
        #expect(try Self.body(.bloodPressure, [("systolic", 138, 0, "mm[Hg]")]) == nil)
        #expect(try Self.body(.glucose, [("glucose", 97, 0, "1")]) == nil)
    }

    // MARK: - Delivery

    private let clock = DrivenClock()

    /// Delivers one record, and gives what the receiver got.
    private func deliver(
        _ record: Record, status: Int = 200, secret: @escaping @Sendable () -> String = { "app-secret" }
    ) async throws -> (answer: DeliveryAnswer, received: [TestReceiver.Received]) {
        let receiver = TestReceiver { _ in TestReceiver.Answer(status: status, body: "app-secret is wrong") }
        let transport = HTTPTransport()
        let answer = Mutex<DeliveryAnswer?>(nil)
        try await receiver.run { url in
            let spike = Spike(
                settings: SpikeSettings(url: url), transport: transport, clock: clock, secret: { secret() })
            let result = await spike.deliver(OutgoingBatch(gateway: "box", records: [record.json]))
            answer.withLock { $0 = result }
        }
        try await transport.shutdown()
        return (try #require(answer.withLock { $0 }), receiver.received)
    }

    private func glucose(_ source: RecordTime.Source = .device) throws -> Record {
        try ValidicFormTests.record(.glucose, [("glucose", 97, 0, "mg/dL")], source: source)
    }

    @Test func aRequestIsSignedByItsEventID() async throws {
        let (answer, received) = try await deliver(glucose())
        #expect(answer == .taken(httpStatus: 200))
        let request = try #require(received.first)
        #expect(request.target == "POST /readings" && request.headers["content-type"] == "application/json")
        let id = "1f3c0d6e-6a52-5b0e-9c38-4c1d5a0e7b21"
        #expect(request.text.hasPrefix("{\"event_id\":\"\(id)\","))
        // printf %s ID | openssl dgst -sha256 -hmac app-secret
        let code = HMAC<SHA256>.authenticationCode(
            for: Data(id.utf8), using: SymmetricKey(data: Data("app-secret".utf8)))
        #expect(request.headers["x-spike-signature"] == code.map { Hex.text([$0]) }.joined())
    }

    @Test func aSecretThatWasReplacedIsTriedAtOnce() async throws {
        let reads = Mutex(0)
        let (_, received) = try await deliver(glucose(), status: 401) {
            reads.withLock {
                $0 += 1
                return "secret-\($0)"
            }
        }
        #expect(Set(received.map { $0.headers["x-spike-signature"] }).count == 2)
    }

    @Test func whatIsNobodysOrOfAnUnknownTimeIsNotSent() async throws {
        var nobodys = try glucose()
        nobodys.subject = nil
        #expect(try await deliver(nobodys).answer == .unfit(.unassigned))
        let (answer, received) = try await deliver(glucose(.unknown))
        #expect(answer == .unfit("was measured at a time that is not known"))
        #expect(received.isEmpty)
    }

    @Test(arguments: [
        ("data-for-testing", "is no measurement of a person (data-for-testing)"),
        ("invalid-measurement-detected", "is marked as invalid by the device (invalid-measurement-detected)"),
    ])
    func whatTheDeviceDoesNotStandForIsNotSent(flag: String, reason: String) async throws {
        var record = try ValidicFormTests.record(.pulseOximetry, [("spo2", 97, 0, "%")])
        record.flags = [flag]
        let (answer, received) = try await deliver(record)
        #expect(answer == .unfit(.other(reason)))
        #expect(received.isEmpty)
    }

    @Test func theServersWordsAreKeptWithoutTheSecret() async throws {
        let (answer, _) = try await deliver(glucose(), status: 422)
        #expect(answer == .refused(httpStatus: 422, error: "HTTP 422", reply: "[credential] is wrong"))
    }

    @Test func aFailureTellsWhatSpikesListenerIsTold() async throws {
        let record = try glucose()
        let spike = Spike(
            settings: SpikeSettings(url: "http://127.0.0.1:9/"), transport: HTTPTransport(), clock: clock,
            secret: { "" })
        let submission = try #require(
            spike.failedSubmission(of: OutgoingBatch(gateway: "box", records: [record.json])))
        let entry = Event.failed(
            recordID: record.id, kind: record.kind, record.device.reference, destination: "spike",
            httpStatus: 422, attempt: 1, error: "HTTP 422", submission: submission
        ).entry(sequence: 1)
        #expect(entry[.dataType] == "glucose")
        #expect(entry[.dateFrom] == "2026-11-20T08:15:00Z" && entry[.dateTo] == "2026-11-20T08:15:00Z")
        #expect(entry[.collectedAt] == "2026-11-20T08:15:04Z")
        #expect(entry[.submittedAt] == ReadingTime.text(clock.wallNanoseconds / 1_000_000_000, offset: nil))
        let size = try #require(try Self.body(.glucose, [("glucose", 97, 0, "mg/dL")])?.utf8.count)
        #expect(entry[.payloadSize] == String(size))
        #expect(JournalEntry(stored: entry.stored) == entry)
    }
}
