import AsyncHTTPClient
import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOPosix

/// A command's side of the control socket.
struct ControlClient: Sendable {
    /// Longer than the poll for steps, which takes 10 s.
    private static let timeout = TimeAmount.seconds(30)
    /// How long a socket may be too busy for one more connection.
    private static let connecting = Duration.seconds(10)
    /// The most that is taken of an answer, in bytes: the steps of one order.
    private static let answerLimit = 1 << 20

    /// Why there was no answer that could be used.
    enum Failure: Error {
        /// Nobody listens at the socket.
        case noService
        case noPermission
        case refused(ControlMessage.Refusal)
        /// The service went away, or does not answer.
        case broken
    }

    let path: String
    private let client: HTTPClient
    private let base: String

    init(path: String) {
        self.path = path
        var configuration = HTTPClient.Configuration(
            timeout: .init(connect: .seconds(5), read: Self.timeout))
        // A service that does not run is not waited for.
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        // The path takes the place of the host (async-http-client, "Unix Domain Socket Paths").
        let host = path.utf8.map { byte -> String in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                String(UnicodeScalar(byte))
            default: (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
        base = "http+unix://\(host)/v1"
    }

    func close() async {
        try? await client.shutdown()
    }

    func unpair(_ target: PairingTarget) async throws(Failure) -> [BluetoothAddress] {
        let unpaired: ControlMessage.Unpaired = try await send(
            .POST, "/unpair", ControlMessage.Target(target: target.description))
        return unpaired.addresses
    }

    func status() async throws(Failure) -> GatewayStatus {
        try await send(.GET, "/status")
    }

    /// Has the service read its configuration again.
    func reload() async throws(Failure) {
        let _: ControlMessage.Done = try await send(.POST, "/reload")
    }

    func session(_ destination: String) async throws(Failure) -> ControlMessage.Session {
        try await send(.GET, Self.session(destination))
    }

    func signIn(
        _ destination: String, changesUser: Bool, token: String?
    ) async throws(Failure) -> ControlMessage.SignedIn {
        try await send(
            .POST, Self.session(destination) + "/sign-in",
            ControlMessage.SignIn(changesUser: changesUser, token: token))
    }

    func signOut(_ destination: String) async throws(Failure) -> ControlMessage.SignedOut {
        try await send(.POST, Self.session(destination) + "/sign-out")
    }

    func retry(_ message: ControlMessage.Retry) async throws(Failure) -> ControlMessage.Retried {
        try await send(.POST, "/failed/retry", message)
    }

    func drop(_ selection: DeadLetterSelection) async throws(Failure) -> ControlMessage.Dropped {
        try await send(.POST, "/failed/drop", selection)
    }

    func resend(_ message: ControlMessage.Resend) async throws(Failure) -> ControlMessage.Resent {
        try await send(.POST, "/records/resend", message)
    }

    /// - Parameter destination: a name, which needs no escapes.
    private static func session(_ destination: String) -> String { "/sessions/\(destination)" }

    func send<Answer: Decodable>(
        _ method: HTTPMethod, _ path: String, _ message: (any Encodable & Sendable)? = nil
    ) async throws(Failure) -> Answer {
        let (status, data) = try await forward(
            method, path, message.flatMap { try? JSONEncoder().encode($0) })
        if status != 200 {
            guard let refusal = try? JSONDecoder().decode(ControlMessage.Refusal.self, from: data) else {
                throw .broken
            }
            throw .refused(refusal)
        }
        guard let answer = try? JSONDecoder().decode(Answer.self, from: data) else { throw .broken }
        return answer
    }

    /// Sends a request as it is.
    /// - Parameter body: JSON; nil for none.
    /// - Returns: the status of HTTP, and the answer's JSON.
    func forward(
        _ method: HTTPMethod, _ path: String, _ body: Data?
    ) async throws(Failure) -> (status: Int, body: Data) {
        var request = HTTPClientRequest(url: base + path)
        request.method = method
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        do {
            let response = try await execute(request)
            let answer = try await response.body.collect(upTo: Self.answerLimit)
            return (Int(response.status.code), Data(answer.readableBytesView))
        } catch {
            throw Self.failure(error)
        }
    }

    /// Tries again while the socket has more connections than it takes up at once (connect(2), EAGAIN): nothing was sent.
    private func execute(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
        let clock = ContinuousClock()
        let end = clock.now + Self.connecting
        while true {
            do {
                return try await client.execute(request, timeout: Self.timeout)
            } catch let error as IOError where error.errnoCode == 11 && clock.now < end {
                try await clock.sleep(for: .milliseconds(100))
            }
        }
    }

    private static func failure(_ error: any Error) -> Failure {
        guard let error = error as? IOError else { return .broken }
        // ENOENT, ECONNREFUSED, EACCES, EPERM.
        switch error.errnoCode {
        case 2, 111: return .noService
        case 13, 1: return .noPermission
        default: return .broken
        }
    }
}

extension CommandFailure {
    init(_ failure: ControlClient.Failure, path: String) {
        switch failure {
        case .noService:
            self.init(.unavailable, "no service listens at \(path): systemctl start ingestd")
        case .noPermission:
            self.init(
                .noPermission, "\(path): you may not: run it as root, or as a member of the group ingestd")
        case .refused(let refusal):
            self.init(ExitStatus(refusal.reason), refusal.error)
        case .broken:
            self.init(.tryAgain, "the service went away or does not answer: systemctl status ingestd")
        }
    }
}

extension ExitStatus {
    /// How a command ends that the service refused for this reason, or whose pairing failed for it.
    init(_ reason: FailureReason) {
        self =
            switch reason {
            case .badTarget: .usage
            case .noPermission: .noPermission
            case .rejected: .configuration
            case .noKeeper, .adapterUnavailable, .unreachable, .noAdapter, .notSeen: .unavailable
            case .busy, .readingUnderWay, .notHeard, .notReachable, .otherDevice, .timedOut, .cancelled,
                .readFailed, .noBond, .storeError, .unknownOrder, .anotherUser, .noTime,
                .queueFull:
                .tryAgain
            case .badRequest, .unknownRecord, .ambiguousRecord, .undecoded, .damaged, .notConfigured,
                .unassigned, .notUnassigned, .controlSolution, .anotherPerson, .anotherSession, .notAllowed,
                .onlyBroadcasts, .notAsked, .givenOnce, .alreadyPaired, .passkeyNotAsked, .badPasskey,
                .refused, .wrongPasskey, .noAnswer, .notBonded, .whichDevice, .badToken, .tokenOfAnotherPlace,
                .tokenOfAnotherUser, .tokenRefused, .underWay, .other:
                .badData
            }
    }
}
