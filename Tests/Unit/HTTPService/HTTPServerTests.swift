import Testing

@testable import HTTPService

@Suite(.timeLimit(.minutes(15))) struct HTTPServerTests {
    typealias Answer = RawClient.Answer

    static let limit = 64
    /// Says what came of the request.
    static let routes = [
        HTTPRoute("POST", "/small", bodyLimit: limit) { request in
            HTTPAnswer(200, body: Array("\(request.body?.count ?? -1)".utf8))
        },
        HTTPRoute("POST", "/large", bodyLimit: 2 * limit) { request in
            HTTPAnswer(200, body: Array("\(request.body?.count ?? -1)".utf8))
        },
        HTTPRoute("GET", "/orders/:id", bodyLimit: limit) { request in
            HTTPAnswer(
                200,
                body: Array(
                    "\(request.parameters["id"] ?? "-") \(request.query("after") ?? "-")".utf8))
        },
        HTTPRoute("GET", "/empty", bodyLimit: 0) { _ in HTTPAnswer(204) },
    ]

    static let order = "GET /orders/9f3c?wait=1&after=2 HTTP/1.1\r\nHost: box\r\n\r\n"
    static let orderAnswer = Answer(status: 200, body: "9f3c 2")

    @Test func aConnectionIsKeptForTheNextRequest() async throws {
        try await ServerBench().run { path in
            try await RawClient.run(at: path) { client in
                try await client.send(Self.order)
                #expect(await client.answer() == Self.orderAnswer)
                try await client.send("GET /empty HTTP/1.1\r\nHost: box\r\n\r\n")
                #expect(await client.answer() == Answer(status: 204, body: ""))
                // At once, one after the other.
                try await client.send(Self.order + "DELETE /orders/1 HTTP/1.1\r\n\r\n" + Self.order)
                #expect(await client.answer() == Self.orderAnswer)
                #expect(await client.answer() == Answer(status: 404, body: ""))
                #expect(await client.answer() == Self.orderAnswer)
            }
        }
    }

    @Test(arguments: [
        "GET /orders/1 HTTP/1.0\r\n\r\n", "GET /orders/1 HTTP/1.1\r\nConnection: close\r\n\r\n",
    ])
    func aConnectionThatIsNotToBeKeptEnds(_ request: String) async throws {
        try await ServerBench().run { path in
            try await RawClient.run(at: path) { client in
                try await client.send(request)
                #expect(await client.answer() == Answer(status: 200, body: "1 -"))
                #expect(await client.answer() == nil)
            }
        }
    }

    /// As `printf … | nc -U` does.
    @Test func whoSendsNothingMoreIsAnswered() async throws {
        try await ServerBench().run { path in
            try await RawClient.run(at: path) { client in
                try await client.send(Self.order)
                await client.closeOutput()
                #expect(await client.answer() == Self.orderAnswer)
                #expect(await client.answer() == nil)
            }
        }
    }

    /// Heads that have no end, so that only a bound can bring an answer.
    enum LongHead: CaseIterable {
        case path, value, name, lines, manyLines

        var text: String {
            switch self {
            case .path: "GET /" + String(repeating: "a", count: 1 << 20)
            case .value: "GET /empty HTTP/1.1\r\nLong: " + String(repeating: "a", count: 1 << 20)
            case .name: "GET /empty HTTP/1.1\r\n" + String(repeating: "a", count: 1 << 20)
            case .lines: "GET /empty HTTP/1.1\r\n" + String(repeating: "Some: words\r\n", count: 80_000)
            case .manyLines: "GET /empty HTTP/1.1\r\n" + String(repeating: "a:\r\n", count: 101)
            }
        }
    }

    @Test(arguments: LongHead.allCases) func aHeadHasABound(_ head: LongHead) async throws {
        try await ServerBench().run { path in
            try await RawClient.run(at: path) { client in
                // Its end may come before all is sent.
                try? await client.send(head.text)
                #expect(await client.answer() == Answer(status: 431, body: ""))
                #expect(await client.answer() == nil)
            }
        }
    }

    @Test func longHeadsKeepNobodyFromBeingServed() async throws {
        let head = "GET /empty HTTP/1.1\r\n" + String(repeating: "a: b\r\n", count: 200_000)
        try await ServerBench().run { path in
            try await withThrowingDiscardingTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask {
                        try await RawClient.run(at: path) { client in
                            try? await client.send(head)
                            #expect(await client.answer() == Answer(status: 431, body: ""))
                        }
                    }
                }
                try await RawClient.run(at: path) { client in
                    for _ in 0..<100 {
                        try await client.send(Self.order)
                        #expect(await client.answer() == Self.orderAnswer)
                    }
                }
            }
        }
    }

    @Test(arguments: ["hello\r\n\r\n", "GET / HTTP/1.1\r\n: x\r\n\r\n", "GET /empty HTTP/7.3\r\n\r\n"])
    func whatIsNoRequestIsRefused(_ request: String) async throws {
        try await ServerBench().run { path in
            try await RawClient.run(at: path) { client in
                try await client.send(request)
                #expect(await client.answer() == Answer(status: 400, body: ""))
                #expect(await client.answer() == nil)
            }
        }
    }

    @Test(arguments: [
        ("/small", 0, 0), ("/small", limit, limit), ("/small", limit + 1, -1), ("/small", 1 << 20, -1),
        ("/large", limit + 1, limit + 1), ("/large", 2 * limit + 1, -1),
    ])
    func aBodyHasTheBoundOfItsRoute(_ path: String, _ length: Int, _ taken: Int) async throws {
        let body = String(repeating: "b", count: length)
        try await ServerBench().run { socket in
            try await RawClient.run(at: socket) { client in
                try await client.send("POST \(path) HTTP/1.1\r\nContent-Length: \(length)\r\n\r\n" + body)
                #expect(await client.answer() == Answer(status: 200, body: "\(taken)"))
                // In parts, without saying how many.
                let half = String(repeating: "b", count: length / 2)
                let rest = String(repeating: "b", count: length - length / 2)
                try await client.send("POST \(path) HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
                for part in [half, rest] where !part.isEmpty {
                    try await client.send(String(part.count, radix: 16) + "\r\n" + part + "\r\n")
                }
                try await client.send("0\r\n\r\n")
                #expect(await client.answer() == Answer(status: 200, body: "\(taken)"))
            }
        }
    }

    @Test func aBodyOfNoEndEndsTheConnection() async throws {
        try await ServerBench().run { path in
            try await RawClient.run(at: path) { client in
                try await client.send("POST /small HTTP/1.1\r\nContent-Length: 1000000000000\r\n\r\n")
                let part = String(repeating: "b", count: 1 << 20)
                await #expect(throws: (any Error).self) {
                    while true { try await client.send(part) }
                }
                #expect(await client.answer() == nil)
            }
        }
    }

    @Test func whoAsksBeforeSendingABodyIsToldToGoOn() async throws {
        try await ServerBench().run { path in
            try await RawClient.run(at: path) { client in
                try await client.send(
                    "POST /small HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
                #expect(await client.answer()?.status == 100)
                try await client.send("ab")
                #expect(await client.answer() == Answer(status: 200, body: "2"))
            }
        }
    }
}
