import ServiceLifecycle
import Synchronization
import UnixSignals

/// Reads the configuration again at SIGHUP and when a command asks for it, and the credentials that are given as paths. What
/// is valid is applied without dropping a read or a request; what is not leaves everything as it was. A signal that came
/// during the start (`ReloadSignal`) is answered when this begins.
actor Reloader: Service {
    private let events: EventLog
    private let passive: PassiveGateway
    private let queue: SQLiteQueue
    private let deliveries: [Delivery]
    private let hooks: Hooks
    private let log: SubsystemLog
    private let standing: ReloadStanding
    private let credentials: CredentialStanding
    private let read: @Sendable () throws(CommandFailure) -> Configuration
    /// What is in force.
    private var current: Configuration
    /// Reloads come one at a time, in the order in which they were asked for.
    private var last: Task<CommandFailure?, Never>?

    init(
        events: EventLog, passive: PassiveGateway, queue: SQLiteQueue, deliveries: [Delivery], hooks: Hooks,
        log: SubsystemLog, standing: ReloadStanding, credentials: CredentialStanding,
        current: Configuration,
        read: @escaping @Sendable () throws(CommandFailure) -> Configuration
    ) {
        self.events = events
        self.passive = passive
        self.queue = queue
        self.deliveries = deliveries
        self.hooks = hooks
        self.log = log
        self.standing = standing
        self.credentials = credentials
        self.current = current
        self.read = read
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { await self.reloadWhenTold() }
    }

    private func reloadWhenTold() async {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        if ReloadSignal.wasNoted { _ = await reload() }
        for await _ in signals { _ = await reload() }
    }

    /// - Returns: why what was read is not in force; nil if it is.
    func reload() async -> CommandFailure? {
        let before = last
        let reload = Task {
            _ = await before?.value
            return await self.apply()
        }
        last = reload
        return await reload.value
    }

    private func apply() async -> CommandFailure? {
        do throws(CommandFailure) {
            let next = try read()
            let sections = current.sectionsForRestart(to: next)
            guard sections.isEmpty else {
                throw CommandFailure(
                    .configuration,
                    "changes to \(sections.joined(separator: ", ")) need a restart of the service")
            }
            await passive.apply(next.allowList, timing: next.passiveTiming)
            queue.route(next.routings)
            queue.tellMeasurements(next.events.includesValues)
            hooks.apply(next.hooks)
            log.apply(next.logging)
            for delivery in deliveries { await delivery.renew(next) }
            credentials.note(next.destinations)
            current = next
            standing.note(nil)
            events.emit(.configReloaded)
            return nil
        } catch {
            StandardError.print(error.message)
            standing.note(error.eventText)
            events.emit(.configRejected(error: error.eventText))
            return error
        }
    }
}

/// Whether the last reload was taken, for the status.
final class ReloadStanding: Sendable {
    private let last = Mutex<String?>(nil)

    /// Why the last reload was rejected, without names of devices and persons; nil if it was taken, or there was none.
    var rejection: String? { last.withLock { $0 } }

    func note(_ rejection: String?) { last.withLock { $0 = rejection } }
}
