import ArgumentParser
import FoundationEssentials
import HTTPService
import Logging
import NIOCore
import ServiceLifecycle
import Synchronization
import SystemPackage
import UnixSignals

/// `ingestd receive`: a receiver for trying out a gateway, that prints what it gets.
struct Receive: AsynchronousCommand {
    static let configuration = CommandConfiguration(
        commandName: "receive",
        abstract: "Receive records by webhook and print them.",
        discussion: """
            Answers every POST with the same status, and prints each record and status document that it gets. While it \
            runs, POST /control/answer with a body such as 503 changes the answer, and POST \
            /control/refuse with a text refuses what contains it (an empty body: nothing). Meant \
            for trials: no one is authenticated but by --signing-key, and it listens on loopback unless told \
            otherwise. For example:

              ingestd receive
              ingestd receive --json --answer 503
            """)

    /// For trials, in which a gateway may well keep a connection that it does not use for long.
    private static let bounds = HTTPServer.Bounds(connections: 256, bodies: 1 << 30, patience: .seconds(600))

    @Option(help: "The IPv4 address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on.")
    var port: UInt16 = 8099

    @Option(help: "The HTTP status to answer, 200 to 599.")
    var answer = 200

    @Option(help: "Answer 400 to requests that contain this text. May be repeated.")
    var refuse: [String] = []

    @Option(
        help: "A file with signing keys. What is not signed with one of them is answered with 401.",
        completion: .file())
    var signingKey: String?

    @Flag(help: "Print one JSON object a record or status document, with its bytes as they came.")
    var json = false

    func validate() throws {
        guard 200..<600 ~= answer else { throw ValidationError("--answer: expected 200 to 599") }
        guard case .v4 = try? SocketAddress(ipAddress: host, port: Int(port)) else {
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
        let service = ServerService(
            server: HTTPServer(receiver.routes, bounds: Self.bounds), address: .ip4(host, port: Int(port)))
        var configuration = ServiceGroupConfiguration(
            services: [.init(service: service)],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "receive", factory: { _ in SwiftLogNoOpLogHandler() }))
        configuration.maximumGracefulShutdownDuration = .seconds(5)
        do {
            try await ServiceGroup(configuration: configuration).run()
        } catch {
            let reason = (error as? IOError).map { Errno(rawValue: $0.errnoCode).description } ?? "\(error)"
            throw CommandFailure(.unavailable, "receive: cannot listen on \(host):\(port): \(reason)")
        }
    }
}

/// Runs the server until the process is told to stop.
private struct ServerService: Service {
    let server: HTTPServer
    let address: HTTPServer.Address

    func run() async throws {
        try await cancelWhenGracefulShutdown { try await server.run(at: address) }
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

    var routes: [HTTPRoute] {
        [
            HTTPRoute("POST", "/control/answer", bodyLimit: Self.controlLimit) { self.changeAnswer($0) },
            HTTPRoute("POST", "/control/refuse", bodyLimit: Self.controlLimit) { self.changeRefused($0) },
            HTTPRoute("POST", "*", bodyLimit: Self.bodyLimit) { self.receive($0) },
        ]
    }

    private func changeAnswer(_ request: HTTPRequest) -> HTTPAnswer {
        guard let text = request.body.map(Self.text), let status = Int(text), 200..<600 ~= status else {
            return HTTPAnswer(400)
        }
        state.withLock { $0.answer = status }
        return HTTPAnswer(204)
    }

    private func changeRefused(_ request: HTTPRequest) -> HTTPAnswer {
        guard let text = request.body.map(Self.text) else { return HTTPAnswer(400) }
        state.withLock { $0.refused = text.isEmpty ? [] : [text] }
        return HTTPAnswer(204)
    }

    private func receive(_ request: HTTPRequest) -> HTTPAnswer {
        guard let packed = request.body else { return HTTPAnswer(413) }
        let bytes: [UInt8]
        switch request.header("Content-Encoding")?.lowercased() {
        case nil, "identity": bytes = packed
        case "gzip":
            guard let unpacked = try? Gzip.decompress(packed, limit: Self.bodyLimit) else {
                return HTTPAnswer(400)
            }
            bytes = unpacked
        default: return HTTPAnswer(415)
        }
        guard isSigned(request, bytes) else {
            StandardError.print("ingestd receive: answered 401 to a request that is not signed with the key")
            return HTTPAnswer(401)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let current = state.withLock { $0 }
        let isLines = request.header("Content-Type")?.lowercased() == "application/x-ndjson"
        guard let batch = isLines ? try? ReceivedBatch(lines: bytes) : try? ReceivedBatch(bytes) else {
            guard let document = try? ReceivedStatus(bytes) else {
                StandardError.print("ingestd receive: answered 400 to a body that is no batch of records")
                return HTTPAnswer(400)
            }
            let line = line(status: current.answer, document: document)
            state.withLock { _ in try? StandardOutput.write(line) }
            return HTTPAnswer(current.answer)
        }
        let isRefused = current.refused.contains { text.contains($0) }
        let status = isRefused ? 400 : current.answer
        let key = request.header("Idempotency-Key")
        let lines = batch.records.map { line(status: status, key: key, gateway: batch.gateway, record: $0) }
        // One write for all: what another connection prints comes before or after it. Standard
        // output that is closed cannot be told of; the answer is given all the same.
        state.withLock { _ in
            try? StandardOutput.write(lines.joined())
        }
        return HTTPAnswer(status)
    }

    /// Whether the request has a signature by one of the keys, if there are any.
    private func isSigned(_ request: HTTPRequest, _ body: [UInt8]) -> Bool {
        guard let signingKeys else { return true }
        guard let id = request.header("webhook-id"),
            let timestamp = request.header("webhook-timestamp"),
            let signatures = request.header("webhook-signature")
        else { return false }
        return signingKeys.verify(
            id: id, timestamp: timestamp, signatures: signatures, body: body,
            nowSeconds: Int64(Date().timeIntervalSince1970))
    }

    private func line(status: Int, key: String?, gateway: String?, record: String) -> String {
        guard printsJSON else {
            return "\(status)  \(TerminalText.line(ReceivedBatch.summary(of: record)))\n"
        }
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

    private func line(status: Int, document: ReceivedStatus) -> String {
        guard printsJSON else { return "\(status)  \(TerminalText.line(document.summary))\n" }
        var text = JSONText()
        text.beginObject()
        text.member("status", status)
        text.key("document")
        text.value(json: Array(document.json.utf8))
        text.endObject()
        return text.string + "\n"
    }

    private static func text(_ bytes: [UInt8]) -> String {
        var text = Substring(decoding: bytes, as: UTF8.self)
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
