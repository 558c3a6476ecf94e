import TestSupport
import Testing

@testable import IngestDelivery

/// Delivery to Junction's side with an API key.
@Suite struct JunctionTests {
    private let bench = JunctionBench()
    private var fake: FakeJunction { bench.fake }

    private static func oximetry(_ id: Int) throws -> Record {
        try ValidicFormTests.record(
            .pulseOximetry, [("spo2", 97, 0, "%"), ("pulse-rate", 61, 0, "/min")],
            id: "00000000-0000-5000-8000-" + padded(id, 12))
    }

    @Test func aBatchIsOneRequestForEachSeriesAndSource() async throws {
        try await bench.run { place in
            var records = try JunctionBench.records(1...20)
            var cuff = try ValidicFormTests.record(
                .bloodPressure, [("systolic", 138, 0, "mm[Hg]"), ("diastolic", 87, 0, "mm[Hg]")])
            cuff.device.peripheralID = 2000
            records.insert(cuff, at: 10)
            let running = try await bench.start(place, records: records)
            try await running.eventually(21, .submitted)
            let user = try #require(fake.users[FakeJunction.user])
            #expect(
                fake.requests == [
                    "POST /v2/user", "POST /v2/link/provider/manual/manual",
                    "POST /v2/timeseries/\(user)/heartrate", "POST /v2/link/provider/manual/omron_ble",
                    "POST /v2/timeseries/\(user)/blood_pressure",
                ])
            #expect(fake.samples.count == 22 && fake.faults.isEmpty)
            #expect(fake.samples["\(user)/systolic/omron_ble/cuff/2026-11-20T08:15:00Z"] == "138 mmHg")
            // Nothing of it is asked for again.
            try await running.store.fill(try JunctionBench.records(21...21))
            try await running.eventually(22, .submitted)
            #expect(fake.requests.count == 6)
            try await running.stop()
        }
    }

    /// As after a reload of a catalogue that names another one.
    @Test func aProviderThatWasChangedIsTheOneOfTheNextRequest() async throws {
        try await bench.run { place in
            func cuff(_ number: Int) throws -> Record {
                var cuff = try ValidicFormTests.record(
                    .bloodPressure, [("systolic", 138, 0, "mm[Hg]"), ("diastolic", 87, 0, "mm[Hg]")],
                    id: "00000000-0000-5000-8000-" + padded(number, 12))
                cuff.device.peripheralID = 2000
                return cuff
            }
            let running = try await bench.start(place, records: [try cuff(1)])
            try await running.eventually(1, .submitted)
            running.junction.use(providers: [2000: "beurer_ble"])
            try await running.store.fill([try cuff(2)])
            try await running.eventually(2, .submitted)
            #expect(
                fake.requests.filter { $0.contains("/link/") } == [
                    "POST /v2/link/provider/manual/omron_ble", "POST /v2/link/provider/manual/beurer_ble",
                ])
            try await running.stop()
        }
    }

    @Test func aUserWhoIsThereIsFoundAndKept() async throws {
        let id = "AAAAAAAA-0000-4000-8000-00000000000A"
        fake.add(user: FakeJunction.user, id: id.lowercased())
        try await bench.run { place in
            let first = try await bench.start(place, records: try JunctionBench.records(1...1))
            try await first.eventually(1, .submitted)
            try await first.stop()
            #expect(fake.samples.keys.allSatisfy { $0.hasPrefix(id.lowercased()) })
            // Over a restart too, with the sources.
            let second = try await bench.start(place, records: try JunctionBench.records(2...2))
            try await second.eventually(2, .submitted)
            #expect(fake.count("/v2/user") == 1 && fake.count("/v2/link") == 1)
            try await second.stop()
        }
    }

    @Test func aSourceIsMadeAgainWhereItIsMissing() async throws {
        try await bench.run { place in
            let running = try await bench.start(place, records: try JunctionBench.records(1...1))
            try await running.eventually(1, .submitted)
            fake.disconnect()
            bench.clock.advance(by: .seconds(61))
            try await running.store.fill(try JunctionBench.records(2...2))
            try await running.eventually(2, .submitted)
            #expect(fake.count("/v2/link") == 2 && fake.count("/v2/timeseries") == 3)
            #expect(try await running.names(.failed, .retrying).isEmpty)
            try await running.stop()
        }
    }

    @Test func aSourceThatIsConnectedAlreadyIsFine() async throws {
        try await bench.run { place in
            fake.answer("/v2/link", 409)
            let id = "00000000-0000-4000-8000-00000000000a"
            fake.add(user: FakeJunction.user, id: id)
            let session = await bench.session(place)
            let junction = Junction(session: session)
            fake.answer("/v2/timeseries", 200)
            let batch = JunctionBench.batch(try JunctionBench.records(1...1))
            #expect(await junction.deliver(batch) == .taken(httpStatus: 200))
        }
    }

    @Test func aRecordOfSeveralSeriesCountsWhenAllAreTaken() async throws {
        try await bench.run { place in
            fake.answer("/heartrate", 503)
            let first = try await bench.start(place, records: [try Self.oximetry(1)])
            try await first.eventually(1, .retrying)
            #expect(try await first.names(.submitted).isEmpty)
            #expect(fake.samples.count == 1)
            // What was taken is not sent again…
            try await first.untilWaiting()
            bench.clock.advance(by: .seconds(5))
            try await first.eventually(2, .retrying)
            #expect(fake.count("/blood_oxygen") == 1 && fake.count("/heartrate") == 2)
            try await first.stop()
            // … but after a restart, where it replaces itself.
            fake.answerAsEver("/heartrate")
            let second = try await bench.start(place)
            try await second.eventually(1, .submitted)
            #expect(fake.count("/blood_oxygen") == 2 && fake.samples.count == 2)
            #expect(fake.bodies.count == 3 && fake.bodies[0] == fake.bodies[1])
            try await second.stop()
        }
    }

    @Test func aSlowBatchGoesOnLater() async throws {
        try await bench.run { place in
            let clock = bench.clock
            fake.whileTaking { clock.advance(by: .seconds(56)) }
            let junction = Junction(session: await bench.session(place))
            let batch = JunctionBench.batch([try Self.oximetry(1)])
            #expect(
                await junction.deliver(batch)
                    == .busy(
                        httpStatus: 200, error: "answers slowly: the rest of the batch goes later",
                        retryAfter: nil))
            #expect(await junction.deliver(batch) == .taken(httpStatus: 200))
            #expect(fake.count("/blood_oxygen") == 1 && fake.count("/heartrate") == 1)
        }
    }

    @Test func aSignInLooksTheUserUpAgain() async throws {
        try await bench.run { place in
            let session = await bench.session(place)
            let junction = Junction(session: session)
            let batch = JunctionBench.batch(try JunctionBench.records(1...1))
            #expect(await junction.deliver(batch) == .taken(httpStatus: 200))
            await session.startAnew()
            #expect(await junction.deliver(batch) == .taken(httpStatus: 200))
            #expect(fake.count("/v2/user") == 2 && fake.count("/v2/link") == 2 && fake.samples.count == 1)
        }
    }

    @Test func oneBadRecordCostsNoOther() async throws {
        try await bench.run { place in
            fake.refuse(#""value":5,"#)
            let running = try await bench.start(place, records: try JunctionBench.records(1...8))
            try await running.eventually(7, .submitted)
            try await running.eventually(1, .failed)
            #expect(bench.values == [1, 2, 3, 4, 6, 7, 8].map { "\($0) bpm" })
            let failed = try await running.names(.failed)
            #expect(failed.map { $0[.httpStatus] } == ["422"] && failed[0][.error] == "HTTP 422")
            // The source was just connected: it is not why.
            #expect(fake.count("/v2/link") == 1)
            try await running.stop()
        }
    }

    @Test func whatIsNotThisPersonsIsSetAsideAlone() async throws {
        try await bench.run { place in
            var records = try JunctionBench.records(1...4)
            records[1].subject = nil
            records[2].flags = ["data-for-demonstration"]
            var others = try JunctionBench.records(5...5)
            others[0].subject = "patient-18"
            let running = try await bench.start(place, records: records + others)
            try await running.eventually(2, .submitted)
            try await running.eventually(3, .failed)
            let failed = try await running.names(.failed)
            #expect(
                failed.map { $0[.error] } == [
                    "unassigned", "is no measurement of a person (data-for-demonstration)",
                    "is another person's",
                ])
            #expect(bench.values == ["1 bpm", "4 bpm"])
            try await running.stop()
        }
    }

    @Test func aRejectedKeyIsReadAgainAndKeepsEverything() async throws {
        try await bench.run { place in
            fake.accept(keys: ["sk_us_new"])
            let running = try await bench.start(place, records: try JunctionBench.records(1...2))
            try await running.eventually(1, .authRejected)
            try await running.untilIdle()
            #expect(fake.requests.count == 1)
            #expect(try await running.names(.sessionEnded, .failed, .submitted).isEmpty)
            bench.key.replace(by: "sk_us_new")
            // As a reload does.
            await running.junction.renew()
            running.worker.retryNow()
            try await running.eventually(2, .submitted)
            try await running.stop()
        }
    }

    @Test(
        arguments: [
            (200, .taken(httpStatus: 200)), (202, .taken(httpStatus: 202)),
            (301, .misplaced(httpStatus: 301, error: "answers with a redirect (HTTP 301)")),
            (400, .refused(httpStatus: 400, error: "HTTP 400", reply: "said")),
            (401, .unauthorized(httpStatus: 401)), (403, .unauthorized(httpStatus: 403)),
            (404, .misplaced(httpStatus: 404, error: "does not know the URL (HTTP 404)")),
            (405, .misplaced(httpStatus: 405, error: "does not know the URL (HTTP 405)")),
            (408, .unavailable(httpStatus: 408, error: "HTTP 408", retryAfter: nil)),
            (409, .inProgress(httpStatus: 409, retryAfter: nil)),
            (412, .refused(httpStatus: 412, error: "HTTP 412", reply: "said")),
            (413, .tooLarge(httpStatus: 413)),
            (422, .refused(httpStatus: 422, error: "HTTP 422", reply: "said")),
            (429, .busy(httpStatus: 429, error: "HTTP 429", retryAfter: nil)),
            (500, .unavailable(httpStatus: 500, error: "HTTP 500", retryAfter: nil)),
            (503, .unavailable(httpStatus: 503, error: "HTTP 503", retryAfter: nil)),
        ] as [(Int, DeliveryAnswer)])
    func everyStatusOfDataMeansWhatItMeansElsewhere(status: Int, answer: DeliveryAnswer) async throws {
        try await bench.run { place in
            let junction = Junction(session: await bench.session(place))
            fake.answer("/v2/timeseries", status, "said")
            let batch = JunctionBench.batch(try JunctionBench.records(1...1))
            #expect(await junction.deliver(batch) == answer)
        }
    }

    @Test(
        arguments: [
            ("/v2/user", 400, .misplaced(httpStatus: 400, error: "does not take the user (HTTP 400)")),
            ("/v2/user", 422, .misplaced(httpStatus: 422, error: "does not take the user (HTTP 422)")),
            ("/v2/user", 200, .misplaced(httpStatus: 200, error: "does not take the user (HTTP 200)")),
            ("/v2/user", 401, .unauthorized(httpStatus: 401)),
            ("/v2/user", 404, .misplaced(httpStatus: 404, error: "does not know the URL (HTTP 404)")),
            ("/v2/user", 429, .busy(httpStatus: 429, error: "HTTP 429", retryAfter: nil)),
            ("/v2/user", 500, .unavailable(httpStatus: 500, error: "HTTP 500", retryAfter: nil)),
            (
                "/v2/link", 400,
                .misplaced(httpStatus: 400, error: "does not connect the source manual (HTTP 400)")
            ),
            ("/v2/link", 403, .unauthorized(httpStatus: 403)),
            ("/v2/link", 503, .unavailable(httpStatus: 503, error: "HTTP 503", retryAfter: nil)),
        ] as [(String, Int, DeliveryAnswer)])
    func whatStandsBeforeDataCostsNoRecord(place part: String, status: Int, answer: DeliveryAnswer)
        async throws
    {
        try await bench.run { place in
            let junction = Junction(session: await bench.session(place))
            fake.answer(part, status, #"{"detail":"said"}"#)
            let batch = JunctionBench.batch(try JunctionBench.records(1...1))
            #expect(await junction.deliver(batch) == answer)
            #expect(fake.samples.isEmpty)
        }
    }

    @Test func theServersWordsDoNotHoldTheKey() async throws {
        try await bench.run { place in
            let junction = Junction(session: await bench.session(place))
            fake.answer("/v2/timeseries", 400, "no \(FakeJunction.apiKey) here")
            let batch = JunctionBench.batch(try JunctionBench.records(1...1))
            #expect(
                await junction.deliver(batch)
                    == .refused(httpStatus: 400, error: "HTTP 400", reply: "no [credential] here"))
        }
    }

    @Test func aKeyOfAnotherPlaceIsNotSent() async throws {
        for (key, words) in [
            ("sk_us_1", "sandbox us"), ("pk_us_1", "production us"), ("sk_eu_1", "sandbox eu"),
        ] {
            let session = JunctionSession(
                settings: JunctionSettings(user: "patient-17", region: .eu, environment: .production),
                access: .apiKey { key }, transport: HTTPTransport(), clock: bench.clock,
                vault: bench.vault.vault, told: { _ in })
            let batch = JunctionBench.batch(try JunctionBench.records(1...1))
            #expect(
                await Junction(session: session).deliver(batch)
                    == .misplaced(
                        httpStatus: nil,
                        error: "the API key is for \(words), and the destination is production eu"))
        }
    }

    @Test(
        arguments: [
            (.us, .production, "us.junction.com"), (.eu, .production, "eu.junction.com"),
            (.us, .sandbox, "sandbox.us.junction.com"), (.eu, .sandbox, "sandbox.eu.junction.com"),
        ] as [(JunctionSettings.Region, JunctionSettings.Environment, String)])
    func eachPlaceHasItsHosts(
        region: JunctionSettings.Region, environment: JunctionSettings.Environment,
        domain: String
    ) {
        let settings = JunctionSettings(user: "a", region: region, environment: environment)
        #expect(settings.api == "https://api." + domain)
        #expect(settings.tokenURL == "https://auth.\(domain)/v1/token")
        let own = JunctionSettings(user: "a", url: "http://127.0.0.1:8000/", region: region)
        #expect(own.api == "http://127.0.0.1:8000" && own.tokenURL == "http://127.0.0.1:8000/auth/v1/token")
    }
}
