import IngestConfiguration
import IngestCore
import IngestDelivery
import IngestEvents
import IngestQueue
import IngestStorage

/// What deliveries are made with.
struct DeliveryParts {
    let store: any DeliveryQueue
    let transports: Transports
    let events: EventLog
    let pulse: Pulse
}

/// Delivery to a destination that files under one person, and the person.
struct SessionDelivery: Sendable {
    let destination: String
    let user: String
    let delivery: Delivery
    /// Of a destination of type junction.
    var junction: JunctionSession?
}

extension Gateway {
    /// The deliveries in sessions, each signed in for its configured person unless it is another's, or was ended.
    func makeSessions(_ parts: DeliveryParts, _ sessions: SessionTable) async throws -> [SessionDelivery] {
        var made: [SessionDelivery] = []
        for destination in configuration.destinations {
            guard destination.type.hasSession, let user = destination.user else { continue }
            switch destination.type {
            case .junction:
                let delivery = await junction(destination, user: user, parts)
                // Without a token there is nothing to begin a session with.
                if await delivery.junction?.standing == .closed {
                    try await tell(sessions.session(of: destination.name), user, destination.name)
                } else {
                    try await adopt(user, at: destination.name, sessions)
                }
                made.append(delivery)
            default:
                try await adopt(user, at: destination.name, sessions)
                made.append(
                    SessionDelivery(
                        destination: destination.name, user: user,
                        delivery: validic(destination, user: user, parts)))
            }
        }
        return made
    }

    /// Says what is kept for destinations that the configuration does not have.
    func tellOfAbsentDestinations(_ queue: SQLiteQueue) async {
        for (name, owed) in (try? await queue.destinations.absent()) ?? [] {
            let count = owed == DestinationTable.countedOwed ? "\(owed) or more" : "\(owed)"
            StandardError.print(
                "\(name) is not configured any more, and \(count) reading(s) wait for it: they are kept while there is "
                    + "room, and delivered when a destination has this name again")
        }
    }

    /// Compares the configured person with the one of the queue, and says it where nothing will be delivered.
    private func adopt(_ user: String, at destination: String, _ sessions: SessionTable) async throws {
        tell(try await sessions.adopt(user, at: destination), user, destination)
    }

    private func tell(_ state: SessionState, _ user: String, _ destination: String) {
        switch state {
        case .none, .open(user, _): break
        case .open:
            StandardError.print(
                "\(destination) is signed in for another user than the configuration names: nothing is delivered "
                    + "there until ingestd sign-in \(destination), which sets aside what waits for the other")
        case .ended(nil):
            StandardError.print(
                "for whom \(destination) was signed in was lost with a damaged queue: nothing is delivered there until "
                    + "ingestd sign-in \(destination), which sets aside what waits")
        case .ended:
            StandardError.print(
                "\(destination) is signed out: nothing is delivered there until "
                    + "ingestd sign-in \(destination)")
        }
    }

    private func validic(
        _ destination: DestinationSettings, user: String, _ parts: DeliveryParts
    ) -> Delivery {
        let credentials = credentials
        let validic = Validic(
            settings: destination.validicSettings(user: user),
            transport: parts.transports[destination], clock: clock,
            token: { [name = destination.credential] in
                guard let name else { return "" }
                return try credentials.read(name).text ?? ""
            })
        let worker = DeliveryWorker(
            name: destination.name, gateway: configuration.gateway.id, store: parts.store,
            destination: logged(validic, destination.name), account: user,
            batching: BatchSettings(maxRecords: 1, maxWait: .zero),
            clock: clock, events: parts.events, heartbeat: parts.pulse.register(destination.name))
        return Delivery(to: destination.name, by: worker) { _ in
            if await validic.renew() { worker.retryNow() }
        }
    }
}
