import ArgumentParser
import FlyingFox
import FlyingSocks
import FoundationEssentials
import Glibc
import IngestKit
import Logging
import ServiceLifecycle
import Synchronization
import UnixSignals

/// `ingestd receive`: a receiver for trying out a gateway, that prints what it gets.
struct Receive: AsynchronousCommand {
    static let configuration = CommandConfiguration(
        abstract: "Receive records by webhook and print them.",
        discussion: """
            Answers every POST with the same status, and prints each record that it gets. While it \
            runs, POST /control/answer with a body such as 503 changes the answer, and POST \
            /control/refuse with a text refuses what contains it (an empty body: nothing). Meant \
            for trials: no one is authenticated but by --signing-key, and it listens on loopback unless told \
            otherwise.
            """)

    @Option(help: "The IPv4 address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on.")
    var port: UInt16 = 8099

    @Option(help: "The HTTP status to answer, 200 to 599.")
    var answer = 200

    @Option(help: "Answer 400 to requests that contain this text. May be repeated.")
    var refuse: [String] = []

    @Option(help: "A file with signing keys. What is not signed with one of them is answered with 401.")
    var signingKey: String?

    @Flag(help: "Print one JSON object a record, with the record's bytes as they came.")
    var json = false

    func validate() throws {
        guard 200..<600 ~= answer else { throw ValidationError("--answer: expected 200 to 599") }
        guard (try? sockaddr_in.inet(ip4: host, port: port)) != nil else {
            throw ValidationError("--host: expected an IPv4 address such as 127.0.0.1")
        }
    }

    private func signingKeys() throws(CommandFailure) -> SigningKeys? {
        guard let signingKey else { return nil }
        do {
            return try Credentials(environment: [:]).signingKeys(.path(signingKey))
        } catch {
            throw CommandFailure(.badData, "receive: --signing-key: \(error)")
        }
    }

    func serve() async throws {
        let receiver = Receiver(
            answer: answer, refused: refuse, signingKeys: try signingKeys(), printsJSON: json)
        let server = HTTPServer(
            address: try sockaddr_in.inet(ip4: host, port: port), logger: .disabled)
        await server.appendRoute("POST /control/answer") { await receiver.changeAnswer($0) }
        await server.appendRoute("POST /control/refuse") { await receiver.changeRefused($0) }
        await server.appendRoute("POST *") { await receiver.receive($0) }
        var configuration = ServiceGroupConfiguration(
            services: [.init(service: ServerService(server: server))],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "receive", factory: { _ in SwiftLogNoOpLogHandler() }))
        configuration.maximumGracefulShutdownDuration = .seconds(5)
        do {
            try await ServiceGroup(configuration: configuration).run()
        } catch {
            let reason = if case SocketError.failed(_, _, let message) = error { message } else { "\(error)" }
            throw CommandFailure(.unavailable, "receive: cannot listen on \(host):\(port): \(reason)")
        }
    }
}

/// Runs the server until the process is told to stop.
private struct ServerService: Service {
    let server: HTTPServer

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { try await server.run() }
        } catch {
            // A server that is stopped ends with an error of its sockets.
            if !Task.isCancelled, !Task.isShuttingDownGracefully { throw error }
        }
    }
}

/// What the receiver answers and prints. Connections come concurrently; lines do not mix.
private final class Receiver: Sendable {
    private struct State {
        var answer: Int
        var refused: [String]
    }

    /// The most that is taken of one request, packed or not, in bytes.
    private static let bodyLimit = 16 << 20
    /// The most that is taken of a control request, in bytes.
    private static let controlLimit = 4096

    private let state: Mutex<State>
    private let signingKeys: SigningKeys?
    private let printsJSON: Bool

    init(answer: Int, refused: [String], signingKeys: SigningKeys?, printsJSON: Bool) {
        self.signingKeys = signingKeys
        self.state = Mutex(State(answer: answer, refused: refused.filter { !$0.isEmpty }))
        self.printsJSON = printsJSON
    }

    func changeAnswer(_ request: HTTPRequest) async -> HTTPResponse {
        guard let text = await body(of: request, limit: Self.controlLimit).map(Self.text),
            let status = Int(text), 200..<600 ~= status
        else { return Self.response(400) }
        state.withLock { $0.answer = status }
        return Self.response(204)
    }

    func changeRefused(_ request: HTTPRequest) async -> HTTPResponse {
        guard let text = await body(of: request, limit: Self.controlLimit).map(Self.text) else {
            return Self.response(400)
        }
        state.withLock { $0.refused = text.isEmpty ? [] : [text] }
        return Self.response(204)
    }

    func receive(_ request: HTTPRequest) async -> HTTPResponse {
        guard let packed = await body(of: request, limit: Self.bodyLimit) else { return Self.response(413) }
        let bytes: [UInt8]
        switch request.headers[HTTPHeader("Content-Encoding")]?.lowercased() {
        case nil, "identity": bytes = packed
        case "gzip":
            guard let unpacked = try? Gzip.decompress(packed, limit: Self.bodyLimit) else {
                return Self.response(400)
            }
            bytes = unpacked
        default: return Self.response(415)
        }
        guard isSigned(request, bytes) else {
            StandardError.print("ingestd receive: answered 401 to a request that is not signed with the key")
            return Self.response(401)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let current = state.withLock { $0 }
        let isLines = request.headers[HTTPHeader("Content-Type")]?.lowercased() == "application/x-ndjson"
        guard let batch = isLines ? try? ReceivedBatch(lines: bytes) : try? ReceivedBatch(bytes) else {
            StandardError.print("ingestd receive: answered 400 to a body that is no batch of records")
            return Self.response(400)
        }
        let isRefused = current.refused.contains { text.contains($0) }
        let status = isRefused ? 400 : current.answer
        let key = request.headers[HTTPHeader("Idempotency-Key")]
        let lines = batch.records.map { line(status: status, key: key, gateway: batch.gateway, record: $0) }
        // One write for all: what another connection prints comes before or after it. Standard
        // output that is closed cannot be told of; the answer is given all the same.
        state.withLock { _ in
            try? StandardOutput.write(lines.joined())
        }
        return Self.response(status)
    }

    /// Whether the request has a signature by one of the keys, if there are any.
    private func isSigned(_ request: HTTPRequest, _ body: [UInt8]) -> Bool {
        guard let signingKeys else { return true }
        guard let id = request.headers[HTTPHeader("webhook-id")],
            let timestamp = request.headers[HTTPHeader("webhook-timestamp")],
            let signatures = request.headers[HTTPHeader("webhook-signature")]
        else { return false }
        return signingKeys.verify(
            id: id, timestamp: timestamp, signatures: signatures, body: body,
            nowSeconds: Int64(Date().timeIntervalSince1970))
    }

    private func line(status: Int, key: String?, gateway: String?, record: String) -> String {
        guard printsJSON else { return "\(status)  \(ReceivedBatch.summary(of: record))\n" }
        var text = JSONText()
        text.beginObject()
        text.member("status", status)
        if let key { text.member("idempotency_key", key) }
        if let gateway {
            text.key("gateway")
            text.value(json: Array(gateway.utf8))
        }
        text.key("record")
        text.value(json: Array(record.utf8))
        text.endObject()
        return text.string + "\n"
    }

    /// The body of a request; nil when it is longer than the limit or does not come whole.
    private func body(of request: HTTPRequest, limit: Int) async -> [UInt8]? {
        if let count = request.bodySequence.count, count > limit { return nil }
        var bytes: [UInt8] = []
        do {
            for try await part in request.bodySequence {
                guard bytes.count + part.count <= limit else { return nil }
                bytes += part
            }
        } catch {
            return nil
        }
        return bytes
    }

    private static func text(_ bytes: [UInt8]) -> String {
        var text = Substring(decoding: bytes, as: UTF8.self)
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }

    private static func response(_ status: Int) -> HTTPResponse {
        HTTPResponse(statusCode: HTTPStatusCode(status, phrase: "Answer"))
    }
}
