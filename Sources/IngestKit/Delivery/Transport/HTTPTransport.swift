import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Synchronization

/// HTTP/1.1 to destinations whose transport settings are equal. Connections are kept alive;
/// redirects are not followed. Certificates and keys are read from their files when the first
/// request needs them, and again when `refresh` or a TLS failure finds them changed.
package final class HTTPTransport: Sendable {
    /// An answer, as far as delivery looks at it.
    package struct Answer: Sendable {
        package let status: Int
        package let retryAfter: String?
        package let date: String?
        /// The body, as far as it fits the bound and came in time.
        package let body: String?
    }

    /// What went wrong before there was an answer, in our words.
    package struct Failure: Error, Sendable, Equatable {
        package let message: String

        package init(message: String) {
            self.message = message
        }
    }

    /// At most this much of an answer's body is kept, in bytes.
    private static let replyLimit = 64 * 1024
    /// From the call to the answer's status.
    private static let totalLimit = Duration.seconds(60)
    /// From the status to the end of the body: the status is the answer, and a server that drips
    /// the rest does not hold the next request up for longer.
    private static let bodyLimit = Duration.seconds(10)

    private let settings: TransportSettings
    private let credentials: Credentials
    private let current = Mutex<Connections?>(nil)

    package init(
        settings: TransportSettings = TransportSettings(),
        credentials: Credentials = Credentials(environment: [:])
    ) {
        self.settings = settings
        self.credentials = credentials
    }

    /// Closes all connections. To be called once, at the end.
    package func shutdown() async throws {
        try await current.withLock { $0 }?.shutdown()
    }

    /// Reads the files of the TLS settings again. If they are others than before and can be used,
    /// further requests go over new connections; those under way end as they would.
    /// - Returns: whether anything has changed.
    @discardableResult
    package func refresh() async -> Bool {
        guard settings.hasFiles, let old = current.withLock({ $0 }),
            let files = try? TLSFiles(settings, credentials), files != old.files,
            let new = try? Connections(files: files, proxy: settings.proxy)
        else { return false }
        let isReplaced = current.withLock { current in
            guard current === old else { return false }
            current = new
            return true
        }
        // Somebody else was first, with the same files.
        await (isReplaced ? old : new).retire()
        return true
    }

    /// Sends a POST and waits for the answer, 60 s at most.
    package func post(
        _ body: [UInt8], to url: String, headers: [(String, String)], clock: any GatewayClock
    ) async throws(Failure) -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        request.body = .bytes(ByteBuffer(bytes: body))
        return try await send(request, within: Self.totalLimit, clock: clock)
    }

    /// Sends a GET and waits for the answer.
    /// - Parameter limit: from the call to the answer's status; at most 60 s.
    package func get(
        _ url: String, headers: [(String, String)], within limit: Duration, clock: any GatewayClock
    ) async throws(Failure) -> Answer {
        var request = HTTPClientRequest(url: url)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        return try await send(request, within: limit, clock: clock)
    }

    private func send(
        _ request: HTTPClientRequest, within limit: Duration, clock: any GatewayClock
    ) async throws(Failure) -> Answer {
        let result = await withTaskGroup(of: Result<Answer, Failure>?.self) { group in
            group.addTask { await self.exchange(request, clock) }
            group.addTask {
                try? await clock.sleep(for: limit)
                return nil
            }
            var isLate = false
            while let ended = await group.next() {
                group.cancelAll()
                if let result = ended {
                    // A status that has come is the answer, whatever became of the body.
                    if isLate, case .failure = result { break }
                    return result
                }
                isLate = !Task.isCancelled
            }
            return .failure(Failure(message: "no answer within \(limit.components.seconds) s"))
        }
        return try result.get()
    }

    /// Sends the request, and once more at once where the first attempt says only that something of
    /// ours was out of date: a kept connection that is gone, or certificates that were replaced.
    private func exchange(
        _ request: HTTPClientRequest, _ clock: any GatewayClock
    ) async -> Result<Answer, Failure> {
        var isRepeated = false
        while true {
            let error: any Error
            do {
                return .success(try await attempt(request, clock))
            } catch let caught {
                error = caught
            }
            let trouble = TLSTrouble(error)
            if !isRepeated, !Task.isCancelled {
                isRepeated = true
                if TransportWords.isStale(error) { continue }
                if trouble != nil, await refresh() { continue }
            }
            var dates: CertificateDates?
            if trouble == .verification, !Task.isCancelled {
                dates = await CertificateDates.shown(at: request.url, proxy: settings.proxy)
            }
            let words = TransportWords(
                isProxied: settings.proxy != nil, dates: dates,
                nowSeconds: clock.wallNanoseconds / 1_000_000_000)
            return .failure(Failure(message: words.describe(error)))
        }
    }

    /// Speaks TLS with a server as a request would, verifies its certificate and closes the connection: no request is
    /// sent. Returns within 20 s.
    /// - Parameter url: of scheme `https`; its path does not matter.
    package func certificate(
        at url: String, clock: any GatewayClock
    ) async throws(Failure) -> CertificateDates {
        var dates: CertificateDates?
        do {
            let tls = try TLSFiles(settings, credentials).configuration()
            return try await CertificateDates.shown(at: url, tls: tls, proxy: settings.proxy)
        } catch {
            if TLSTrouble(error) == .verification {
                dates = await CertificateDates.shown(at: url, proxy: settings.proxy)
            }
            let words = TransportWords(
                isProxied: settings.proxy != nil, dates: dates,
                nowSeconds: clock.wallNanoseconds / 1_000_000_000)
            throw Failure(message: words.describe(error))
        }
    }

    private func attempt(_ request: HTTPClientRequest, _ clock: any GatewayClock) async throws -> Answer {
        let connections = try await lease()
        do {
            let response = try await connections.client.execute(request, timeout: .seconds(60))
            let body = await Self.body(of: response, clock)
            await connections.leave()
            return Answer(
                status: Int(response.status.code),
                retryAfter: response.headers.first(name: "Retry-After"),
                date: response.headers.first(name: "Date"), body: body)
        } catch {
            await connections.leave()
            if (error as? HTTPClientError) == .proxyAuthenticationRequired {
                return Answer(status: 407, retryAfter: nil, date: nil, body: nil)
            }
            throw error
        }
    }

    /// The current client, with this request counted in.
    private func lease() async throws(TLSFileError) -> Connections {
        if let known = current.withLock({ $0 }), known.enter() { return known }
        let made = try Connections(files: TLSFiles(settings, credentials), proxy: settings.proxy)
        let used = current.withLock { current in
            if let current, current.enter() { return current }
            _ = made.enter()
            current = made
            return made
        }
        if used !== made { await made.retire() }
        return used
    }

    /// The body, read to its end within the bounds, so that the connection can be used again; a
    /// longer one is given up with its connection. Words that break off do not undo the status, but of a success they
    /// say nothing: what is missing may be the failure.
    private static func body(of response: HTTPClientResponse, _ clock: any GatewayClock) async -> String? {
        let isSuccess = (200..<300).contains(response.status.code)
        let kept = await withTaskGroup(of: ByteBuffer?.self, returning: ByteBuffer?.self) { group in
            group.addTask {
                var kept = ByteBuffer()
                do {
                    for try await var part in response.body {
                        if kept.readableBytes + part.readableBytes > replyLimit { break }
                        kept.writeBuffer(&part)
                    }
                } catch {
                    if isSuccess { kept.clear() }
                }
                return kept
            }
            group.addTask {
                try? await clock.sleep(for: bodyLimit)
                return nil
            }
            // Whichever is first, the reader gives what it has.
            let first = await group.next()
            group.cancelAll()
            if let first, let body = first { return body }
            guard let second = await group.next() else { return nil }
            return second
        }
        guard let kept, kept.readableBytes > 0 else { return nil }
        return String(buffer: kept)
    }
}
