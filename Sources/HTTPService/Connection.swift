import Glibc
import NIOCore
import NIOHTTP1

/// One connection: takes one request after the other, and gives their answers. It lives on its event loop.
final class Connection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// Of a body that is too long so much is read, in bytes, so that its client comes to reading the answer.
    private static let mostDiscarded = 16 << 20

    private struct Incoming {
        let head: HTTPRequestHead
        /// Nil when there is none for it.
        let route: HTTPRoute?
        let parameters: [String: String]
        var body: [UInt8]? = []
        var discarded = 0
        /// Whether there was room for the body beside others.
        var hasRoom = true
    }

    private enum State {
        /// For a request to begin.
        case waiting
        case receiving(Incoming)
        case answering
        case ending
    }

    private let server: HTTPServer
    private let table: ConnectionTable
    /// Takes what is to be done for a request.
    private let jobs: AsyncStream<HTTPServer.Job>.Continuation
    private var state = State.waiting
    private var isInputClosed = false
    private var limit: Scheduled<Void>?
    /// Bytes of the body that is there.
    private var held = 0
    /// Whether there is work for a request, which outlasts a client that hangs up.
    private var isAtWork = false
    /// As the table knows it; a context that is not used any more names another one.
    private var channel: (any Channel)?
    private var user: UInt32?

    init(_ server: HTTPServer, table: ConnectionTable, jobs: AsyncStream<HTTPServer.Job>.Continuation) {
        self.server = server
        self.table = table
        self.jobs = jobs
    }

    func channelActive(context: ChannelHandlerContext) {
        channel = context.channel
        table.add(context.channel)
        askWhoItIs(context.channel)
        // It may have been one too many.
        if context.channel.isActive { enter(.waiting, context) }
    }

    /// What SO_PEERCRED answers with (`struct ucred`, unix(7)).
    private struct Credentials: Sendable {
        var process: Int32
        var user: UInt32
        var group: UInt32
    }

    private func askWhoItIs(_ channel: any Channel) {
        guard channel.localAddress?.protocol == .unix, let options = channel as? any SocketOptionProvider
        else {
            return
        }
        let asked: EventLoopFuture<Credentials> = options.unsafeGetSocketOption(
            level: SocketOptionLevel(SOL_SOCKET), name: SO_PEERCRED)
        let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
        asked.whenSuccess { bound.value.user = $0.user }
    }

    func channelInactive(context: ChannelHandlerContext) {
        limit?.cancel()
        state = .ending
        if !isAtWork { leave() }
    }

    /// Gives its place and its body's back.
    private func leave() {
        if let channel { table.remove(channel) }
        channel = nil
        letGo()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), state) {
        case (.head(let head), .waiting): begin(head, context)
        case (.body(let part), .receiving(var incoming)):
            // Not to be copied with each part.
            state = .ending
            take(part, &incoming)
            state = .receiving(incoming)
            if incoming.discarded > Self.mostDiscarded { close(context) }
        case (.end, .receiving(let incoming)): answer(incoming, context)
        default: break
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event {
            isInputClosed = true
            if case .answering = state { return }
            close(context)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else { return close(context) }
        switch state {
        case .waiting, .receiving:
            let answer = HTTPAnswer(error == .headerOverflow ? 431 : 400)
            server.log("a request that cannot be taken: \(answer.status)")
            send(answer, keepsAlive: false, context)
        case .answering, .ending: close(context)
        }
    }

    // MARK: Requests

    private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let path = head.uri.prefix { $0 != "?" }
        var incoming = Incoming(head: head, route: nil, parameters: [:])
        for route in server.routes {
            if let parameters = route.parameters(method: head.method.rawValue, path: path) {
                incoming = Incoming(head: head, route: route, parameters: parameters)
                break
            }
        }
        enter(.receiving(incoming), context)
        if head.headers[canonicalForm: "expect"].contains(where: { $0.lowercased() == "100-continue" }) {
            let head = HTTPResponseHead(version: .http1_1, status: .continue)
            context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
        }
    }

    private func take(_ part: ByteBuffer, _ incoming: inout Incoming) {
        let (limit, count) = (incoming.route?.bodyLimit ?? 0, part.readableBytes)
        if let known = incoming.body?.count, known + count <= limit, incoming.hasRoom {
            incoming.hasRoom = table.hold(count)
            if incoming.hasRoom {
                held += count
                incoming.body?.append(contentsOf: part.readableBytesView)
                return
            }
        }
        incoming.body = nil
        letGo()
        incoming.discarded += count
    }

    private func letGo() {
        table.release(held)
        held = 0
    }

    private func answer(_ incoming: Incoming, _ context: ChannelHandlerContext) {
        let keepsAlive = incoming.head.isKeepAlive
        guard let route = incoming.route else {
            server.log("a request that is not known: 404")
            return send(HTTPAnswer(404), keepsAlive: keepsAlive, context)
        }
        guard incoming.hasRoom else {
            server.log("\(route.path): no room for its body: 503")
            return send(HTTPAnswer(503), keepsAlive: keepsAlive, context)
        }
        enter(.answering, context)
        let request = HTTPRequest(
            incoming.head, parameters: incoming.parameters, body: incoming.body, user: user)
        let loop = context.eventLoop
        let bound = NIOLoopBound((self, context), eventLoop: loop)
        let log = server.log
        isAtWork = true
        jobs.yield {
            let answer = await route.answer(request)
            log("\(request.method) \(route.path): \(answer.status)")
            loop.execute {
                let (connection, context) = bound.value
                connection.isAtWork = false
                if case .ending = connection.state { return connection.leave() }
                connection.send(answer, keepsAlive: keepsAlive, context)
            }
        }
    }

    // MARK: Answers

    /// The end of the answer is told when it was taken, and only then the next request comes: a client that
    /// does not read its answers gets no more of them.
    private func send(_ answer: HTTPAnswer, keepsAlive: Bool, _ context: ChannelHandlerContext) {
        letGo()
        if case .ending = state { return }
        enter(.answering, context)
        var head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status),
            headers: HTTPHeaders(Array(answer.headers)))
        head.headers.replaceOrAdd(name: "content-length", value: String(answer.body.count))
        if !keepsAlive { head.headers.replaceOrAdd(name: "connection", value: "close") }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))))
            .whenComplete { result in
                let (connection, context) = bound.value
                connection.finish(keepsAlive: keepsAlive, result, context)
            }
    }

    private func finish(keepsAlive: Bool, _ result: Result<Void, any Error>, _ context: ChannelHandlerContext)
    {
        if case .ending = state { return }
        guard case .success = result, keepsAlive, !isInputClosed else { return close(context) }
        enter(.waiting, context)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    /// From now on the state may last for the server's patience.
    private func enter(_ state: State, _ context: ChannelHandlerContext) {
        self.state = state
        if case .answering = state {
            table.note(context.channel, waits: false)
        } else {
            table.note(context.channel, waits: true)
        }
        limit?.cancel()
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        limit = context.eventLoop.scheduleTask(in: TimeAmount(server.bounds.patience)) {
            let (connection, context) = bound.value
            connection.close(context)
        }
    }

    private func close(_ context: ChannelHandlerContext) {
        state = .ending
        limit?.cancel()
        context.close(promise: nil)
    }
}
