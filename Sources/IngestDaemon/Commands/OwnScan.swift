import Synchronization

/// A scan by the command itself, where no service has the radio.
struct OwnScan: Sendable {
    /// How long an adapter may take until it can scan. To power one on takes some seconds.
    private static let patience = Duration.seconds(10)
    private static let pace = Duration.milliseconds(250)

    let configuration: Configuration
    let duration: Duration

    func run(on management: consuming ManagementDescriptor) async throws -> [AirDevice] {
        let clock = SystemClock()
        let loop = try RadioLoop(clock: clock)
        defer { loop.stop() }
        let radio = BlueZRadio(
            management: management.channel(on: loop),
            connector: KernelConnector(loop: loop, sockets: LinkSockets(nil), isBonded: { _ in false }),
            loop: loop, clock: clock,
            settings: BlueZRadio.Settings(
                selection: configuration.adapterSelection,
                isBluetoothdRunning: { await SystemBus.hasOwner("org.bluez") }))
        let survey = Survey()
        // With nothing to listen for, adapters are only made ready.
        let listening = Task { try await radio.listen(for: AdvertisementFilter()) }
        var failure: ActiveScanError?
        do throws(ActiveScanError) {
            try await scan(radio, survey, clock)
        } catch {
            failure = error
        }
        listening.cancel()
        let end = await listening.result
        Progress.end()
        if case .failure(let error as ManagementError) = end { throw CommandFailure(error) }
        if let failure { throw CommandFailure(.unavailable, failure.message) }
        let list = configuration.allowList
        return survey.state.withLock { $0.devices(allowed: list) { _ in nil } }
    }

    /// Scans as soon as an adapter can.
    private func scan(
        _ radio: BlueZRadio, _ survey: Survey, _ clock: SystemClock
    ) async throws(ActiveScanError) {
        let deadline = clock.now + Self.patience
        while true {
            let progress = Task {
                let end = clock.now + duration
                repeat {
                    let left = Int(end.since(clock.now).components.seconds)
                    Scan.showProgress(found: survey.state.withLock(\.count), left: max(0, left))
                } while (try? await clock.sleep(for: .seconds(1))) != nil
            }
            defer { progress.cancel() }
            do throws(ActiveScanError) {
                return try await radio.scanActively(for: duration) { advertisement in
                    survey.state.withLock { $0.add(advertisement) }
                }
            } catch {
                guard clock.now < deadline, (try? await clock.sleep(for: Self.pace)) != nil else {
                    throw error
                }
            }
        }
    }

    private final class Survey: Sendable {
        let state = Mutex(AirSurvey())
    }
}
