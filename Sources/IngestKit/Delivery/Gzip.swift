import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPCompression

/// gzip (RFC 1952) of whole bodies in memory. The same bytes always give the same gzip: its header
/// holds no time.
package enum Gzip {
    /// What could not be unpacked: not gzip, cut off, or more than the limit.
    package struct Malformed: Error, Sendable {}

    package static func compress(_ bytes: [UInt8]) throws -> [UInt8] {
        // NIO offers its compressor as a handler of HTTP requests; an embedded channel runs it
        // without a socket.
        let channel = EmbeddedChannel(handler: NIOHTTPRequestCompressor(encoding: .gzip))
        defer { _ = try? channel.finish() }
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/")
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(bytes: bytes))), promise: nil)
        channel.write(HTTPClientRequestPart.end(nil), promise: nil)
        channel.flush()
        var result: [UInt8] = []
        while let part = try channel.readOutbound(as: HTTPClientRequestPart.self) {
            if case .body(.byteBuffer(let buffer)) = part { result += buffer.readableBytesView }
        }
        return result
    }

    /// - Parameter limit: the most bytes to unpack.
    package static func decompress(_ bytes: [UInt8], limit: Int) throws -> [UInt8] {
        let channel = EmbeddedChannel(handler: NIOHTTPRequestDecompressor(limit: .size(limit)))
        defer { _ = try? channel.finish() }
        let head = HTTPRequestHead(
            version: .http1_1, method: .POST, uri: "/",
            headers: ["Content-Encoding": "gzip", "Content-Length": String(bytes.count)])
        do {
            try channel.writeInbound(HTTPServerRequestPart.head(head))
            try channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(bytes: bytes)))
            try channel.writeInbound(HTTPServerRequestPart.end(nil))
            var result: [UInt8] = []
            while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
                if case .body(let buffer) = part { result += buffer.readableBytesView }
            }
            return result
        } catch {
            throw Malformed()
        }
    }
}
