/// Reads that are under way, as far as they can be told to end.
struct ReadsUnderWay {
    private struct Item {
        var connection: Task<any PeripheralLink, any Error>?
        var session: ReadSession?
        /// Why the connection attempt is not to be waited for any more.
        var givesWay: ReadScheduler.GivingWay?
    }

    private var items: [DeviceAddress: Item] = [:]

    /// Those that have a link.
    var sessions: [ReadSession] { items.values.compactMap(\.session) }

    mutating func begin(_ device: DeviceAddress) { items[device] = Item() }
    mutating func end(_ device: DeviceAddress) { items[device] = nil }

    mutating func connects(_ connection: Task<any PeripheralLink, any Error>, to device: DeviceAddress) {
        items[device]?.connection = connection
        if items[device]?.givesWay != nil { connection.cancel() }
    }

    /// The connection attempt has ended without a link.
    /// - Returns: why it was given up, if it was.
    mutating func endAttempt(_ device: DeviceAddress) -> ReadScheduler.GivingWay? {
        items[device]?.connection = nil
        return items[device]?.givesWay
    }

    mutating func runs(_ session: ReadSession, of device: DeviceAddress) { items[device]?.session = session }
    mutating func hasRun(_ device: DeviceAddress) { items[device]?.session = nil }

    /// Another device is to have the link.
    mutating func giveWay(_ device: DeviceAddress, _ why: ReadScheduler.GivingWay) {
        if let session = items[device]?.session {
            Task { await session.giveWay(why) }
        } else {
            items[device]?.givesWay = why
            items[device]?.connection?.cancel()
        }
    }
}

/// Links, of which an adapter has several at a time.
extension PassiveGateway {
    /// Connects. Meanwhile the adapter hears nothing.
    func connect(
        _ request: Request, remembered: AttributeLayout, isEncrypted: Bool
    ) async throws(LinkError) -> any PeripheralLink {
        scheduler.connecting(request.adapter, true, at: ports.clock.now)
        let start = ports.clock.now
        ports.log.connects(request, isEncrypted: isEncrypted)
        let radio = ports.radio
        let connection = Task {
            try await radio.connect(
                to: request.device, on: request.adapter, remembered: remembered,
                requiresEncryption: isEncrypted)
        }
        underWay.connects(connection, to: request.device)
        let result = await withTaskCancellationHandler {
            await connection.result
        } onCancel: {
            connection.cancel()
        }
        scheduler.connecting(request.adapter, false, at: ports.clock.now)
        let error = result.linkError
        ports.log.connected(request, error: error, took: ports.clock.now.since(start))
        rearm()
        if let error { throw error }
        guard case .success(let link) = result else { throw .notReachable }
        return link
    }

    /// What comes of a read whose link could not be made.
    func connectionFailed(
        _ error: LinkError, _ request: Request, isEncrypted: Bool
    ) -> ReadSession.Outcome {
        if let why = underWay.endAttempt(request.device), error == .ended(.byGateway), !Task.isCancelled {
            return .gaveWay(why)
        }
        if error == .noMoreLinks, scheduler.hasLinks(besides: request.device, on: request.adapter) {
            return .noMoreLinks
        }
        return bonding.connectionFailed(error, request, isEncrypted: isEncrypted)
    }

    /// A session tells how far it is.
    func progressed(_ device: DeviceAddress, _ progress: ReadScheduler.Progress) {
        perform(scheduler.progressed(device, progress, at: ports.clock.now))
    }
}

extension Result<any PeripheralLink, any Error> {
    fileprivate var linkError: LinkError? {
        guard case .failure(let error) = self else { return nil }
        return error as? LinkError ?? .ended(.byGateway)
    }
}

extension ReadSession.Outcome {
    /// What it means for the next read.
    var ofRead: ReadOutcome {
        switch self {
        case .succeeded: .succeeded
        case .gaveWay(.turn): .yielded
        case .noMoreLinks: .refusedLink
        case .failed, .gaveWay, .refused, .dayIsFull, .storeUnusable: .failed
        }
    }
}
