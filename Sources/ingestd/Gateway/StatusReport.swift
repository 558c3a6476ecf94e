import IngestKit

/// Asks all parts of the gateway how it fares.
struct StatusReport: Sendable {
    let gateway: String
    let clock: JudgedClock
    let started: MonotonicInstant
    let passive: PassiveGateway
    let store: SQLiteRecordStore
    let keeper: QueueKeeper
    let queue: Configuration.Queue
    let disk: DirectorySpace
    let deliveries: [Delivery]
    let sessions: Sessions
    let control = ControlStanding()

    func now() async -> GatewayStatus {
        let isClockRight = clock.trustedWallNanoseconds != nil
        return GatewayStatus(
            version: Version.current, gateway: gateway, uptime: seconds(since: started),
            isClockRight: isClockRight,
            undated: isClockRight ? 0 : (try? await store.undatedCount()) ?? 0,
            adapters: await passive.adapterStatus, peripherals: await peripherals(),
            destinations: await destinations(), queue: await room(), troubles: troubles())
    }

    private func troubles() -> [String] {
        control.obstacle.map { ["the control socket cannot be used (\($0)): commands do not work"] } ?? []
    }

    private func peripherals() async -> [GatewayStatus.Peripheral] {
        var found: [GatewayStatus.Peripheral] = []
        for var known in await passive.knownPeripherals {
            if let device = known.device {
                known.status.battery = (try? await store.recall(device))?.battery
                let commit = try? await store.newestCommit(of: device.address)
                known.status.lastReading = commit.map(age)
            }
            found.append(known.status)
        }
        return found
    }

    private func destinations() async -> [GatewayStatus.Destination] {
        let counts = (try? await store.destinationCounts()) ?? []
        var found: [GatewayStatus.Destination] = []
        for count in counts {
            // One that is not configured any more is not delivered to.
            guard let delivery = deliveries.first(where: { $0.destination == count.name }) else { continue }
            let report = delivery.report()
            let isSignedOut = (try? await sessions.isSignedIn(at: count.name)) == false
            found.append(
                GatewayStatus.Destination(
                    name: count.name,
                    state: isSignedOut ? GatewayStatus.Destination.signedOut : count.state.rawValue,
                    pending: count.pending,
                    oldest: count.oldest.map(age), submitted: count.delivered, failed: count.dead,
                    skipped: count.skipped,
                    lastSubmit: report.lastSubmit.map(seconds), lastError: report.lastError,
                    nextTry: report.nextTry.map { max(0, -seconds(since: $0)) }))
        }
        return found
    }

    private func room() async -> GatewayStatus.Queue {
        GatewayStatus.Queue(
            bytes: (try? await store.usedBytes()) ?? 0, maximumBytes: queue.maximumSize,
            level: keeper.level.word,
            diskFreeBytes: try? disk.freeBytes())
    }

    private func seconds(since instant: MonotonicInstant) -> Int {
        Int(clock.now.since(instant).components.seconds)
    }

    /// Since a moment of the wall clock, in nanoseconds since 1970; none where that moment is to come.
    private func age(_ nanoseconds: Int64) -> Int {
        Int(max(0, (clock.wallNanoseconds - nanoseconds) / 1_000_000_000))
    }
}

extension QueueKeeper.Level {
    fileprivate var word: String {
        switch self {
        case .normal: "normal"
        case .high: "high"
        case .full: "full"
        case .diskFull: "disk-full"
        }
    }
}
