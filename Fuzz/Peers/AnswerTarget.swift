import FoundationEssentials
import NIOCore
import NIOEmbedded
import NIOHTTP1

@testable import IngestBluetooth
@testable import IngestConfiguration
@testable import IngestCore
@testable import IngestDelivery
@testable import IngestEntries
@testable import IngestEvents
@testable import IngestOperator
@testable import IngestPeripherals
@testable import IngestProfiles
@testable import IngestQueue
@testable import IngestReading
@testable import IngestRecords
@testable import IngestStorage
@testable import IngestSupervision

/// What is read of the answers of backends.
enum AnswerTarget {
    /// The input: which reader, a status, and what the server says.
    static func check(_ bytes: [UInt8]) {
        var draw = Draw(bytes)
        let reader = draw.byte()
        let status = 200 + Int(draw.number() % 400)
        let text = draw.text()
        switch reader % 8 {
        case 0: checkRetryAfter(text, status)
        case 1:
            let entries = 1 + status % 4
            let answer = FHIRAnswer.meaning(httpStatus: status, reply: text, entries: entries)
            require(
                answer == FHIRAnswer.meaning(httpStatus: status, reply: text, entries: entries),
                "another meaning")
            if case .taken = answer {
                require(
                    text.contains("Bundle") || text.contains("\"entry\""), "taken without a word of it")
            }
        case 2:
            if let answer = JunctionTokenAnswer(text) {
                require(!answer.access.isEmpty && !answer.refresh.isEmpty, "a session without tokens")
                require((answer.access + answer.refresh).utf8.allSatisfy { (0x21...0x7E).contains($0) })
            }
        case 3: _ = JunctionRefusal(text)
        case 4:
            if let token = try? JunctionSignInToken(text) {
                require(token.userID.utf8.count == 36, "no UUID")
            }
        case 5:
            let batch = Result { try ReceivedBatch(Array(text.utf8)) }
            if case .success(let batch) = batch {
                for record in batch.records {
                    require(!record.contains("\n"), "a record of two lines")
                    _ = ReceivedBatch.summary(of: record)
                }
            }
        case 6: _ = try? ReceivedBatch(lines: Array(text.utf8))
        default:
            let answer = DeliveryAnswer(httpStatus: status, retryAfter: nil, reply: text)
            if case .taken = answer { require((200..<300).contains(status)) }
            _ = answer.ofImage
            if let first = text.utf8.first {
                for packet in [MQTTReason.Packet.message, .connection, .returnCode, .end] {
                    if case .taken = MQTTReason.answer(first, in: packet, reply: text) {
                        require(first == 0, "taken, with an error")
                    }
                }
            }
        }
    }

    /// A line of Retry-After, and one of Date.
    private static func checkRetryAfter(_ text: String, _ status: Int) {
        let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        let wait = RetryAfter.parse(
            lines.first.map(String.init), date: lines.count > 1 ? String(lines[1]) : nil,
            nowSeconds: 1_795_166_100)
        guard let wait else { return }
        require(wait >= .zero, "a wait that has passed")
        // What the delivery adds it to.
        require(MonotonicInstant(nanoseconds: 5) + wait >= MonotonicInstant(nanoseconds: 5))
        _ = DeliveryAnswer(httpStatus: status, retryAfter: wait, reply: nil)
    }

    // MARK: The bound

    private final class Sum: ChannelInboundHandler {
        typealias InboundIn = HTTPClientResponsePart
        var bytes = 0
        var hasFailed = false

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if case .body(let part) = Self.unwrapInboundIn(data) { bytes += part.readableBytes }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { hasFailed = true }
    }

    /// An answer in pieces, each repeated: of one answer no more comes through than the bound.
    static func checkBound(_ bytes: [UInt8]) {
        var draw = Draw(bytes)
        let channel = EmbeddedChannel()
        let sum = Sum()
        do {
            try channel.pipeline.syncOperations.addHandler(AnswerBound())
            try channel.pipeline.syncOperations.addHTTPClientHandlers(
                leftOverBytesStrategy: .dropBytes, enableOutboundHeaderValidation: false)
            try channel.pipeline.syncOperations.addHandler(sum)
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            var before = 0
            while !draw.isEmpty, channel.isActive, !sum.hasFailed {
                let head = draw.byte()
                if head & 3 == 0 {
                    let request = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/")
                    try channel.writeOutbound(HTTPClientRequestPart.head(request))
                    try channel.writeOutbound(HTTPClientRequestPart.end(nil))
                    while try channel.readOutbound(as: ByteBuffer.self) != nil {}
                    before = sum.bytes
                }
                let piece = ByteBuffer(bytes: draw.bytes(Int(head >> 2)))
                for _ in 0...(Int(draw.byte()) << (head & 2 == 0 ? 0 : 4))
                where channel.isActive && !sum.hasFailed {
                    try channel.writeInbound(piece)
                }
                require(sum.bytes - before <= AnswerBound.limit, "more than the bound")
            }
        } catch {}
        _ = try? channel.finish(acceptAlreadyClosed: true)
    }
}
