import FoundationEssentials

@testable import HTTPService

/// A server at a path of its own.
struct ServerBench {
    var routes = HTTPServerTests.routes
    var bounds = HTTPServer.Bounds(connections: 32, bodies: 1 << 20, patience: .seconds(100))

    /// Runs `body` with the server's path while the server runs.
    func run(_ body: (String) async throws -> Void) async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "http-\(UUID()).sock").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let server = HTTPServer(routes, bounds: bounds)
        let (listening, continuation) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup { group in
            group.addTask {
                defer { continuation.finish() }
                try await server.run(at: .path(path)) { _ in continuation.yield() }
            }
            if await listening.first(where: { true }) != nil { try await body(path) }
            group.cancelAll()
            try await group.waitForAll()
        }
    }
}
