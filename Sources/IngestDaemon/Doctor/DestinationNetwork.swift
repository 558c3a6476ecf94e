/// The network, as a probe of a destination sees it.
protocol DestinationNetwork: Sendable {
    typealias Failure = HTTPTransport.Failure

    func resolve(_ host: String) async throws(Failure)
    func connect(to host: String, port: Int, isProxy: Bool) async throws(Failure)
    /// The dates of the server's certificate, which was verified.
    func certificate(at url: String, _ parts: DestinationParts) async throws(Failure) -> CertificateDates
    func tryOut(_ form: any DestinationForm, _ parts: DestinationParts) async -> TrialOutcome
    func deliver(
        _ batch: OutgoingBatch, to form: any DestinationForm, _ parts: DestinationParts
    ) async -> DeliveryAnswer
}

/// The network of this machine, by the code that delivers.
struct SystemNetwork: DestinationNetwork {
    func resolve(_ host: String) async throws(Failure) { try await HostTrial.resolve(host) }

    func connect(to host: String, port: Int, isProxy: Bool) async throws(Failure) {
        try await HostTrial.connect(to: host, port: port, isProxy: isProxy)
    }

    func certificate(at url: String, _ parts: DestinationParts) async throws(Failure) -> CertificateDates {
        try await parts.transport.certificate(at: url, clock: parts.clock)
    }

    func tryOut(_ form: any DestinationForm, _ parts: DestinationParts) async -> TrialOutcome {
        await form.tryOut(parts)
    }

    func deliver(
        _ batch: OutgoingBatch, to form: any DestinationForm, _ parts: DestinationParts
    ) async -> DeliveryAnswer {
        let connected = await form.connect(parts)
        let answer = await connected.destination.deliver(batch)
        await connected.atEnd()
        return answer
    }
}
