import NIOCore
import NIOHTTP1
import NIOPosix

/// A small HTTP/1.1 server for clients on this box: whatever a client does, it holds no more than the bounds say.
/// Connections are kept for further requests, one of which at a time is worked on.
package struct HTTPServer: Sendable {
    /// Where it listens.
    package enum Address: Sendable, Equatable {
        /// A Unix domain socket, where nothing may be yet.
        case path(String)
        /// An address of IPv4 such as 127.0.0.1, and a port; 0 for any.
        case ip4(String, port: Int)
    }

    /// What clients may hold.
    package struct Bounds: Sendable {
        /// The most that is taken of a request's path and headers, in bytes; a longer head is answered with 431.
        package var head: Int
        /// Headers of one request.
        package var headers = 100
        package var connections: Int
        /// Of all bodies at a time, in bytes; what is too much is answered with 503.
        package var bodies: Int
        /// How long a request may take to begin, to come whole, to be worked on and its answer to be taken; each.
        package var patience: Duration

        package init(head: Int = 16 << 10, connections: Int, bodies: Int, patience: Duration) {
            self.head = head
            self.connections = connections
            self.bodies = bodies
            self.patience = patience
        }
    }

    /// The server has stopped listening, and nobody had told it to.
    package struct Ended: Error {}

    typealias Job = @Sendable () async -> Void

    let routes: [HTTPRoute]
    let bounds: Bounds
    let log: @Sendable (String) -> Void

    /// - Parameters:
    ///   - routes: the first that fits answers; what none fits is answered with 404.
    ///   - log: told of each answer, without what the client has sent.
    package init(_ routes: [HTTPRoute], bounds: Bounds, log: @escaping @Sendable (String) -> Void = { _ in })
    {
        self.routes = routes
        self.bounds = bounds
        self.log = log
    }

    /// Serves until the task is cancelled; what is being worked on then is cancelled, and waited for.
    /// - Parameter whenListening: told the port, 0 for a path.
    /// - Throws: `IOError` when it cannot listen; `Ended`; what `whenListening` throws.
    package func run(
        at address: Address, whenListening: @Sendable (Int) async throws -> Void = { _ in }
    ) async throws {
        let table = ConnectionTable(bounds)
        let (jobs, continuation) = AsyncStream.makeStream(of: Job.self)
        let listener = try await listen(at: address, table, continuation)
        listener.closeFuture.whenComplete { _ in continuation.finish() }
        let outcome: Result<Void, any Error>
        do {
            try await whenListening(listener.localAddress?.port ?? 0)
            await withDiscardingTaskGroup { group in
                for await job in jobs { group.addTask { await job() } }
                group.cancelAll()
            }
            outcome = Task.isCancelled ? .success(()) : .failure(Ended())
        } catch {
            outcome = .failure(error)
        }
        try? await listener.close()
        await table.closeAll()
        try outcome.get()
    }

    private func listen(
        at address: Address, _ table: ConnectionTable, _ jobs: AsyncStream<Job>.Continuation
    ) async throws -> any Channel {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = bounds.head
        limits.maxHeaderListSize = bounds.head
        limits.maxHeaderFieldCount = bounds.headers
        // One loop for all: nobody here has much to do.
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton.next())
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    // Without descriptors it would try again and again.
                    try channel.pipeline.syncOperations.addHandler(
                        AcceptBackoffHandler(shouldForwardIOErrorCaught: false))
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { [limits] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(
                        withErrorHandling: false, withEncoderConfiguration: .init(),
                        withDecoderLimitConfiguration: limits)
                    try channel.pipeline.syncOperations.addHandler(Connection(self, table: table, jobs: jobs))
                }
            }
        switch address {
        case .path(let path): return try await bootstrap.bind(unixDomainSocketPath: path).get()
        case .ip4(let host, let port):
            return try await bootstrap.bind(to: SocketAddress(ipAddress: host, port: port)).get()
        }
    }
}
