import NIOCore
import NIOPosix

/// A client that sends what it is told to, right or wrong, and gives what comes.
final class RawClient {
    private var parts: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private let channel: any Channel
    private var text = ""

    private init(
        _ parts: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>, _ channel: any Channel
    ) {
        self.parts = parts
        self.outbound = outbound
        self.channel = channel
    }

    static func run<Result: Sendable>(
        at path: String, _ body: (RawClient) async throws -> Result
    ) async throws -> Result {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(unixDomainSocketPath: path) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel,
                        configuration: .init(isOutboundHalfClosureEnabled: true))
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            try await body(RawClient(inbound.makeAsyncIterator(), outbound, channel.channel))
        }
    }

    func send(_ text: String) async throws {
        try await outbound.write(ByteBuffer(string: text))
    }

    /// Sends nothing more.
    func closeOutput() async {
        outbound.finish()
    }

    /// The next answer, its status and its body; nil when the server has ended the connection.
    func answer() async -> Answer? {
        while true {
            if let answer = takeAnswer() { return answer }
            guard await read() else { return nil }
        }
    }

    /// Waits until the server has ended the connection.
    func untilEnded() async {
        while await read() {}
    }

    struct Answer: Equatable, Sendable {
        let status: Int
        let body: String
    }

    private func read() async -> Bool {
        var parts = parts
        defer { self.parts = parts }
        guard let part = try? await parts.next(isolation: #isolation) else { return false }
        text += String(buffer: part)
        return true
    }

    private func takeAnswer() -> Answer? {
        guard let end = text.firstRange(of: "\r\n\r\n") else { return nil }
        let lines = text[..<end.lowerBound].split(separator: "\r\n")
        let status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        let length = lines.lazy.map { $0.lowercased().split(separator: ": ") }
            .first { $0.first == "content-length" }.flatMap { Int($0[1]) }
        let body = text[end.upperBound...]
        guard body.utf8.count >= length ?? 0 else { return nil }
        let answer = Answer(status: status, body: String(body.prefix(length ?? 0)))
        text = String(body.dropFirst(length ?? 0))
        return answer
    }
}
