import ServiceLifecycle

/// Delivery to one destination.
struct Delivery: Sendable {
    let destination: String
    let service: any Service
    /// What it has seen since the start.
    let report: @Sendable () -> DeliveryReport
    /// Takes over what a reload has changed, its credentials from their files, too, and ends a wait after a failure.
    let renew: @Sendable (Configuration) async -> Void
    /// Ends a wait for an answer that did not come: the box's network has changed.
    let networkChanged: @Sendable () -> Void

    /// How its requests show who sends them.
    let authentication: [AuthenticationKind]
    /// What the server holds for a person, where that is more than a credential.
    let session: JunctionSession?
    /// Where it gets the status document; nil where it gets none.
    let status: StatusOutlet?

    init(
        to destination: DestinationSettings, by worker: DeliveryWorker<some Destination>,
        _ connected: ConnectedDestination
    ) {
        self.destination = destination.name
        authentication = destination.authentication
        service = Part("delivery to \(destination.name)") {
            let result: Result<Void, any Error>
            do {
                result = .success(try await worker.run())
            } catch {
                result = .failure(error)
            }
            await connected.atEnd()
            try result.get()
        }
        report = { worker.report }
        let name = destination.name
        renew = { configuration in
            if let settings = configuration.destinations.first(where: { $0.name == name }) {
                await connected.allow(configuration.allowList.entries.filter(settings.accepts))
            }
            if await connected.renew(configuration.catalogue) { worker.retryNow() }
        }
        networkChanged = { worker.networkChanged() }
        session = connected.session
        status = connected.status
    }
}

/// The transports of all destinations, one for each way to travel.
struct Transports: Sendable {
    private let bySettings: [TransportSettings: HTTPTransport]

    init(_ destinations: [DestinationSettings], credentials: Credentials) {
        let settings = Set(destinations.map(\.transport))
        bySettings = Dictionary(
            uniqueKeysWithValues: settings.map {
                ($0, HTTPTransport(settings: $0, credentials: credentials))
            })
    }

    subscript(destination: DestinationSettings) -> HTTPTransport {
        // Only one of another configuration has none.
        bySettings[destination.transport] ?? HTTPTransport()
    }

    /// Closes all connections.
    func shutdown() async {
        for transport in bySettings.values { try? await transport.shutdown() }
    }
}
