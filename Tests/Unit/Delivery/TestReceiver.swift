import FoundationEssentials
import HTTPService
import Synchronization
import Testing

/// A real HTTP server on loopback that keeps what it gets and answers as it is told.
final class TestReceiver: Sendable {
    struct Received: Sendable {
        /// Method and path.
        let target: String
        let headers: [String: String]
        let body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
        var key: String? { headers["idempotency-key"] }
        /// The ids of the records in the body.
        var ids: [String] {
            get throws { try idsOfRecords(in: body) }
        }
    }

    struct Answer: Sendable {
        var status: Int
        var headers: [String: String] = [:]
        var body = ""
        /// Never answers.
        var hangs = false
    }

    private let requests = Mutex<[Received]>([])
    private let answer: Mutex<@Sendable (Received) -> Answer>

    init(_ answer: @escaping @Sendable (Received) -> Answer) {
        self.answer = Mutex(answer)
    }

    var received: [Received] { requests.withLock { $0 } }

    func change(_ answer: @escaping @Sendable (Received) -> Answer) {
        self.answer.withLock { $0 = answer }
    }

    /// Runs `body` with the server's URL while the server runs.
    func run(_ body: (String) async throws -> Void) async throws {
        let server = HTTPServer(
            [HTTPRoute(nil, "*", bodyLimit: 64 << 20) { await self.handle($0) }],
            bounds: HTTPServer.Bounds(connections: 256, bodies: 1 << 30, patience: .seconds(600)))
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup { group in
            group.addTask {
                defer { continuation.finish() }
                try await server.run(at: .ip4("127.0.0.1", port: 0)) { continuation.yield($0) }
            }
            guard let port = await ports.first(where: { _ in true }) else {
                return try await group.waitForAll()
            }
            try await body("http://127.0.0.1:\(port)/readings")
            group.cancelAll()
        }
    }

    private func handle(_ request: HTTPRequest) async -> HTTPAnswer {
        var headers: [String: String] = [:]
        for name in [
            "Idempotency-Key", "Content-Type", "Content-Encoding", "Authorization", "webhook-id",
            "webhook-timestamp", "webhook-signature", "Accept", "Prefer", "x-vital-api-key",
            "X-Spike-Signature",
        ] {
            if let value = request.header(name) { headers[name.lowercased()] = value }
        }
        let received = Received(
            target: "\(request.method) \(request.path)", headers: headers, body: request.body ?? [])
        requests.withLock { $0.append(received) }
        let answer = self.answer.withLock { $0 }(received)
        if answer.hangs { try? await Task.sleep(for: .seconds(600)) }
        return HTTPAnswer(answer.status, headers: answer.headers, body: Array(answer.body.utf8))
    }
}

func idsOfRecords(in body: [UInt8]) throws -> [String] {
    struct Body: Decodable {
        struct Entry: Decodable { let id: String }
        let records: [Entry]
    }
    return try JSONDecoder().decode(Body.self, from: Data(body)).records.map(\.id)
}
