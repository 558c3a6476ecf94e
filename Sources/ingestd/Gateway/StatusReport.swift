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
        var questions = Questions()
        let undated = isClockRight ? 0 : (await questions.ask { try await store.undatedCount() } ?? 0)
        let peripherals = await peripherals(&questions)
        let destinations = await destinations(&questions)
        let room = await room(&questions)
        return GatewayStatus(
            version: Version.current, gateway: gateway, uptime: seconds(since: started),
            isClockRight: isClockRight, undated: undated, adapters: await passive.adapterStatus,
            peripherals: peripherals, destinations: destinations, queue: room,
            troubles: troubles(questions))
    }

    /// Questions to the queue, which a disk can keep from answering.
    private struct Questions {
        /// Why the last one that failed did.
        private(set) var failure: String?

        mutating func ask<Value>(_ question: () async throws -> Value) async -> Value? {
            do {
                return try await question()
            } catch {
                failure = "\(error)"
                return nil
            }
        }
    }

    private func troubles(_ questions: Questions) -> [String] {
        var found: [String] = []
        if let words = questions.failure { found.append("the queue cannot be asked: \(words)") }
        if let words = control.obstacle {
            found.append("the control socket cannot be used (\(words)): commands do not work")
        }
        return found
    }

    private func peripherals(_ questions: inout Questions) async -> [GatewayStatus.Peripheral] {
        var found: [GatewayStatus.Peripheral] = []
        for var known in await passive.knownPeripherals() {
            for device in known.devices {
                guard let memory = await questions.ask({ try await store.recall(device) }) ?? nil else {
                    continue
                }
                known.status.battery = memory.battery
                // Its bond was lost while the service did not run.
                if memory.bondedAdapter != nil, known.status.isBonded == false {
                    known.status.state = .bondMissing
                }
            }
            if let address = known.devices.first?.address {
                let commit = await questions.ask { try await store.newestCommit(of: address) } ?? nil
                known.status.lastReading = commit.map(age)
            }
            found.append(known.status)
        }
        return found
    }

    private func destinations(_ questions: inout Questions) async -> [GatewayStatus.Destination] {
        let counts = await questions.ask { try await store.destinationCounts() } ?? []
        let absent = await questions.ask { try await store.absentDestinations() } ?? []
        var found: [GatewayStatus.Destination] = []
        for count in counts {
            guard let delivery = deliveries.first(where: { $0.destination == count.name }) else {
                let owed = absent.first { $0.name == count.name }?.owed ?? 0
                if owed > 0 || count.dead > 0 { found.append(.init(notConfigured: count, owed: owed)) }
                continue
            }
            let isSignedOut =
                await questions.ask { try await sessions.isSignedIn(at: count.name) } ?? nil == false
            let report = delivery.report()
            found.append(
                GatewayStatus.Destination(
                    name: count.name,
                    state: isSignedOut ? GatewayStatus.Destination.signedOut : count.state.rawValue,
                    pending: count.pending, oldest: count.oldest.map(age), submitted: count.delivered,
                    failed: count.dead, skipped: count.skipped,
                    lastSubmit: report.lastSubmit.map(seconds), lastError: report.lastError,
                    nextTry: report.nextTry.map { max(0, -seconds(since: $0)) }))
        }
        return found
    }

    private func room(_ questions: inout Questions) async -> GatewayStatus.Queue {
        GatewayStatus.Queue(
            bytes: await questions.ask { try await store.usedBytes() }, maximumBytes: queue.maximumSize,
            level: keeper.level.word, diskFreeBytes: try? disk.freeBytes())
    }

    private func seconds(since instant: MonotonicInstant) -> Int {
        Int(clock.now.since(instant).components.seconds)
    }

    /// Since a moment of the wall clock, in nanoseconds since 1970; none where that moment is to come.
    private func age(_ nanoseconds: Int64) -> Int {
        Int(max(0, (clock.wallNanoseconds - nanoseconds) / 1_000_000_000))
    }
}

extension GatewayStatus.Destination {
    /// One that the configuration does not name any more.
    fileprivate init(notConfigured count: DestinationCount, owed: Int) {
        self.init(
            name: count.name, state: Self.notConfigured, pending: owed, submitted: count.delivered,
            failed: count.dead, skipped: count.skipped)
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
