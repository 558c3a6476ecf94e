import FoundationEssentials
import IngestConfiguration
import IngestCore
import IngestDelivery
import IngestPeripherals
import IngestStorage

extension Gateway {
    /// How long the end waits for new tokens: less than it takes as a whole (`stopTimeout`).
    private static let settling = Duration.seconds(6)

    /// Delivery to Junction, with what it kept of its session; what the operator has to do is said.
    func junction(
        _ destination: DestinationSettings, user: String, _ parts: DeliveryParts
    ) async -> SessionDelivery {
        let name = destination.name
        let session = JunctionSession(
            settings: configuration.junctionSettings(destination, user: user),
            access: access(destination), transport: parts.transports[destination], clock: clock,
            vault: JunctionVault(
                destination: name, stateDirectory: configuration.gateway.stateDirectory),
            told: { StandardError.print("\(name): \($0)") })
        await session.open()
        switch await session.standing {
        case .open: break
        case .closed:
            StandardError.print(
                "\(name) has no session: nothing is delivered there until "
                    + "ingestd sign-in \(name) --token FILE")
        case .parked:
            StandardError.print(
                "\(name) wants the user to sign in again: nothing is delivered there until "
                    + "ingestd sign-in \(name) --token FILE")
        }
        let junction = Junction(session: session)
        let worker = DeliveryWorker(
            name: name, gateway: configuration.gateway.id, store: parts.store,
            destination: logged(junction, name),
            account: user, holdsSession: { await session.isOpen() },
            batching: BatchSettings(
                maxRecords: destination.batch.maximumRecords, maxWait: destination.batch.maximumWait),
            clock: clock, events: parts.events, heartbeat: parts.pulse.register(name))
        return SessionDelivery(
            destination: name, user: user,
            delivery: Delivery(
                to: name, by: worker, atEnd: { await session.settle(within: Self.settling) },
                renew: { configuration in
                    junction.use(providers: configuration.junctionProviders)
                    await junction.renew()
                    worker.retryNow()
                }), junction: session)
    }

    private func access(_ destination: DestinationSettings) -> JunctionSession.Access {
        switch destination.junctionAuth {
        case .signInToken: .signInToken
        case .apiKey:
            .apiKey { [credentials, name = destination.credential] in
                guard let name, let key = try credentials.read(name).text else { return "" }
                return key
            }
        }
    }
}

extension Configuration {
    /// What the file says of a destination of type junction.
    func junctionSettings(_ destination: DestinationSettings, user: String) -> JunctionSettings {
        JunctionSettings(
            user: user, url: destination.url, region: destination.region,
            environment: destination.environment, timeZone: gateway.timeZone ?? Self.systemTimeZone,
            providers: junctionProviders)
    }

    /// What the catalogue says of its models, by their numbers.
    fileprivate var junctionProviders: [Int: String] {
        Dictionary(
            uniqueKeysWithValues: catalogue.models.compactMap { model in
                model.junctionProvider.map { (model.id, $0) }
            })
    }

    /// The name of the system's zone, which /etc/localtime links to (localtime(5)).
    private static var systemTimeZone: String {
        let directory = "/zoneinfo/"
        guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/etc/localtime"),
            let range = target.firstRange(of: directory), range.upperBound < target.endIndex
        else { return "UTC" }
        return String(target[range.upperBound...])
    }
}
