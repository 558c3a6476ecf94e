import FlyingFox
import FlyingSocks
import FoundationEssentials
import Glibc
import IngestKit
import ServiceLifecycle

/// The control socket: HTTP/1.1 and JSON, for root and the group of the service. Without it the gateway
/// goes on: reading is more than being asked. It is made again when it was lost.
struct ControlServer: Service {
    /// A poll for the steps of a pairing takes 10 s.
    private static let requestTimeout = 20.0
    /// The most that is taken of one body, in bytes.
    static let bodyLimit = 1 << 16
    /// Read and write for the owner and the group.
    private static let mode = 0o660
    /// Longer than our own client keeps a connection that it does not use (async-http-client: 60 s).
    private static let longestWait = Duration.seconds(90)
    /// Far more than operators and collectors of metrics have, and far less than there are descriptors.
    private static let mostWaiting = 32
    /// Until it is made again; doubled each time, up to the longest.
    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(60)

    let path: String
    let pairings: Pairings
    let orders: OperatorOrders
    let sessions: Sessions
    let queue: QueueOperations
    let entries: EntryDesk
    let status: StatusReport
    let log: ControlLog

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
                let words = Self.words(for: error)
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
        let server = HTTPServer(
            address: sockaddr_un.unix(path: path), timeout: Self.requestTimeout,
            pool: BoundedSocketPool(
                HTTPServer.defaultPool(), longestWait: Self.longestWait, mostWaiting: Self.mostWaiting),
            logger: log)
        await addRoutes(to: server)
        await addOrderRoutes(to: server)
        await addSessionRoutes(to: server)
        await addStatusRoutes(to: server)
        await addQueueRoutes(to: server)
        await addEntryRoutes(to: server)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await withThrowingTaskGroup { group in
            group.addTask { try await server.run() }
            // The service's umask has made it the owner's alone.
            try await server.waitUntilListening()
            try FileManager.default.setAttributes([.posixPermissions: Self.mode], ofItemAtPath: path)
            status.control.note(nil)
            try await group.waitForAll()
        }
    }

    private enum Obstacle: Error {
        case pathTooLong
        case answered
    }

    private static func words(for error: any Error) -> String {
        switch error {
        case Obstacle.pathTooLong: "longer than \(ControlSocket.longestPath) bytes"
        case Obstacle.answered: "another process listens there"
        case SocketError.failed(_, _, let message): message
        default: "cannot be made"
        }
    }

    // MARK: Routes

    private func addRoutes(to server: HTTPServer) async {
        let pairings = pairings
        await server.appendRoute("POST /v1/pairings") { request in
            await Self.reply {
                let message: ControlMessage.Target = try await Self.message(of: request)
                return ControlMessage.Begun(id: try await pairings.begin(try message.parsed()))
            }
        }
        await server.appendRoute("GET /v1/pairings/:id") { request in
            let after = request.query.first { $0.name == "after" }.flatMap { Int($0.value) } ?? 0
            return await Self.reply {
                let steps = try await pairings.steps(of: Self.id(of: request), after: max(0, after))
                return ControlMessage.Steps(steps: steps)
            }
        }
        await server.appendRoute("POST /v1/pairings/:id/answer") { request in
            await Self.reply {
                let message: ControlMessage.Answer = try await Self.message(of: request)
                try await pairings.answer(
                    try message.parsed(), to: Self.id(of: request), step: message.step)
                return ControlMessage.Done()
            }
        }
        await server.appendRoute("DELETE /v1/pairings/:id") { request in
            await Self.reply {
                try await pairings.cancel(Self.id(of: request))
                return ControlMessage.Done()
            }
        }
        await server.appendRoute("POST /v1/unpair") { request in
            await Self.reply {
                let message: ControlMessage.Target = try await Self.message(of: request)
                return ControlMessage.Unpaired(addresses: try await pairings.unpair(try message.parsed()))
            }
        }
    }

    private func addSessionRoutes(to server: HTTPServer) async {
        let sessions = sessions
        await server.appendRoute("GET /v1/sessions/:id") { request in
            await Self.reply { try await sessions.status(of: Self.id(of: request)) }
        }
        await server.appendRoute("POST /v1/sessions/:id/sign-in") { request in
            await Self.reply {
                let message: ControlMessage.SignIn = try await Self.message(of: request)
                return try await sessions.signIn(
                    at: Self.id(of: request), changesUser: message.changesUser, token: message.token)
            }
        }
        await server.appendRoute("POST /v1/sessions/:id/sign-out") { request in
            await Self.reply { try await sessions.signOut(of: Self.id(of: request)) }
        }
    }

    private func addStatusRoutes(to server: HTTPServer) async {
        let status = status
        await server.appendRoute("GET /v1/status") { _ in await Self.reply { await status.now() } }
        await server.appendRoute("GET /metrics") { _ in
            HTTPResponse(
                statusCode: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: Data(Metrics(await status.now()).description.utf8))
        }
    }

    private func addQueueRoutes(to server: HTTPServer) async {
        let queue = queue
        await server.appendRoute("POST /v1/failed/retry") { request in
            await Self.reply { try await queue.retry(try await Self.message(of: request)) }
        }
        await server.appendRoute("POST /v1/failed/drop") { request in
            await Self.reply { try await queue.drop(try await Self.message(of: request)) }
        }
        await server.appendRoute("POST /v1/records/resend") { request in
            await Self.reply { try await queue.resend(try await Self.message(of: request)) }
        }
    }

    static func id(of request: HTTPRequest) -> String {
        request.routeParameters.first { $0.name == "id" }?.value ?? ""
    }

    /// The body of a request, read within its bound.
    static func message<Message: Decodable>(
        of request: HTTPRequest, limit: Int = bodyLimit
    ) async throws -> Message {
        let bound = ControlMessage.Refusal.malformed
        if let count = request.bodySequence.count, count > limit { throw bound }
        var bytes = Data()
        for try await part in request.bodySequence {
            guard bytes.count + part.count <= limit else { throw bound }
            bytes += part
        }
        guard let message = try? JSONDecoder().decode(Message.self, from: bytes) else { throw bound }
        return message
    }

    static func reply(_ body: () async throws -> some Encodable) async -> HTTPResponse {
        do {
            return response(200, try await body())
        } catch let refusal as PairingRefusal {
            return response(
                refusal.status, ControlMessage.Refusal(error: refusal.words, reason: refusal.reason))
        } catch let refusal as OrderRefusal {
            return response(
                refusal.status, ControlMessage.Refusal(error: refusal.words, reason: refusal.reason))
        } catch let failure as UnpairFailure {
            return response(
                failure.status, ControlMessage.Refusal(error: failure.words, reason: failure.reason))
        } catch let refusal as ControlMessage.Refusal {
            return response(400, refusal)
        } catch let refusal as DeadLetterRefusal {
            return response(422, refusal.message)
        } catch let error as StoreError {
            return response(
                503, ControlMessage.Refusal(error: error.description, reason: "store-error"))
        } catch {
            return response(400, ControlMessage.Refusal.malformed)
        }
    }

    private static func response(_ status: Int, _ body: some Encodable) -> HTTPResponse {
        // What is encoded here are strings and numbers.
        let data = (try? JSONEncoder().encode(body)) ?? Data("{}".utf8)
        return HTTPResponse(
            statusCode: HTTPStatusCode(status, phrase: "Answer"),
            headers: [.contentType: "application/json"], body: data)
    }
}

extension PairingRefusal {
    fileprivate var status: Int {
        switch self {
        case .notAllowed, .onlyBroadcasts: 422
        case .busy, .notAsked: 409
        case .noKeeper: 503
        case .unknown: 404
        }
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
