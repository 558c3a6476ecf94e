import FoundationEssentials
import QueueTestSupport
import Testing

@testable import IngestDelivery

private func notRefreshed(_ status: Int) -> DeliveryAnswer {
    .unavailable(
        httpStatus: status, error: "the session could not be refreshed (HTTP \(status))", retryAfter: nil)
}

/// Delivery to Junction's side in a session that a sign-in token has opened.
@Suite struct JunctionSessionTests {
    private static let id = "00000000-0000-4000-8000-00000000000a"
    private static let other = "00000000-0000-4000-8000-00000000000b"

    private let bench = JunctionBench()
    private var fake: FakeJunction { bench.fake }
    private var token: String { fake.signInToken(for: Self.id.uppercased()) }

    private func tokens() throws -> JunctionTokens? {
        try bench.vault.text.map {
            try JSONDecoder().decode(JunctionState.self, from: Data($0.utf8))
        }?.tokens
    }

    /// Signed in, and with the records 1 to `count` delivered.
    private func started(
        _ place: DeliveryPlace, _ count: Int = 1
    ) async throws -> JunctionBench.Running {
        let running = try await bench.start(place, .signInToken)
        try await running.signIn(token)
        try await running.store.fill(try JunctionBench.records(1...count))
        try await running.eventually(count, .submitted)
        return running
    }

    @Test func nothingIsAskedBeforeASignInAndAllIsDeliveredAfter() async throws {
        try await bench.run { place in
            let running = try await bench.start(
                place, .signInToken, records: try JunctionBench.records(1...3))
            try await running.untilIdle()
            bench.clock.advance(by: .seconds(3600))
            try await running.untilIdle()
            #expect(fake.requests.isEmpty)
            #expect(try await running.names(.signedIn, .sessionEnded, .authRejected).isEmpty)

            try await running.signIn(token)
            try await running.eventually(3, .submitted)
            #expect(
                fake.requests == [
                    "POST /auth/v1/token", "POST /v2/link/provider/manual/manual",
                    "POST /v2/timeseries/\(Self.id)/heartrate",
                ])
            #expect(try await running.names(.signedIn).count == 1)
            #expect(fake.faults.isEmpty)
            try await running.stop()
        }
    }

    @Test func aSessionOutlivesARestart() async throws {
        try await bench.run { place in
            try await started(place).stop()
            let second = try await bench.start(place, .signInToken, records: try JunctionBench.records(2...2))
            try await second.eventually(2, .submitted)
            #expect(fake.count("/auth") == 1 && fake.count("/v2/link") == 1)
            try await second.stop()
            // Much later the access token is refreshed before anything is sent.
            bench.clock.step(by: .seconds(86_400))
            let third = try await bench.start(place, .signInToken, records: try JunctionBench.records(3...3))
            try await third.eventually(3, .submitted)
            #expect(fake.count("/auth") == 2 && fake.count("/v2/timeseries") == 3)
            try await third.stop()
        }
    }

    @Test func tokensAreRefreshedFiveMinutesBeforeTheirEndAndKept() async throws {
        try await bench.run { place in
            let running = try await started(place)
            let first = try #require(try tokens())
            bench.clock.advance(by: .seconds(3299))
            try await running.store.fill(try JunctionBench.records(2...2))
            try await running.eventually(2, .submitted)
            #expect(fake.count("/auth") == 1)
            bench.clock.advance(by: .seconds(1))
            try await running.store.fill(try JunctionBench.records(3...3))
            try await running.eventually(3, .submitted)
            let second = try #require(try tokens())
            #expect(fake.count("/auth") == 2)
            #expect(second.access != first.access && second.refresh != first.refresh)
            #expect(fake.accessTokens == [second.access])
            try await running.stop()
        }
    }

    @Test func aTokenOfAMinuteIsRefreshedAtHalfOfIt() async throws {
        fake.setLifetime(60)
        try await bench.run { place in
            let running = try await started(place)
            bench.clock.advance(by: .seconds(30))
            try await running.store.fill(try JunctionBench.records(2...2))
            try await running.eventually(2, .submitted)
            #expect(fake.count("/auth") == 2)
            try await running.stop()
        }
    }

    @Test func anEarlyRefreshThatFailsDoesNotMatterYet() async throws {
        try await bench.run { place in
            let running = try await started(place)
            fake.answer("/auth", 503)
            bench.clock.advance(by: .seconds(3400))
            try await running.store.fill(try JunctionBench.records(2...2))
            try await running.eventually(2, .submitted)
            #expect(fake.count("/auth") == 2)
            bench.clock.advance(by: .seconds(300))
            try await running.store.fill(try JunctionBench.records(3...3))
            try await running.eventually(1, .destinationDown)
            let down = try await running.names(.destinationDown)
            #expect(down[0][.error] == "the session could not be refreshed (HTTP 503)")
            fake.answerAsEver("/auth")
            try await running.untilWaiting()
            bench.clock.advance(by: .seconds(5))
            try await running.eventually(3, .submitted)
            try await running.stop()
        }
    }

    @Test func aRejectedAccessTokenIsRefreshedOnceAndTheRequestRepeated() async throws {
        try await bench.run { place in
            let running = try await started(place)
            fake.endAccess()
            try await running.store.fill(try JunctionBench.records(2...2))
            try await running.eventually(2, .submitted)
            #expect(fake.count("/auth") == 2 && fake.count("/v2/timeseries") == 3)
            #expect(try await running.names(.authRejected, .retrying, .sessionEnded).isEmpty)
            // A new one that is rejected too is no reason to go on.
            fake.answer("/v2/timeseries", 401)
            try await running.store.fill(try JunctionBench.records(3...3))
            try await running.eventually(1, .authRejected)
            try await running.untilIdle()
            #expect(fake.count("/auth") == 3 && fake.count("/v2/timeseries") == 5)
            try await running.stop()
        }
    }

    @Test func requestsThatComeTogetherShareOneRefresh() async throws {
        try await bench.run { place in
            let session = await bench.session(place, .signInToken)
            try await session.signIn(try JunctionSignInToken(token))
            let batches = try (1...8).map { JunctionBench.batch(try JunctionBench.records($0...$0)) }
            let junction = Junction(session: session)
            #expect(await junction.deliver(batches[0]) == .taken(httpStatus: 200))
            fake.endAccess()
            await withTaskGroup { group in
                for batch in batches { group.addTask { await junction.deliver(batch) } }
                for await answer in group { #expect(answer == .taken(httpStatus: 200)) }
            }
            #expect(fake.count("/auth") == 2)
        }
    }

    @Test func aRefreshIsNotCancelledWithItsDelivery() async throws {
        try await bench.run { place in
            let session = await bench.session(place, .signInToken)
            try await session.signIn(try JunctionSignInToken(token))
            let first = try tokens()
            bench.clock.advance(by: .seconds(3600))
            let batch = JunctionBench.batch(try JunctionBench.records(1...1))
            let (gate, opened) = AsyncStream<Void>.makeStream()
            let delivery = Task {
                for await _ in gate {}
                return await Junction(session: session).deliver(batch)
            }
            // The gate opens for it because it is cancelled.
            delivery.cancel()
            defer { opened.finish() }
            guard case .unavailable = await delivery.value else {
                Issue.record("what is cancelled is not delivered")
                return
            }
            // What replaced the former tokens is kept.
            #expect(fake.count("/auth") == 2 && fake.samples.isEmpty)
            #expect(try tokens() != first)
            #expect(fake.accessTokens == [try #require(try tokens()).access])
        }
    }

    @Test func theEndWaitsForARefreshThatIsUnderWay() async throws {
        try await bench.run { place in
            let session = await bench.session(place, .signInToken)
            try await session.signIn(try JunctionSignInToken(token))
            let first = try tokens()
            // Nothing is under way, so nothing is waited for.
            await session.settle(within: .seconds(6))
            bench.clock.advance(by: .seconds(3600))
            let batch = JunctionBench.batch(try JunctionBench.records(1...1))
            let delivery = Task { await Junction(session: session).deliver(batch) }
            try await eventually("the refresh is under way") { fake.count("/auth") == 2 }
            delivery.cancel()
            // As a part of the gateway that was told to stop does.
            let end = Task { await session.settle(within: .seconds(6)) }
            end.cancel()
            await end.value
            #expect(try tokens() != first)
            #expect(fake.accessTokens == [try #require(try tokens()).access])
            _ = await delivery.value
        }
    }

    @Test func theEndDoesNotWaitForARefreshForEver() async throws {
        let (clock, never) = (DrivenClock(), AsyncStream<Void>.makeStream())
        let refresh = Task { for await _ in never.stream {} }
        let wait = Task { await refresh.result(within: .seconds(6), by: clock) }
        try await eventually("it waits") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(6))
        #expect(await wait.value == nil)
        never.continuation.finish()
        #expect(await refresh.result(within: .seconds(6), by: clock) != nil)
    }

    @Test func aUserWhoIsGoneEndsTheSession() async throws {
        try await bench.run { place in
            let running = try await started(place)
            fake.endAccess()
            fake.endRefresh()
            try await running.store.fill(try JunctionBench.records(2...3))
            try await running.eventually(1, .sessionEnded)
            let ended = try await running.names(.sessionEnded)
            #expect(ended[0][.count] == "2" && ended[0][.httpStatus] == "400")
            try await eventually("no token is left of it") {
                bench.vault.text?.contains("refresh-") == false
            }
            // Neither time nor a restart asks anything.
            try await running.untilIdle()
            let before = fake.requests.count
            bench.clock.advance(by: .seconds(86_400))
            try await running.untilIdle()
            try await running.stop()
            let second = try await bench.start(place, .signInToken)
            try await second.untilIdle()
            // What waits is the user's whose session it was.
            await #expect(throws: JunctionSignInError.otherUser) {
                try await second.session.signIn(try JunctionSignInToken(fake.signInToken(for: Self.other)))
            }
            #expect(fake.requests.count == before)
            try await second.signIn(token)
            try await second.eventually(3, .submitted)
            #expect(try await second.names(.sessionEnded).count == 1)
            #expect(try await second.names(.signedIn).count == 2)
            try await second.stop()
        }
    }

    @Test func aParkedSessionWaitsForTheSameUser() async throws {
        try await bench.run { place in
            let running = try await started(place)
            fake.endAccess()
            fake.answer("/auth", 400, #"{"detail":{"error_type":"reauthentication_required"}}"#)
            try await running.store.fill(try JunctionBench.records(2...2))
            try await running.eventually(1, .authRejected)
            #expect(try tokens()?.isParked == true)
            try await running.untilIdle()
            let before = fake.requests.count
            bench.clock.advance(by: .seconds(86_400))
            try await running.untilIdle()
            try await running.stop()
            let second = try await bench.start(place, .signInToken)
            try await second.untilIdle()
            #expect(await second.session.standing == .parked && fake.requests.count == before)

            fake.answerAsEver("/auth")
            await #expect(throws: JunctionSignInError.otherUser) {
                try await second.session.signIn(try JunctionSignInToken(fake.signInToken(for: Self.other)))
            }
            #expect(fake.requests.count == before)
            try await second.signIn(token)
            try await second.eventually(2, .submitted)
            #expect(try await second.names(.sessionEnded).isEmpty)
            try await second.stop()
        }
    }

    @Test(
        arguments: [
            (200, "{}", notRefreshed(200)),
            (400, "{}", notRefreshed(400)),
            (400, #"{"detail":{"error_type":"invalid_token"}}"#, .sessionEnded(httpStatus: 400)),
            (
                401, #"{"detail":{"error_type":"invalid_token","message":"x"},"error":"y"}"#,
                .sessionEnded(httpStatus: 401)
            ),
            (
                401, #"{"detail":{"error_type":"reauthentication_required"}}"#,
                .unauthorized(httpStatus: 401, error: "wants the person to sign in again")
            ),
            (403, #"{"detail":"no"}"#, notRefreshed(403)),
            (404, "", notRefreshed(404)),
            (
                429, "",
                .busy(
                    httpStatus: 429, error: "the session could not be refreshed (HTTP 429)", retryAfter: nil)
            ),
            // Whatever it says beside a status that is not about the token.
            (503, #"{"detail":{"error_type":"invalid_token"}}"#, notRefreshed(503)),
        ] as [(Int, String, DeliveryAnswer)])
    func everyAnswerToARefresh(status: Int, body: String, answer: DeliveryAnswer) async throws {
        try await bench.run { place in
            let session = await bench.session(place, .signInToken)
            try await session.signIn(try JunctionSignInToken(token))
            fake.endAccess()
            fake.answer("/auth", status, body)
            let batch = JunctionBench.batch(try JunctionBench.records(1...1))
            #expect(await Junction(session: session).deliver(batch) == answer)
            // The session stays but where the server says that it is over.
            #expect(await session.isOpen() == answer.isPassing)
            #expect((try tokens() == nil) == (answer == .sessionEnded(httpStatus: status)))
        }
    }

    @Test func signingInTwiceIsFine() async throws {
        try await bench.run { place in
            let running = try await started(place)
            let first = try tokens()
            try await running.signIn(token)
            #expect(try tokens() != first)
            try await running.store.fill(try JunctionBench.records(2...2))
            try await running.eventually(2, .submitted)
            try await running.stop()
        }
    }

    @Test func movingFromAKeyToATokenKeepsTheQueue() async throws {
        fake.add(user: FakeJunction.user, id: Self.id)
        try await bench.run { place in
            let first = try await bench.start(place, records: try JunctionBench.records(1...1))
            try await first.eventually(1, .submitted)
            fake.answer("/v2/timeseries", 503)
            try await first.store.fill(try JunctionBench.records(2...3))
            try await first.eventually(1, .retrying)
            try await first.stop()
            fake.answerAsEver("/v2/timeseries")

            let second = try await bench.start(place, .signInToken)
            try await second.untilIdle()
            #expect(try await second.names(.authRejected, .sessionEnded).isEmpty)
            // The id that the key has found is the user's.
            await #expect(throws: JunctionSignInError.otherUser) {
                try await second.session.signIn(try JunctionSignInToken(fake.signInToken(for: Self.other)))
            }
            try await second.signIn(token)
            try await second.eventually(3, .submitted)
            #expect(bench.values == ["1 bpm", "2 bpm", "3 bpm"])
            try await second.stop()
        }
    }

    @Test func aSessionOfAnotherPersonOrPlaceIsNotUsed() async throws {
        try await bench.run { place in
            try await started(place).stop()
            let other = await bench.session(place, .signInToken, user: "patient-18")
            #expect(await other.standing == .closed)
            // The configuration has changed, the token has not.
            await #expect(throws: JunctionSignInError.formerUser) {
                try await other.signIn(try JunctionSignInToken(token))
            }
            try await other.signIn(try JunctionSignInToken(fake.signInToken(for: Self.other)))
            #expect(await other.standing == .open)
            let elsewhere = DeliveryPlace(
                directory: place.directory, url: place.url + "/elsewhere", transport: place.transport,
                receiver: place.receiver)
            #expect(await bench.session(elsewhere, .signInToken, user: "patient-18").standing == .closed)
        }
    }

    @Test func aSignOutErasesEverything() async throws {
        try await bench.run { place in
            let running = try await started(place)
            #expect(bench.vault.text?.contains("refresh-") == true)
            await running.session.signOut()
            #expect(try await running.store.sessions.signOut(of: "junction") == 0)
            #expect(bench.vault.text == nil)
            #expect(await running.session.standing == .closed)
            // Then another user may sign in.
            try await running.session.signIn(try JunctionSignInToken(fake.signInToken(for: Self.other)))
            try await running.stop()
        }
    }

    @Test func aTokenIsGoodForOneExchange() async throws {
        try await bench.run { place in
            let session = await bench.session(place, .signInToken)
            let parsed = try JunctionSignInToken(token)
            try await session.signIn(parsed)
            let kept = bench.vault.text
            await #expect(throws: JunctionSignInError.refused) { try await session.signIn(parsed) }
            #expect(bench.vault.text == kept)
            #expect(await session.standing == .open)
            fake.answer("/auth", 500)
            await #expect(
                throws: JunctionSignInError.unavailable("the sign-in token could not be exchanged (HTTP 500)")
            ) {
                try await session.signIn(try JunctionSignInToken(token))
            }
        }
    }

    @Test func aTokenIsNotUsedWhereNothingCanBeKept() async throws {
        try await bench.run { place in
            let session = await bench.session(place, .signInToken)
            bench.vault.fill(true)
            let parsed = try JunctionSignInToken(token)
            await #expect(throws: JunctionSignInError.notKept) { try await session.signIn(parsed) }
            #expect(fake.requests.isEmpty)
            bench.vault.fill(false)
            try await session.signIn(parsed)
            // Later tokens are used all the same, and kept once that is possible.
            bench.vault.fill(true)
            fake.endAccess()
            let junction = Junction(session: session)
            let records = try JunctionBench.records(1...2)
            #expect(await junction.deliver(JunctionBench.batch([records[0]])) == .taken(httpStatus: 200))
            bench.vault.fill(false)
            fake.endAccess()
            #expect(await junction.deliver(JunctionBench.batch([records[1]])) == .taken(httpStatus: 200))
            #expect(fake.accessTokens == [try #require(try tokens()).access])
        }
    }

    @Test func whatIsKeptAndCannotBeReadIsNoSession() async throws {
        try await bench.run { place in
            try bench.vault.vault.save(Array("{".utf8))
            #expect(await bench.session(place, .signInToken).standing == .closed)
        }
    }

    @Test func noEventHasAToken() async throws {
        try await bench.run { place in
            let running = try await started(place)
            fake.answer("/v2/timeseries", 400, "no access-2, no refresh-2")
            try await running.store.fill(try JunctionBench.records(2...2))
            try await running.eventually(1, .failed)
            let secrets = [try #require(try tokens()).access, try #require(try tokens()).refresh]
            let events = try await running.store.events.map { "\($0)" }.joined()
            #expect(secrets.allSatisfy { !events.contains($0) })
            try await running.stop()
        }
    }

    /// The former tokens are gone: these are kept, whatever is said of their time.
    @Test(
        arguments: [
            (#","expires_in":3600"#, 3600), (#","expires_in":"3600""#, 3600),
            (#","expires_in":3599.9"#, 3599), (#","expires_in":"3599.9""#, 3599), ("", 0),
            (#","expires_in":null"#, 0), (#","expires_in":"soon""#, 0), (#","expires_in":1e30"#, 0),
            (#","expires_in":{}"#, 0),
        ] as [(String, Int64)])
    func tokensAreTakenWhateverIsSaidOfTheirTime(member: String, lifetime: Int64) throws {
        let answer = JunctionTokenAnswer(#"{"access_token":"a","refresh_token":"r"\#(member)}"#)
        #expect(answer?.access == "a" && answer?.refresh == "r" && answer?.lifetime == lifetime)
    }

    @Test func tokensThatAreNoneAreRefused() {
        for text in ["", "x", "e30=", String(repeating: "A", count: 9000)] {
            #expect(throws: JunctionSignInToken.Malformed.self) { try JunctionSignInToken(text) }
        }
        #expect(throws: JunctionSignInToken.Malformed.self) {
            try JunctionSignInToken(fake.signInToken(for: "../../v2/user"))
        }
    }

    @Test(
        arguments: [
            ("production-us", "production us"), ("prd-eu", "production eu"), ("stg-us", "sandbox us"),
            ("dev-us", nil), ("sandbox-mars", nil),
        ] as [(String, String?)])
    func aTokenSaysWhereItWasMade(part: String, words: String?) async throws {
        let token = try JunctionSignInToken(
            fake.signInToken(
                for: Self.id, issuer: "id-signer-\(part)@vital-id-x-y.iam.gserviceaccount.com"))
        #expect(token.place?.name == words && token.userID == Self.id)
        guard let words else { return }
        let session = JunctionSession(
            settings: JunctionSettings(user: "patient-17", region: .eu, environment: .sandbox),
            access: .signInToken, transport: HTTPTransport(), clock: bench.clock,
            vault: bench.vault.vault, told: { _ in })
        await #expect(
            throws: JunctionSignInError.otherPlace(
                "the sign-in token is for \(words), and the destination is sandbox eu")
        ) { try await session.signIn(token) }
    }
}
