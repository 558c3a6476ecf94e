import GRDB
import QueueTestSupport
import Synchronization
import Testing

@testable import IngestDelivery
@testable import IngestQueue

/// Delivery to a FHIR server: what becomes of records by its answers.
@Suite struct FHIRTests {
    // GRDB has one too.
    private typealias Record = IngestRecords.Record

    /// A worker between a real store and the fake.
    private struct Running: RunningDelivery {
        static let destination = "clinic"

        let store: SQLiteQueue
        let fhir: FHIR
        let worker: DeliveryWorker<FHIR>
        let task: Task<Void, any Error>
        let clock: DrivenClock
    }

    private let fake = FakeFHIR()
    private let clock = DrivenClock()

    private static let system = "urn:oid:2.999.1"

    /// Runs a gateway's part with these records waiting, in one batch.
    private func run(
        _ records: [Record], patientSystem: String? = system,
        authentication: FHIRSettings.Authentication = .bearer,
        credential: @escaping @Sendable () async throws -> String? = { nil },
        _ body: (Running) async throws -> Void
    ) async throws {
        try await withBackend(fake.answer) { place in
            let store = try await SQLiteQueue.open(
                in: place.directory, clock: clock,
                destinations: [DestinationRouting(name: "clinic", order: .strict)])
            for record in records { try await store.add(record) }
            try await store.records.freeze(records)
            let fhir = FHIR(
                settings: FHIRSettings(
                    url: place.host + "/r4", patientSystem: patientSystem, authentication: authentication),
                transport: place.transport, clock: clock, credential: credential)
            let worker = DeliveryWorker(
                name: "clinic", gateway: "box", store: store.batches, destination: fhir,
                batching: BatchSettings(maxRecords: 100, maxWait: .zero), clock: clock,
                random: { 1 }, events: EventLog(sink: RecordingSink()))
            let running = Running(
                store: store, fhir: fhir, worker: worker, task: Task { try await worker.run() },
                clock: clock)
            try await body(running)
            try await running.stop()
        }
    }

    private static func id(_ number: Int) -> String { "00000000-0000-5000-8000-" + padded(number, 12) }

    private static func name(_ number: Int) -> String { id(number) + "-147842" }

    private static func records(_ numbers: ClosedRange<Int>) throws -> [Record] {
        try numbers.map { try FHIRFormTests.record(.heartRate, [FHIRFormTests.heartRate], id: id($0)) }
    }

    @Test func aBatchIsOneTransaction() async throws {
        try await run(try Self.records(1...5)) { running in
            try await running.eventually(5, .submitted)
            #expect(fake.requests == 1 && fake.faults.isEmpty)
            #expect(fake.observations == (1...5).map(Self.name))
            #expect(fake.kept.filter { $0.type == "Device" }.count == 2)
            #expect(
                fake.kept.filter { $0.type == "Patient" }.map(\.identifiers) == [
                    ["urn:oid:2.999.1|patient-17"]
                ])
            #expect(try await running.names(.submitted).allSatisfy { $0[.httpStatus] == "200" })
        }
    }

    @Test func whatIsThereAlreadyIsSubmittedAndNotCreatedAgain() async throws {
        fake.keep(.init(type: "Observation", identifiers: ["\(FHIRSystem.own)|\(Self.name(1))"]))
        try await run(try Self.records(1...2)) { running in
            try await running.eventually(2, .submitted)
            #expect(fake.observations == (1...2).map(Self.name))
        }
    }

    @Test(arguments: [400, 412, 422], [false, true])
    func oneBadObservationDoesNotFailTheOthers(status: Int, answersEach: Bool) async throws {
        fake.refuse(identifier: "\(FHIRSystem.own)|\(Self.name(3))", status)
        fake.answerEach(answersEach)
        try await run(try Self.records(1...6)) { running in
            try await running.eventually(5, .submitted)
            try await running.eventually(1, .failed)
            let failed = try await running.names(.failed)
            #expect(failed.map { $0[.recordID] } == [Self.id(3)])
            #expect(failed.map { $0[.httpStatus] } == ["\(status)"])
            #expect(
                failed.map { $0[.error] } == [answersEach ? "HTTP \(status) for an entry" : "HTTP \(status)"])
            #expect(Set(fake.observations) == Set([1, 2, 4, 5, 6].map(Self.name)))
        }
    }

    @Test func severalMatchesAreNeverTakenForOne() async throws {
        for _ in 1...2 {
            fake.keep(.init(type: "Patient", identifiers: ["urn:oid:2.999.1|patient-17"]))
        }
        try await run(try Self.records(1...1)) { running in
            try await running.eventually(1, .failed)
            #expect(try await running.names(.failed).map { $0[.httpStatus] } == ["412"])
        }
    }

    @Test func anEntryThatFailsForATimeIsRepeated() async throws {
        fake.refuse(identifier: "\(FHIRSystem.own)|\(Self.name(2))", 503)
        fake.answerEach(true)
        try await run(try Self.records(1...2)) { running in
            try await running.eventually(1, .retrying)
            fake.refuse(identifier: "\(FHIRSystem.own)|\(Self.name(2))", nil)
            try await running.untilWaiting()
            running.clock.advance(by: .seconds(2))
            try await running.eventually(2, .submitted)
            #expect(fake.observations == (1...2).map(Self.name))
            #expect(try await running.names(.failed).isEmpty)
        }
    }

    @Test(arguments: [
        (409, EventName.retrying), (425, .retrying), (429, .retrying), (408, .destinationDown),
        (500, .destinationDown), (503, .destinationDown), (401, .authRejected), (403, .authRejected),
        (404, .destinationMisconfigured), (410, .destinationMisconfigured), (302, .destinationMisconfigured),
    ])
    func whatIsNoAnswerToTheContentKeepsEverything(status: Int, event: EventName) async throws {
        fake.answer(TestReceiver.Answer(status: status))
        try await run(try Self.records(1...2)) { running in
            try await running.eventually(1, event)
            #expect(try await running.names(event).first?[.httpStatus] == "\(status)")
            #expect(try await running.names(.failed).isEmpty)
            fake.answer(nil)
            try await running.untilWaiting()
            running.clock.advance(by: .seconds(15 * 60))
            try await running.eventually(2, .submitted)
        }
    }

    @Test func whatIsTooLargeIsHalved() async throws {
        fake.answer(TestReceiver.Answer(status: 413))
        try await run(try Self.records(1...2)) { running in
            try await running.eventually(2, .failed)
            #expect(fake.requests == 3)
        }
    }

    @Test(arguments: [
        "<html>Welcome</html>", "{}", #"{"resourceType":"OperationOutcome"}"#,
        #"{"resourceType":"Bundle","type":"transaction-response"}"#, #"[1]"#,
    ])
    func aSuccessThatIsNoneOfAFHIRServerIsNotBelieved(_ body: String) async throws {
        fake.answer(TestReceiver.Answer(status: 200, body: body))
        try await run(try Self.records(1...1)) { running in
            try await running.eventually(1, .destinationMisconfigured)
            #expect(
                try await running.names(.destinationMisconfigured).first?[.error]
                    == "answers with no Bundle of responses")
            #expect(try await running.names(.submitted).isEmpty)
        }
    }

    /// Who answers for one of seven entries has not said that it has the others.
    @Test(arguments: ["transaction-response", "batch-response"])
    func aWholeAnswerSaysOfEachEntryWhatBecameOfIt(type: String) {
        let entry = #"{"response":{"status":"201 Created"}}"#
        func meaning(_ count: Int, _ head: String? = nil, _ entry: String = entry) -> DeliveryAnswer {
            let head = head ?? #""resourceType":"Bundle","type":"\#(type)","#
            let entries = [String](repeating: entry, count: count).joined(separator: ",")
            return FHIRAnswer.meaning(httpStatus: 200, reply: #"{\#(head)"entry":[\#(entries)]}"#, entries: 7)
        }
        let misplaced = DeliveryAnswer.misplaced(
            httpStatus: 200, error: "answers with no Bundle of responses")
        #expect(meaning(7) == .taken(httpStatus: 200))
        // Any character may be written so (RFC 8259, section 7).
        #expect(
            meaning(7, nil, #"{"\u0072esponse":{"st\u0061tus":"\u0032\u0030\u0031 Created"}}"#)
                == .taken(httpStatus: 200))
        let marked =
            "\u{FEFF}{\"resourceType\":\"Bundle\",\"type\":\"\(type)\",\"entry\":[\(entry)]}"
        #expect(FHIRAnswer.meaning(httpStatus: 200, reply: marked, entries: 1) == .taken(httpStatus: 200))
        for count in [1, 6, 8] {
            #expect(
                meaning(count)
                    == .unavailable(
                        httpStatus: 200, error: "says of \(count) of 7 entries what became of them",
                        retryAfter: nil))
        }
        #expect(meaning(7, #""resourceType":"Bundle","type":"searchset","#) == misplaced)
        #expect(meaning(7, #""resourceType":"Bundle","#) == misplaced)
        #expect(meaning(7, #""type":"\#(type)","#) == misplaced)
        for entry in [#"{"response":{"status":"2999"}}"#, #"{"response":{}}"#, "{}", "5", #"{"response":5}"#]
        {
            #expect(
                meaning(7, nil, entry)
                    == .unavailable(
                        httpStatus: 200, error: "says of 0 of 7 entries what became of them", retryAfter: nil)
            )
        }
    }

    /// It is not cut off, so that nothing says that the records were taken.
    @Test(arguments: [
        #""entry":null}"#, #""entry":{}}"#, #""entry":[{"response":{"status":"201"}} 5]}"#,
        #""entry":[{"response":{"status":"201"}},]}"#, #""entry":[]} {}"#,
    ])
    func anAnswerThatIsNoJSONIsNotTaken(rest: String) {
        let reply = #"{"resourceType":"Bundle","type":"transaction-response","# + rest
        #expect(
            FHIRAnswer.meaning(httpStatus: 200, reply: reply, entries: 1)
                == .misplaced(httpStatus: 200, error: "answers with no Bundle of responses"))
    }

    @Test func theEntriesOfATransactionAreCounted() throws {
        let records = try Self.records(1...3).compactMap { RecordContent(json: $0.json) }
        let bytes = FHIRBundle(records: records, patientSystem: "urn:x").bytes
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(FHIRAnswer.entryCount(of: bytes) == text.ranges(of: #"{"fullUrl":"#).count)
        #expect(FHIRAnswer.entryCount(of: bytes) > 3)
    }

    @Test func ofALongAnswerTheBeginningIsEnough() {
        let entry = #"{"response":{"status":"201 Created","location":"Observation/1"}},"#
        let cut =
            #"{"resourceType":"Bundle","type":"transaction-response","entry":["# + entry + entry + #"{"resp"#
        #expect(FHIRAnswer.meaning(httpStatus: 200, reply: cut, entries: 7) == .taken(httpStatus: 200))
        // What a batch says of the rest is cut off.
        #expect(
            FHIRAnswer.meaning(
                httpStatus: 200, reply: cut.replacing("transaction", with: "batch"), entries: 7)
                == .tooLarge(httpStatus: 200))
        let bad = cut.replacing("201 Created", with: "422 Unprocessable")
        #expect(
            FHIRAnswer.meaning(httpStatus: 200, reply: bad, entries: 7)
                == .refused(httpStatus: 422, error: "HTTP 422 for an entry", reply: nil))
        let missing = cut.replacing("201 Created", with: "404")
        #expect(
            FHIRAnswer.meaning(httpStatus: 200, reply: missing, entries: 7)
                == .refused(httpStatus: 404, error: "HTTP 404 for an entry", reply: nil))
        #expect(
            FHIRAnswer.meaning(httpStatus: 200, reply: cut.replacing("201 Created", with: "403"), entries: 7)
                == .unauthorized(httpStatus: 403))
    }

    @Test func aSuccessWithoutWordsIsAskedForAgain() async throws {
        fake.answer(TestReceiver.Answer(status: 200))
        try await run(try Self.records(1...1)) { running in
            try await running.eventually(1, .destinationDown)
            #expect(
                try await running.names(.destinationDown).first?[.error]
                    == "did not say what became of the records")
            fake.answer(nil)
            try await running.untilWaiting()
            running.clock.advance(by: .seconds(2))
            try await running.eventually(1, .submitted)
        }
    }

    @Test func aRecordOfNobodyIsSetAsideAlone() async throws {
        var all = try Self.records(1...3)
        all[1].subject = nil
        try await run(all) { running in
            try await running.eventually(2, .submitted)
            try await running.eventually(1, .failed)
            let failed = try await running.names(.failed)
            #expect(failed.map { $0[.error] } == ["unassigned"] && failed[0][.httpStatus] == nil)
            #expect(fake.observations == [1, 3].map(Self.name))
        }
    }

    @Test func withoutASystemSubjectsAreIdsOfPatients() async throws {
        fake.know(patient: "patient-17")
        var all = try Self.records(1...3)
        all[1].subject = "no id"
        all[2].subject = "patient-18"
        try await run(all, patientSystem: nil) { running in
            try await running.eventually(1, .submitted)
            try await running.eventually(2, .failed)
            #expect(
                try await running.names(.failed).map { $0[.error] } == [
                    "is of a subject that is no id of a Patient; name a patient_system", "HTTP 400",
                ])
            #expect(!fake.kept.contains { $0.type == "Patient" })
        }
    }

    @Test(arguments: [(FHIRSettings.Authentication.bearer, "Bearer u:s"), (.basic, "Basic dTpz")])
    func aCredentialThatWasReplacedIsTriedAtOnce(
        authentication: FHIRSettings.Authentication, expected: String
    ) async throws {
        fake.want(authorization: expected)
        let reads = Mutex(0)
        let credential: @Sendable () -> String? = {
            reads.withLock { count in
                count += 1
                return count == 1 ? "old" : "u:s"
            }
        }
        let records = try Self.records(1...1)
        try await run(records, authentication: authentication, credential: credential) { running in
            try await running.eventually(1, .submitted)
            #expect(fake.requests == 2)
            #expect(try await running.names(.authRejected).isEmpty)
        }
    }

    @Test func theServersWordsAreKeptWithoutTheCredentialInAnyForm() async throws {
        fake.answer(TestReceiver.Answer(status: 400, body: "Basic dTpzM2NyZXQ=, box:s3cret, s3cret"))
        let records = try Self.records(1...1)
        let credential: @Sendable () -> String = { "u:s3cret" }
        try await run(records, authentication: .basic, credential: credential) { running in
            try await running.eventually(1, .failed)
            let replies = try await running.store.database.read {
                try String.fetchAll($0, sql: "SELECT reply FROM dead_letter")
            }
            #expect(replies == ["Basic [credential], box:[credential], [credential]"])
        }
    }

    @Test func theFakeRefusesWhatTheSpecificationDoesNotHave() throws {
        let record = try #require(RecordContent(json: Self.records(1...1)[0].json))
        let good = String(
            decoding: FHIRBundle(records: [record], patientSystem: Self.system).bytes, as: UTF8.self)
        func status(_ body: String, contentType: String = "application/fhir+json") -> Int {
            FakeFHIR().answer(
                TestReceiver.Received(
                    target: "POST /r4",
                    headers: ["content-type": contentType, "accept": "application/fhir+json"],
                    body: Array(body.utf8))
            ).status
        }
        #expect(status(good) == 200)
        #expect(status(good, contentType: "application/json") == 415)
        for (part, other) in [
            (#""resourceType":"Patient""#, #""resourceType":"Person""#),
            (#""status":"final""#, #""status":"final","extra":1"#), (#""status":"final""#, #""status":1"#),
            (#""type":"transaction""#, #""type":"batch""#), ("|patient-17", "|patient-18"),
            (#""subject":{"reference":"urn"#, #""subject":{"reference":"urm"#),
        ] {
            let bad = good.replacing(part, with: other)
            #expect(bad != good && status(bad) == 400, "\(other)")
        }
    }
}
