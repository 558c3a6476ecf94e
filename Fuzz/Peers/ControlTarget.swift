import FoundationEssentials
import FuzzChecks
import NIOCore
import NIOEmbedded
import NIOHTTP1

@testable import HTTPService
@testable import IngestBluetooth
@testable import IngestConfiguration
@testable import IngestCore
@testable import IngestDaemon
@testable import IngestDelivery
@testable import IngestEntries
@testable import IngestEvents
@testable import IngestOperator
@testable import IngestPeripherals
@testable import IngestProfiles
@testable import IngestQueue
@testable import IngestReading
@testable import IngestRecords
@testable import IngestStorage
@testable import IngestSupervision

/// The control socket: any bytes of a client, and any message of one.
enum ControlTarget {
    // MARK: Messages

    /// Which message, then its JSON.
    static func checkMessage(_ bytes: [UInt8]) {
        var draw = Draw(bytes)
        take(draw.byte(), Data(draw.rest()))
    }

    /// - Returns: whether it is one that is taken.
    @discardableResult
    private static func take(_ kind: UInt8, _ body: Data) -> Bool {
        func read<Message: Decodable>(_ type: Message.Type = Message.self) -> Message? {
            try? JSONDecoder().decode(type, from: body)
        }
        switch kind % 10 {
        case 0: return (try? read(ControlMessage.Target.self)?.parsed()) != nil
        case 1:
            guard let message = read(ControlMessage.Answer.self), let answer = try? message.parsed() else {
                return false
            }
            if case .passkey(let passkey?) = answer { require(passkey <= 999_999, "no passkey") }
            return true
        case 2:
            guard let message = read(ControlMessage.Scan.self), let order = try? message.parsed() else {
                return false
            }
            if case .scan(let time) = order { require(time >= .seconds(1) && time <= .seconds(120)) }
            return true
        case 3:
            guard let message = read(ControlMessage.Read.self), let order = try? message.parsed() else {
                return false
            }
            if case .read(let order) = order { require(order.timeout <= .seconds(600)) }
            return true
        case 4: return read(ControlMessage.Retry.self) != nil
        case 5: return read(DeadLetterSelection.self) != nil
        case 6: return read(ControlMessage.Resend.self) != nil
        case 7: return read(ControlMessage.SignIn.self) != nil
        default:
            guard let entries = read(ControlMessage.Entries.self) else { return false }
            // What the queue asks of each before it takes it.
            for entry in entries.entries {
                guard let record = EnteredRecord(entry, gateway: "box", received: 1_795_166_100) else {
                    continue
                }
                require(entry.isSound && JSONCheck.isObject(record.body), "a record that is none")
            }
            return true
        }
    }

    // MARK: HTTP

    /// Runs all of a task on the caller's thread, when told to.
    private final class Turns: TaskExecutor, @unchecked Sendable {
        private var jobs: [UnownedJob] = []

        func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job)) }

        func run() {
            while !jobs.isEmpty { jobs.removeFirst().runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }

    private static let bounds = HTTPServer.Bounds(
        head: 256, connections: 2, bodies: 96, patience: .seconds(90))
    private static let routes: [HTTPRoute] = [
        route("POST", "/v1/pairings", 0), route("POST", "/v1/orders/:id/answer", 1),
        route("POST", "/v1/scans", 2),
        route("POST", "/v1/reads", 3), route("POST", "/v1/failed/retry", 4), route("POST", "/v1/entries", 9),
        HTTPRoute("GET", "/v1/orders/:id", bodyLimit: 64) { request in
            HTTPAnswer(
                200, body: Array("\(request.parameters["id"] ?? "")\(request.query("after") ?? "")".utf8))
        },
        HTTPRoute("DELETE", "/v1/orders/:id", bodyLimit: 64) { _ in HTTPAnswer(200) },
    ]

    private static func route(_ method: String, _ path: String, _ kind: UInt8) -> HTTPRoute {
        HTTPRoute(method, path, bodyLimit: 64) { request in
            guard let body = request.body else { return HTTPAnswer(413) }
            require(body.count <= 64, "a body over its bound")
            return HTTPAnswer(take(kind, Data(body)) ? 200 : 400)
        }
    }

    /// The length of the pieces, then what the client sends.
    static func check(_ bytes: [UInt8]) {
        var draw = Draw(bytes)
        let piece = max(1, Int(draw.byte()))
        let sent = draw.rest()
        let server = HTTPServer(routes, bounds: bounds)
        let table = ConnectionTable(bounds)
        let (jobs, continuation) = AsyncStream.makeStream(of: HTTPServer.Job.self)
        let turns = Turns()
        Task(executorPreference: turns) { for await job in jobs { await job() } }
        let channel = EmbeddedChannel()
        var answered: [UInt8] = []
        func turn() {
            turns.run()
            channel.embeddedEventLoop.run()
            while let part = try? channel.readOutbound(as: ByteBuffer.self) {
                answered += Array(part.readableBytesView)
            }
        }
        do {
            try configure(channel, Connection(server, table: table, jobs: continuation))
            try channel.connect(to: SocketAddress(unixDomainSocketPath: "/s")).wait()
            for start in stride(from: 0, to: sent.count, by: piece) where channel.isActive {
                try channel.writeInbound(ByteBuffer(bytes: sent[start..<min(start + piece, sent.count)]))
                turn()
            }
        } catch {}
        turn()
        if channel.isActive {
            if piece & 1 == 0 {
                channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
            } else {
                channel.embeddedEventLoop.advanceTime(by: .seconds(91))
            }
            turn()
        }
        _ = try? channel.finish(acceptAlreadyClosed: true)
        continuation.finish()
        turn()
        require(!channel.isActive, "a connection that does not end")
        require(table.hold(bounds.bodies), "bodies that are held for nobody")
        require(
            answered.isEmpty || answered.starts(with: Array("HTTP/1.1 ".utf8)), "no answer of HTTP")
        // A request has 16 bytes at least, an answer of ours some headers.
        require(answered.count <= 200 + sent.count * 12, "more answers than requests")
    }

    /// As the server does.
    private static func configure(_ channel: EmbeddedChannel, _ connection: Connection) throws {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = bounds.head
        limits.maxHeaderListSize = bounds.head
        limits.maxHeaderFieldCount = bounds.headers
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withErrorHandling: false, withEncoderConfiguration: .init(), withDecoderLimitConfiguration: limits
        )
        try channel.pipeline.syncOperations.addHandler(connection)
    }
}
