import FlyingFox
import FlyingSocks
import FoundationEssentials
import Glibc
import Synchronization
import Testing

@testable import IngestKit

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
            address: try sockaddr_in.inet(ip4: "127.0.0.1", port: 0), timeout: 60, logger: .disabled)
        await server.appendRoute("*") { (request: HTTPRequest) in try await self.handle(request) }
        let task = Task { try? await server.run() }
        defer { task.cancel() }
        try await server.waitUntilListening(timeout: 60)
        guard case .ip4(_, let port) = await server.listeningAddress else { throw TimedOut() }
        try await body("http://127.0.0.1:\(port)/readings")
    }

    private func handle(_ request: HTTPRequest) async throws -> HTTPResponse {
        let body = try await request.bodyData
        var headers: [String: String] = [:]
        for name in [
            "Idempotency-Key", "Content-Type", "Content-Encoding", "Authorization", "webhook-id",
            "webhook-timestamp", "webhook-signature", "Accept", "Prefer", "x-vital-api-key",
            "X-Spike-Signature",
        ] {
            if let value = request.headers[HTTPHeader(name)] { headers[name.lowercased()] = value }
        }
        let received = Received(
            target: "\(request.method.rawValue) \(request.path)", headers: headers, body: Array(body))
        requests.withLock { $0.append(received) }
        let answer = self.answer.withLock { $0 }(received)
        if answer.hangs { try await Task.sleep(for: .seconds(600)) }
        var response = HTTPResponse(
            statusCode: HTTPStatusCode(answer.status, phrase: "Answer"), body: Data(answer.body.utf8))
        for (name, value) in answer.headers { response.headers[HTTPHeader(name)] = value }
        return response
    }
}

func idsOfRecords(in body: [UInt8]) throws -> [String] {
    struct Body: Decodable {
        struct Entry: Decodable { let id: String }
        let records: [Entry]
    }
    return try JSONDecoder().decode(Body.self, from: Data(body)).records.map(\.id)
}
