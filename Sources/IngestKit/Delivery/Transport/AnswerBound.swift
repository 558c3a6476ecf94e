import NIOCore

/// The server's answer is longer than any that delivery has a use for.
struct AnswerTooLong: Error {}

/// A connection that was kept open turns out to be gone, before it brought a byte of the answer.
struct StaleConnection: Error {}

/// Stands on a connection next to the network, counts what the server sends in answer to a request
/// and closes the connection when that is too much, header, framing and interim answers included.
/// Tells a connection that died while it was kept from one that a server closed on us.
final class AnswerBound: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// In bytes: as much for the header as is kept of the body.
    static let limit = 128 * 1024

    /// Requests of this connection, the present one included.
    private var requests = 0
    /// Whether the server has sent anything since the last write, or nothing was asked yet.
    private var isAnswering = true
    /// Bytes since the last write.
    private var received = 0

    private var isStale: Bool { requests > 1 && !isAnswering }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if isAnswering {
            requests += 1
            isAnswering = false
        }
        received = 0
        context.write(data, promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Once is enough to tell: what comes until the connection is closed is dropped.
        guard received <= Self.limit else { return }
        isAnswering = true
        received += Self.unwrapInboundIn(data).readableBytes
        guard received <= Self.limit else {
            context.fireErrorCaught(AnswerTooLong())
            context.close(promise: nil)
            return
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(isStale ? StaleConnection() : error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if isStale { context.fireErrorCaught(StaleConnection()) }
        context.fireChannelInactive()
    }
}
