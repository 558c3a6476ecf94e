import ServiceLifecycle
import UnixSignals

/// Reads the configuration again at SIGHUP, and the credentials that are given as paths. What is
/// valid is applied without dropping a read or a request; what is not leaves everything as it was. A
/// signal that came during the start (`ReloadSignal`) is answered when this begins.
struct Reloader: Service {
    let events: EventLog
    let passive: PassiveGateway
    let queue: SQLiteQueue
    let deliveries: [Delivery]
    let hooks: Hooks
    let log: SubsystemLog
    let current: Configuration
    let read: @Sendable () throws(CommandFailure) -> Configuration

    func run() async throws {
        await cancelWhenGracefulShutdown { await reloadWhenTold() }
    }

    private func reloadWhenTold() async {
        var current = current
        let signals = await UnixSignalsSequence(trapping: .sighup)
        if ReloadSignal.wasNoted { current = await reload(current) }
        for await _ in signals { current = await reload(current) }
    }

    /// - Returns: what is in force afterwards.
    private func reload(_ current: Configuration) async -> Configuration {
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
            hooks.apply(next.hooks)
            log.apply(next.logging)
            for delivery in deliveries { await delivery.renew(next) }
            events.emit(.configReloaded)
            return next
        } catch {
            StandardError.print(error.message)
            events.emit(.configRejected(error: error.eventText))
            return current
        }
    }
}
