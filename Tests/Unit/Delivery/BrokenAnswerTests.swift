import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import IngestDelivery

/// Answers that break off before their announced end.
@Suite(.timeLimit(.minutes(5)))
struct BrokenAnswerTests {
    /// Says the same bytes to whoever has said something, and hangs up.
    private final class Sayer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let words: String
        private var hasSpoken = false

        init(_ words: String) {
            self.words = words
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !hasSpoken else { return }
            hasSpoken = true
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: words)), promise: nil)
            context.close(promise: nil)
        }
    }

    /// What is missing of a success may say that it was none, so nothing of it counts. The words of a refusal are kept.
    @Test(
        arguments: [
            ("200 OK", 5_000, nil), ("201 Created", 5_000, nil), ("200 OK", 4, "half"),
            ("422 Bad", 5_000, "half"),
        ] as [(String, Int, String?)])
    func ofASuccessThatBreaksOffNothingIsKept(status: String, length: Int, body: String?) async throws {
        let words = "HTTP/1.1 \(status)\r\nContent-Length: \(length)\r\n\r\nhalf"
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Sayer(words))
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let transport = HTTPTransport()
        let answer = try await transport.post(
            [0x7B, 0x7D], to: "http://127.0.0.1:\(port)/", headers: [], clock: DrivenClock())
        #expect(answer.status == Int(status.prefix(3)))
        #expect(answer.body == body)
        try await transport.shutdown()
        try await server.close()
    }
}
