/// The queue and the services that every delivery uses.
struct DeliveryParts {
    let store: any DeliveryQueue
    let transports: Transports
    let events: EventLog
    let pulse: Pulse
}

extension Gateway {
    /// The deliveries. Those that file under one person are signed in for the configured one, unless they are another's or
    /// were ended.
    func makeDeliveries(_ parts: DeliveryParts, _ sessions: SessionTable) async throws -> [Delivery] {
        var made: [Delivery] = []
        // The last stops first. A session may need some seconds for that, in which the others still deliver.
        let all = configuration.destinations
        for destination in all.filter({ $0.form.person == nil }) + all.filter({ $0.form.person != nil }) {
            let name = destination.name
            let connected = await destination.form.connect(
                DestinationParts(
                    destination, gateway: configuration.gateway.id,
                    vault: JunctionVault(
                        destination: name, stateDirectory: configuration.gateway.stateDirectory),
                    timeZone: configuration.timeZoneName, credentials: credentials,
                    transport: parts.transports[destination], clock: clock,
                    catalogue: configuration.catalogue, publisher: { MQTTPublisher($0) },
                    told: { StandardError.print($0) }))
            if let person = destination.form.person {
                // Without a token there is nothing to begin a session with.
                let state =
                    await connected.session?.standing == .closed
                    ? try await sessions.session(of: name) : try await sessions.adopt(person, at: name)
                tell(state, person, name)
            }
            let worker = DeliveryWorker(
                name: name, gateway: configuration.gateway.id, store: parts.store,
                destination: logged(connected.destination, name), files: destination.files(credentials),
                account: destination.form.person,
                holdsSession: { await connected.session?.isOpen() ?? true },
                batching: destination.batching, clock: clock, events: parts.events,
                heartbeat: parts.pulse.register(name))
            made.append(Delivery(to: destination, by: worker, connected))
        }
        return made
    }

    /// Says what is kept for destinations that the configuration does not have.
    func tellOfAbsentDestinations(_ queue: SQLiteQueue) async {
        for (name, owed) in (try? await queue.destinations.absent()) ?? [] {
            let waiting =
                owed == DestinationTable.countedOwed
                ? "\(owed) or more readings wait" : owed.counted("reading waits", "readings wait")
            StandardError.print(
                "\(name) is not configured any more, and \(waiting) for it: they are kept while there is "
                    + "room, and delivered when a destination has this name again")
        }
    }

    /// Says it where nothing will be delivered for the configured person.
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
}
