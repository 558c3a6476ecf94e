import Synchronization
import Testing

@testable import HTTPService

@Suite(.timeLimit(.minutes(15))) struct ConnectionBoundsTests {
    typealias Answer = RawClient.Answer

    private static let order = HTTPServerTests.order
    private static let orderAnswer = HTTPServerTests.orderAnswer

    @Test func ofTooManyConnectionsTheOneThatWaitsLongestEnds() async throws {
        let bounds = HTTPServer.Bounds(connections: 2, bodies: 1 << 20, patience: .seconds(100))
        try await ServerBench(bounds: bounds).run { path in
            try await RawClient.run(at: path) { first in
                try await first.send(Self.order)
                #expect(await first.answer() == Self.orderAnswer)
                try await RawClient.run(at: path) { second in
                    try await second.send(Self.order)
                    #expect(await second.answer() == Self.orderAnswer)
                    // So that the second is the one that waits longest.
                    try await first.send(Self.order)
                    #expect(await first.answer() == Self.orderAnswer)
                    try await RawClient.run(at: path) { third in
                        try await third.send(Self.order)
                        #expect(await third.answer() == Self.orderAnswer)
                        await second.untilEnded()
                    }
                    try await first.send(Self.order)
                    #expect(await first.answer() == Self.orderAnswer)
                }
            }
        }
    }

    @Test func whoWaitsForItsAnswerIsNotEndedForAnother() async throws {
        let slow = SlowRoute()
        let bounds = HTTPServer.Bounds(connections: 1, bodies: 1 << 20, patience: .seconds(100))
        try await ServerBench(routes: [slow.route], bounds: bounds).run { path in
            try await RawClient.run(at: path) { first in
                try await first.send("GET /slow HTTP/1.1\r\n\r\n")
                _ = await slow.begun.first { true }
                try await RawClient.run(at: path) { await $0.untilEnded() }
                slow.ending.finish()
                #expect(await first.answer() == Answer(status: 200, body: ""))
            }
        }
    }

    /// Else a client that asks and hangs up again and again would have work done without a bound.
    @Test func aPlaceIsTakenUntilItsWorkIsDone() async throws {
        let slow = SlowRoute()
        let bounds = HTTPServer.Bounds(connections: 1, bodies: 1 << 20, patience: .seconds(100))
        try await ServerBench(routes: HTTPServerTests.routes + [slow.route], bounds: bounds).run { path in
            try await RawClient.run(at: path) { client in
                try await client.send("GET /slow HTTP/1.1\r\n\r\n")
                _ = await slow.begun.first { true }
            }
            for _ in 0..<10 {
                try await RawClient.run(at: path) { client in
                    try? await client.send(Self.order)
                    #expect(await client.answer() == nil)
                }
            }
            slow.ending.finish()
            var answer: Answer?
            while answer != Self.orderAnswer {
                answer = try await RawClient.run(at: path) { client in
                    try? await client.send(Self.order)
                    return await client.answer()
                }
            }
        }
    }

    @Test func bodiesHaveABoundTogether() async throws {
        let bounds = HTTPServer.Bounds(connections: 32, bodies: 64, patience: .seconds(100))
        try await ServerBench(bounds: bounds).run { path in
            try await RawClient.run(at: path) { first in
                let body = String(repeating: "b", count: 60)
                try await RawClient.run(at: path) { second in
                    let request = "POST /small HTTP/1.1\r\nContent-Length: 60\r\n\r\n" + body
                    var answer: Answer?
                    while true {
                        try await first.send(
                            "POST /large HTTP/1.1\r\nContent-Length: 61\r\nExpect: 100-continue\r\n\r\n")
                        #expect(await first.answer()?.status == 100)
                        try await first.send(body)
                        try await second.send(request)
                        answer = await second.answer()
                        guard answer == Answer(status: 200, body: "60") else { break }
                        // It came before the first one's, for which there may have been no room: once more.
                        try await first.send("b")
                        _ = await first.answer()
                    }
                    #expect(answer == Answer(status: 503, body: ""))
                    try await first.send("b")
                    #expect(await first.answer() == Answer(status: 200, body: "61"))
                    try await second.send(request)
                    #expect(await second.answer() == Answer(status: 200, body: "60"))
                }
                // Nor do those count whose clients have gone.
                for _ in 0..<10 {
                    try await RawClient.run(at: path) {
                        try await $0.send("POST /small HTTP/1.1\r\nContent-Length: 60\r\n\r\nbbbbbbb")
                    }
                }
                repeat {
                    try await first.send("POST /small HTTP/1.1\r\nContent-Length: 60\r\n\r\n" + body)
                } while await first.answer() != Answer(status: 200, body: "60")
            }
        }
    }

    @Test(arguments: ["", "GET /empty HTTP/1.1\r\nHos", "POST /small HTTP/1.1\r\nContent-Length: 2\r\n\r\na"])
    func whoBringsNoWholeRequestEnds(_ part: String) async throws {
        let bounds = HTTPServer.Bounds(connections: 32, bodies: 1 << 20, patience: .milliseconds(200))
        try await ServerBench(bounds: bounds).run { path in
            try await RawClient.run(at: path) { client in
                // On a busy machine its time may be over before.
                try? await client.send(part)
                #expect(await client.answer() == nil)
            }
        }
    }

    @Test func aStopCancelsWhatIsUnderWayAndWaitsForIt() async throws {
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let slow = HTTPRoute("GET", "/slow", bodyLimit: 0) { _ in
            beginning.yield()
            try? await Task.sleep(for: .seconds(600))
            return HTTPAnswer(200, body: Array("stopped".utf8))
        }
        let (paths, listening) = AsyncStream.makeStream(of: String.self)
        let server = Task {
            try await ServerBench(routes: [slow]).run { path in
                listening.yield(path)
                try? await Task.sleep(for: .seconds(600))
            }
        }
        let path = try #require(await paths.first { _ in true })
        try await RawClient.run(at: path) { client in
            try await client.send("GET /slow HTTP/1.1\r\n\r\n")
            _ = await begun.first { true }
            server.cancel()
            #expect(await client.answer() == Answer(status: 200, body: "stopped"))
            #expect(await client.answer() == nil)
        }
        try await server.value
    }

    /// A client that takes none of its answers gets no more of them.
    @Test func whoDoesNotReadIsNotWorkedFor() async throws {
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let calls = Atomic(0)
        let large = HTTPRoute("GET", "/large", bodyLimit: 0) { _ in
            calls.add(1, ordering: .relaxed)
            beginning.yield()
            return HTTPAnswer(200, body: Array(repeating: 0x61, count: 4 << 20))
        }
        try await ServerBench(routes: HTTPServerTests.routes + [large]).run { path in
            try await RawClient.run(at: path) { idle in
                try await idle.send(String(repeating: "GET /large HTTP/1.1\r\n\r\n", count: 1000))
                _ = await begun.first { true }
                // What the server would do for the other meanwhile, it has the time for.
                try await RawClient.run(at: path) { client in
                    for _ in 0..<100 {
                        try await client.send(Self.order)
                        #expect(await client.answer() == Self.orderAnswer)
                    }
                }
                #expect(calls.load(ordering: .relaxed) == 1)
            }
        }
    }
}

/// A route that answers once it is told to.
private struct SlowRoute {
    /// Tells of each request that it has begun to answer.
    let begun: AsyncStream<Void>
    /// Ended, it lets all of them go.
    let ending: AsyncStream<Void>.Continuation
    let route: HTTPRoute

    init() {
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let (ends, ending) = AsyncStream.makeStream(of: Void.self)
        self.begun = begun
        self.ending = ending
        route = HTTPRoute("GET", "/slow", bodyLimit: 0) { _ in
            beginning.yield()
            for await _ in ends {}
            return HTTPAnswer(200)
        }
    }
}
