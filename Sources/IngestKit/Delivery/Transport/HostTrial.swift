import Dispatch
import NIOCore
import NIOPosix

/// Finds out whether a host can be reached, without a word to it.
package enum HostTrial {
    package typealias Failure = HTTPTransport.Failure

    /// Asks the system's resolver for the host's name. It blocks for as long as that takes, on a thread of its own.
    /// - Parameter host: a name or an address, without brackets.
    package static func resolve(_ host: String) async throws(Failure) {
        let isFound = await withCheckedContinuation { continuation in
            DispatchQueue(label: "ingestd.resolver").async {
                let address = try? SocketAddress.makeAddressResolvingHost(host, port: 0)
                continuation.resume(returning: address != nil)
            }
        }
        guard isFound else { throw Failure(message: "the host's name was not found") }
    }

    /// Connects by TCP, 10 s at most, and closes the connection at once.
    /// - Parameter isProxy: whether the host is a proxy, for the message.
    package static func connect(to host: String, port: Int, isProxy: Bool) async throws(Failure) {
        do {
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connectTimeout(.seconds(10)).connect(host: host, port: port).get()
            try? await channel.close()
        } catch {
            let words = TransportWords(isProxied: isProxy, dates: nil, nowSeconds: 0)
            throw Failure(message: words.describe(error))
        }
    }
}
