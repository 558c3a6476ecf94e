/// A read: the device is waited for, read once, and what it gives is shown before it is queued.
extension OperatorOrders {
    /// Adverts that wait to be looked at.
    private static let mostWaiting = 64
    /// How long the operator's side may take to fetch a reading before it is queued. The device waits for its
    /// confirmation up to 30 s (Core Specification Vol 3 Part F 3.3.3), and the queue must not wait for a terminal.
    private static let showing = Duration.seconds(2)
    /// Links that may fail before the read has.
    private static let mostFailures = 3
    /// Between two of them.
    private static let backOff = Duration.seconds(2)
    /// Readings that are shown, and octets of their records; the memory of a meter may hold more.
    static let mostShown = 1_000
    fileprivate static let mostShownOctets = 4 << 20
    /// An advert that waited for longer says nothing of who is there now.
    private static let advertAge = Duration.seconds(3)

    private struct Candidate: Sendable {
        let device: DeviceAddress
        let entry: AllowedPeripheral
        let adapter: AdapterID
        /// Whether nobody has heard it: it shows itself to its central alone.
        let isDirected: Bool

        var step: OperatorStep {
            let name = "\(entry.model.name) at \(device.address)"
            return isDirected
                ? OperatorStep(.waiting, "Waiting for \(name), which shows itself to this box alone.")
                : OperatorStep(.reading, "Reading \(name).")
        }
    }

    private enum Input: Sendable {
        case heard(Advertisement, at: MonotonicInstant)
        case tick
    }

    func read(_ read: OperatorRead, _ job: OperatorJob) async {
        let list = await gateway.allowList
        let clock = ports.clock
        let (inputs, input) = AsyncStream.makeStream(
            of: Input.self, bufferingPolicy: .bufferingNewest(Self.mostWaiting))
        await gateway.hold { advertisement in
            if Self.entry(of: advertisement, in: list, read.target) != nil {
                input.yield(.heard(advertisement, at: clock.now))
            }
            return false
        }
        let ticks = Task {
            repeat { input.yield(.tick) } while (try? await clock.sleep(for: Self.pace)) != nil
        }
        var device: DeviceAddress?
        let last = await withTaskCancellationHandler {
            await readOnce(read, job, inputs, &device)
        } onCancel: {
            input.finish()
        }
        ticks.cancel()
        // Its link has just ended: what it still has is read when it shows itself again.
        await gateway.release(after: device)
        await job.add(last)
    }

    /// - Parameter device: is set to who was read.
    /// - Returns: the last step.
    private func readOnce(
        _ read: OperatorRead, _ job: OperatorJob, _ inputs: AsyncStream<Input>, _ device: inout DeviceAddress?
    ) async -> OperatorStep {
        if let obstacle = await readsEnded(job) { return obstacle }
        let end = ports.clock.now + read.timeout
        let seconds = Int(read.timeout.components.seconds)
        await job.add(OperatorStep(.waiting, "Waiting for the device, \(seconds) s at most."))
        var failures = 0
        var notBefore = ports.clock.now
        var awaited: DeviceAddress?
        for await input in inputs {
            // What came before it was stopped is in the stream still.
            if Task.isCancelled { break }
            let now = ports.clock.now
            guard now >= notBefore, let candidate = await candidate(input, read.target) else {
                if now >= end { return await notSeen(seconds) }
                continue
            }
            if read.isDryRun, candidate.entry.model.has(.subscribeOnlyToRead) {
                return OperatorStep(
                    .failed,
                    "\(candidate.entry.model.name) gives a reading once only, so a dry run could lose it: "
                        + "read it without --dry-run", reason: .givenOnce)
            }
            if !candidate.isDirected || awaited != candidate.device {
                await job.add(candidate.step)
            }
            let view = ReadView(job: job, isDryRun: read.isDryRun, showing: Self.showing)
            let outcome = await gateway.readForOperator(
                candidate.device, as: candidate.entry, over: candidate.adapter,
                isDirected: candidate.isDirected, view.observer)
            if Task.isCancelled { break }
            guard let outcome else {
                // It was not there, which is no failure: nobody had heard it.
                awaited = candidate.device
                if ports.clock.now >= end { return await notSeen(seconds) }
                continue
            }
            device = candidate.device
            switch await view.verdict(outcome, candidate.entry) {
            case .done(let step), .failed(let step): return step
            case .tryAgain(let step):
                failures += 1
                guard failures < Self.mostFailures, ports.clock.now < end else { return step }
                await job.add(OperatorStep(.waiting, "\(step.text ?? ""); waiting for it again."))
                notBefore = ports.clock.now + Self.backOff
            }
        }
        return OperatorStep(.failed, "it was stopped", reason: .cancelled)
    }

    private func notSeen(_ seconds: Int) async -> OperatorStep {
        if await gateway.listeningAdapters == 0 {
            return OperatorStep(.failed, "no adapter listens: ingestd status says why", reason: .noAdapter)
        }
        return OperatorStep(
            .failed,
            "it did not show itself within \(seconds) s: wake it up as for a measurement, near the box",
            reason: .notSeen)
    }

    /// Who is to be read now: who was heard over an adapter that may read it, or who no scan reports.
    private func candidate(_ input: Input, _ target: PairingTarget) async -> Candidate? {
        switch input {
        case .heard(let advertisement, let instant):
            // The list may have changed since the read began.
            guard ports.clock.now.since(instant) <= Self.advertAge,
                let entry = Self.entry(of: advertisement, in: await gateway.allowList, target),
                await gateway.mayRead(advertisement.device, over: advertisement.adapter)
            else { return nil }
            return Candidate(
                device: advertisement.device, entry: entry, adapter: advertisement.adapter, isDirected: false)
        case .tick:
            guard let (device, entry, adapter) = await gateway.directedDevice(of: target) else { return nil }
            return Candidate(device: device, entry: entry, adapter: adapter, isDirected: true)
        }
    }

    private static func entry(
        of advertisement: Advertisement, in list: AllowList, _ target: PairingTarget
    ) -> AllowedPeripheral? {
        guard let entry = list.match(advertisement), entry.broadcastFormat == nil,
            entry.isMeant(by: target, advertisement.device)
        else { return nil }
        return entry
    }
}

/// What the operator was shown of one link, and what came of it.
private actor ReadView {
    enum Verdict {
        case done(OperatorStep)
        case failed(OperatorStep)
        /// The device may be read when it shows itself again.
        case tryAgain(OperatorStep)
    }

    private let job: OperatorJob
    private let isDryRun: Bool
    private let showing: Duration
    private var given = 0
    private var shown = 0
    private var octets = 0
    private var added = 0
    private var known = 0
    private var hasHungUp = false

    init(job: OperatorJob, isDryRun: Bool, showing: Duration) {
        self.job = job
        self.isDryRun = isDryRun
        self.showing = showing
    }

    nonisolated var observer: ReadObserver {
        ReadObserver(
            isDryRun: isDryRun, show: { await self.show($0) }, queued: { await self.queued($0) },
            hungUp: { await self.hungUp() })
    }

    private func show(_ readings: [ReadObserver.Shown]) async {
        given += readings.count
        for reading in readings {
            let json = reading.record.json
            guard shown < OperatorOrders.mostShown,
                octets + json.utf8.count <= OperatorOrders.mostShownOctets
            else { break }
            shown += 1
            octets += json.utf8.count
            var step = OperatorStep(.record)
            step.record = json
            step.error = reading.decodeError
            await job.add(step)
        }
        await job.taken(within: showing)
    }

    private func queued(_ outcomes: [CommitOutcome]) {
        for outcome in outcomes {
            switch outcome {
            case .committed: added += 1
            case .duplicate: known += 1
            }
        }
    }

    private func hungUp() {
        hasHungUp = true
    }

    func verdict(_ outcome: ReadSession.Outcome, _ entry: AllowedPeripheral) -> Verdict {
        switch outcome {
        case .succeeded: return .done(OperatorStep(.done, summary))
        case .failed where isDryRun && hasHungUp: return .done(OperatorStep(.done, summary))
        case .failed(let failure):
            let text = "the read failed: \(failure.message)" + (added + known > 0 ? ". \(counts)" : "")
            let step = OperatorStep(.failed, text, reason: .readFailed)
            // What was shown is not shown again.
            return given > 0 ? .failed(step) : .tryAgain(step)
        case .gaveWay, .noMoreLinks:
            // Nothing else is read while an order is carried out.
            return .tryAgain(
                OperatorStep(.failed, "the read ended for another device", reason: .readFailed))
        case .refused:
            return .failed(
                OperatorStep(
                    .failed,
                    "it is not read without a bond that works: \(BondTable.pairIt(entry))",
                    reason: .noBond))
        case .dayIsFull:
            let text = "the read ended: \(DailyAllowance.message)" + (added + known > 0 ? ". \(counts)" : "")
            return .failed(OperatorStep(.failed, text, reason: .readFailed))
        case .storeUnusable(let error):
            return .failed(OperatorStep(.failed, "the queue: \(error)", reason: .storeError))
        }
    }

    private var counts: String { "Queued: \(added) new, \(known) known already." }

    private var summary: String {
        var words: [String] = []
        if isDryRun {
            words.append("Dry run: nothing was queued or confirmed, and no mark was moved.")
            if given == 0 {
                words.append("It gave no whole reading before the first thing that wants to be confirmed.")
            } else if !hasHungUp {
                words.append("Nothing that it gave wants to be confirmed, so it may not give it again.")
            }
        } else {
            words.append(counts)
        }
        let hidden = given - shown
        if hidden > 0 { words.append("\(hidden) more are not shown.") }
        return words.joined(separator: " ")
    }
}
