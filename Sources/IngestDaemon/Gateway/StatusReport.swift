/// Asks all parts of the gateway how it fares.
struct StatusReport: Sendable {
    let gateway: String
    let clock: JudgedClock
    let started: MonotonicInstant
    let passive: PassiveGateway
    let overview: QueueOverview
    let keeper: QueueKeeper
    let queue: Configuration.Queue
    let disk: DirectorySpace
    let deliveries: [Delivery]
    let sessions: Sessions
    /// Of the tags that stand for addresses where everybody may read.
    let key: TagKey
    let kernelDefect: KernelDefect?
    let sockets: LinkSockets
    let journal: TaggingSink
    let counts: CountingSink
    let reloads: ReloadStanding
    let credentials: CredentialStanding
    let documents: StatusStanding
    let control = ControlStanding()

    /// A command waits for the status.
    private static let longestQuestion = Duration.seconds(2)
    /// An entry that is not taken for so long is no matter of a busy journal any more.
    private static let longestTelling = 30

    func now() async -> GatewayStatus {
        let known = await passive.knownPeripherals()
        var answer: QueueStatus?
        var troubles: [String] = []
        do {
            answer = try await overview.status(
                of: known.flatMap(\.devices), within: Self.longestQuestion)
            if answer == nil {
                let seconds = overview.waitingTime.components.seconds
                troubles.append("the disk does not answer for \(seconds) s: the queue cannot be asked")
            }
        } catch {
            troubles.append("the queue cannot be asked: \(error)")
        }
        if let words = control.obstacle {
            troubles.append("the control socket cannot be used (\(words)): commands do not work")
        }
        let telling = journal.standing
        if let since = telling.triedSince.map(seconds), since >= Self.longestTelling {
            let dropped = telling.dropped.counted("that is no record's was", "that are no record's were")
            troubles.append(
                "nobody takes events (the journal, or who reads standard output) for \(since) s: they are kept"
                    + (telling.dropped > 0 ? ", \(dropped) dropped" : ""))
        }
        let rejection = reloads.rejection
        if let rejection {
            troubles.append(
                "the last reload was rejected, and what was in force before still is: \(rejection)")
        }
        if let kernelDefect { troubles.append(message(of: kernelDefect)) }
        troubles += await credentials.problems(by: clock)
        troubles += documents.problems
        let isClockRight = clock.trustedWallNanoseconds != nil
        var status = GatewayStatus(
            version: Version.current, gateway: gateway, uptime: seconds(since: started),
            isClockRight: isClockRight, undated: isClockRight ? 0 : answer?.undated ?? 0,
            adapters: await passive.adapterStatus,
            peripherals: known.map { peripheral($0, answer) },
            destinations: await destinations(answer?.destinations ?? []),
            queue: GatewayStatus.Queue(
                bytes: answer?.usedBytes, maximumBytes: queue.maximumSize, level: keeper.level.word,
                diskFreeBytes: try? disk.freeBytes(),
                strangers: GatewayStatus.Strangers(
                    bytes: answer?.strangerBytes, share: keeper.strangerShare, full: keeper.fullStrangers)),
            kernelDefect: kernelDefect?.version, rejectedReload: rejection, troubles: troubles)
        status.activity = counts.activity
        status.startedAt = started
        status.clocks = clock.reading
        return status
    }

    private func message(of defect: KernelDefect) -> String {
        let kept = sockets.keptDescriptors.count
        guard kept > 0 else { return defect.message }
        return defect.message + " (\(kept) of \(LinkSockets.mostKept) sockets are kept open because of it"
            + (kept < LinkSockets.mostKept ? ")" : ": nothing is read over a link any more)")
    }

    private func peripheral(
        _ known: PassiveGateway.KnownPeripheral, _ answer: QueueStatus?
    ) -> GatewayStatus.Peripheral {
        var status = known.status
        status.tag = status.address.map(key.tag(ofDevice:))
        for memory in known.devices.compactMap({ answer?.memories[$0] }) {
            status.battery = memory.battery
            // Its bond was lost while the service did not run.
            if memory.bondedAdapter != nil, status.isBonded == false { status.state = .bondMissing }
        }
        status.readAt = known.devices.first.flatMap { answer?.newestCommits[$0.address] }
        status.lastReading = status.readAt.map(age)
        return status
    }

    private func destinations(_ counts: [DestinationCount]) async -> [GatewayStatus.Destination] {
        var found: [GatewayStatus.Destination] = []
        for count in counts {
            guard let delivery = deliveries.first(where: { $0.destination == count.name }) else {
                if count.owed > 0 || count.dead > 0 { found.append(.init(notConfigured: count)) }
                continue
            }
            let isSignedOut = await isSignedOut(of: count)
            let report = delivery.report()
            var status = GatewayStatus.Destination(
                name: count.name,
                state: isSignedOut ? GatewayStatus.Destination.signedOut : count.state.rawValue,
                pending: count.pending, oldest: count.oldest.map(age), submitted: count.delivered,
                failed: count.dead, skipped: count.skipped,
                lastSubmit: report.lastSubmit.map(seconds), lastError: report.lastError,
                nextTry: report.nextTry.map { max(0, -seconds(since: $0)) },
                user: count.session?.account, userID: await delivery.session?.knownUserID,
                authentication: delivery.authentication.map(\.rawValue))
            status.oldestAt = count.oldest
            found.append(status)
        }
        return found
    }

    private func isSignedOut(of count: DestinationCount) async -> Bool {
        guard let session = count.session else { return false }
        return await sessions.isSignedIn(at: count.name, session) == false
    }

    private func seconds(since instant: MonotonicInstant) -> Int {
        Int(clock.now.since(instant).components.seconds)
    }

    /// Since a moment of the wall clock, in nanoseconds since 1970; none where that moment is to come.
    private func age(_ nanoseconds: Int64) -> Int {
        Int(max(0, clock.wallNanoseconds.heldMinus(nanoseconds) / 1_000_000_000))
    }
}

extension GatewayStatus.Destination {
    /// One that the configuration does not name any more.
    fileprivate init(notConfigured count: DestinationCount) {
        self.init(
            name: count.name, state: Self.notConfigured, pending: count.owed, submitted: count.delivered,
            failed: count.dead, skipped: count.skipped)
    }
}

extension QueueLevel {
    fileprivate var word: String {
        switch self {
        case .normal: "normal"
        case .high: "high"
        case .full: "full"
        case .diskFull: "disk-full"
        }
    }
}
