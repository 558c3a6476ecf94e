import FoundationEssentials
import HTTPService
import Logging
import NIOCore
import ServiceLifecycle
import Synchronization
import SystemPackage

/// The control socket: HTTP/1.1 and JSON, for root and the group of the service. Without it the gateway
/// goes on: reading is more than being asked. It is made again when it was lost.
struct ControlServer: Service {
    /// The most that is taken of one body, in bytes.
    static let bodyLimit = 1 << 16
    /// Read and write for the owner and the group.
    private static let mode = 0o660
    /// Far more connections than operators and collectors of metrics have, and far less than there are descriptors;
    /// longer than our own client keeps one that it does not use (async-http-client: 60 s), and than a poll for steps
    /// takes, 10 s. And bodies for which the unit's memory is enough.
    private static let bounds = HTTPServer.Bounds(
        connections: 32, bodies: entriesLimit + (4 << 20), patience: .seconds(90))
    /// Until it is made again; doubled each time, up to the longest.
    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(60)

    let path: String
    let orders: OperatorOrders
    let sessions: Sessions
    let queue: QueueOperations
    let entries: EntryDesk
    let readings: ReadingDesk
    let reloader: Reloader
    let status: StatusReport
    let log: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown { await keepServing() }
        try? await gracefulShutdown()
    }

    private func keepServing() async {
        var pause = Self.firstPause
        while true {
            let began = status.clock.now
            do {
                try await serve()
            } catch {
                guard !Task.isCancelled else { return }
                let words = Self.message(for: error)
                if status.control.note(words) {
                    StandardError.print(
                        "control socket \(path): \(words); commands do not work until it is there, which is "
                            + "tried again and again")
                }
            }
            if status.clock.now.since(began) > Self.longestPause { pause = Self.firstPause }
            guard (try? await status.clock.sleep(for: pause)) != nil else { return }
            pause = min(pause * 2, Self.longestPause)
        }
    }

    private func serve() async throws {
        guard path.utf8.count <= ControlSocket.longestPath else { throw Obstacle.pathTooLong }
        guard ControlSocket.clear(path) else { throw Obstacle.answered }
        let routes = orderRoutes + sessionRoutes + statusRoutes + queueRoutes + entryRoutes
        let server = HTTPServer(routes, bounds: Self.bounds) { [log] in log.debug("\($0)") }
        let isOurs = Mutex(false)
        defer { if isOurs.withLock({ $0 }) { ControlSocket.remove(path) } }
        try await server.run(at: .path(path)) { _ in
            isOurs.withLock { $0 = true }
            // The service's umask has made it the owner's alone.
            try FileManager.default.setAttributes([.posixPermissions: Self.mode], ofItemAtPath: path)
            status.control.note(nil)
        }
    }

    private enum Obstacle: Error {
        case pathTooLong
        case answered
    }

    private static func message(for error: any Error) -> String {
        switch error {
        case Obstacle.pathTooLong: "longer than \(ControlSocket.longestPath) bytes"
        case Obstacle.answered: "another process listens there"
        case let error as IOError: Errno(rawValue: error.errnoCode).description
        default: "cannot be made"
        }
    }

    // MARK: Routes

    private var sessionRoutes: [HTTPRoute] {
        let sessions = sessions
        return [
            Self.route("GET", "/v1/sessions/:id") { try await sessions.status(of: Self.id(of: $0)) },
            Self.route("POST", "/v1/sessions/:id/sign-in") { request in
                let message: ControlMessage.SignIn = try Self.message(of: request)
                return try await sessions.signIn(
                    at: Self.id(of: request), changesUser: message.changesUser, token: message.token)
            },
            Self.route("POST", "/v1/sessions/:id/sign-out") {
                try await sessions.signOut(of: Self.id(of: $0))
            },
        ]
    }

    private var statusRoutes: [HTTPRoute] {
        let status = status
        let reloader = reloader
        return [
            Self.route("GET", "/v1/status") { _ in await status.now() },
            Self.route("POST", "/v1/reload") { _ in
                if let failure = await reloader.reload() {
                    throw ControlMessage.Refusal(error: failure.message, reason: .rejected)
                }
                return ControlMessage.Done()
            },
            HTTPRoute("GET", "/metrics", bodyLimit: Self.bodyLimit) { _ in
                HTTPAnswer(
                    200, headers: ["Content-Type": "text/plain; version=0.0.4; charset=utf-8"],
                    body: Array(Metrics(await status.now()).description.utf8))
            },
        ]
    }

    private var queueRoutes: [HTTPRoute] {
        let queue = queue
        let readings = readings
        return [
            Self.route("POST", "/v1/readings") { request in
                try await readings.readings(try Self.message(of: request), user: request.user)
            },
            Self.route("POST", "/v1/failed/retry") { try await queue.retry(try Self.message(of: $0)) },
            Self.route("POST", "/v1/failed/drop") { try await queue.drop(try Self.message(of: $0)) },
            Self.route("POST", "/v1/records/resend") { try await queue.resend(try Self.message(of: $0)) },
        ]
    }

    /// A request that is answered with JSON, or refused.
    /// - Parameter bodyLimit: the most that is taken of its body, in bytes.
    static func route<Message: Encodable & Sendable>(
        _ method: String, _ path: String, bodyLimit: Int = bodyLimit,
        _ answer: @escaping @Sendable (HTTPRequest) async throws -> Message
    ) -> HTTPRoute {
        HTTPRoute(method, path, bodyLimit: bodyLimit) { request in
            await reply { try await answer(request) }
        }
    }

    static func id(of request: HTTPRequest) -> String {
        request.parameters["id"] ?? ""
    }

    /// The number of the last step that the client knows.
    static func after(of request: HTTPRequest) -> Int {
        max(0, request.query("after").flatMap { Int($0) } ?? 0)
    }

    static func message<Message: Decodable>(of request: HTTPRequest) throws -> Message {
        guard let body = request.body, hasFewValues(body),
            let message = try? JSONDecoder().decode(Message.self, from: Data(body))
        else { throw ControlMessage.Refusal.malformed }
        return message
    }

    /// A batch of an import has some 50,000.
    private static let mostValues = 200_000

    /// Whether the body has few enough values to decode. The decoder uses about 50 bytes of memory for each value before
    /// it can refuse one. It also takes UTF-16 and UTF-32, in which this counts nothing right: every JSON text in these has
    /// a byte of zero, and none in UTF-8 has.
    private static func hasFewValues(_ body: [UInt8]) -> Bool {
        var values = 0
        var isText = false
        var isEscaped = false
        for byte in body {
            switch byte {
            case 0: return false
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\") where isText: isEscaped = true
            case UInt8(ascii: "\""): isText.toggle()
            case UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "{"):
                if !isText { values += 1 }
            default: break
            }
        }
        return values <= mostValues
    }

    private static func reply(_ body: () async throws -> some Encodable) async -> HTTPAnswer {
        do {
            return response(200, try await body())
        } catch let refusal as OrderRefusal {
            return response(
                refusal.status, ControlMessage.Refusal(error: refusal.message, reason: refusal.reason))
        } catch let failure as UnpairFailure {
            return response(
                failure.status, ControlMessage.Refusal(error: failure.message, reason: failure.reason))
        } catch let refusal as ControlMessage.Refusal {
            return response(400, refusal)
        } catch let refusal as DeadLetterRefusal {
            return response(422, refusal.message)
        } catch let error as StoreError {
            return response(503, ControlMessage.Refusal(error: error.description, reason: .storeError))
        } catch {
            return response(400, ControlMessage.Refusal.malformed)
        }
    }

    private static func response(_ status: Int, _ body: some Encodable) -> HTTPAnswer {
        // What is encoded here are strings and numbers.
        let data = (try? JSONEncoder().encode(body)) ?? Data("{}".utf8)
        return HTTPAnswer(status, headers: ["Content-Type": "application/json"], body: Array(data))
    }
}

extension UnpairFailure {
    fileprivate var status: Int {
        switch self {
        case .noKeeper: 503
        case .busy: 409
        case .notBonded: 404
        case .whichDevice: 422
        case .error: 502
        }
    }
}
