import IngestKit
import ServiceLifecycle

/// Delivery to one destination.
struct Delivery: Sendable {
    let service: any Service
    /// Takes its credentials from their files again, and ends a wait after a failure.
    let renew: @Sendable () async -> Void
}

/// The transports of all destinations, one for each way to travel.
struct Transports: Sendable {
    private let bySettings: [TransportSettings: HTTPTransport]

    init(_ destinations: [Configuration.Destination], credentials: Credentials) {
        let settings = Set(destinations.map(\.transport))
        bySettings = Dictionary(
            uniqueKeysWithValues: settings.map {
                ($0, HTTPTransport(settings: $0, credentials: credentials))
            })
    }

    subscript(destination: Configuration.Destination) -> HTTPTransport {
        // Only one of another configuration has none.
        bySettings[destination.transport] ?? HTTPTransport()
    }

    /// Closes all connections.
    func shutdown() async {
        for transport in bySettings.values { try? await transport.shutdown() }
    }
}
