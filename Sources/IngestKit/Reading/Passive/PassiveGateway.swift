/// Drives passive reading: what the radio hears goes to the scheduler, what the scheduler wants
/// read is read, and how that ended goes back to it.
package actor PassiveGateway {
    /// What the gateway needs of its surroundings.
    package struct Ports: Sendable {
        package var radio: any Radio
        package var store: any RecordStore
        package var devices: any DeviceStore
        package var events: EventLog
        package var clock: any GatewayClock
        /// Nil where nobody keeps bonds.
        package var bondKeeper: (any BondKeeper)?
        /// Reads the bind key of an encrypted broadcast by the name of its credential, anew.
        package var bindKey: @Sendable (String) throws(BindKeyError) -> BindKey
        package var log: SubsystemLog

        package init(
            radio: any Radio, store: any RecordStore, devices: any DeviceStore, events: EventLog,
            clock: any GatewayClock,
            log: SubsystemLog = .silent, bondKeeper: (any BondKeeper)? = nil,
            bindKey: @escaping @Sendable (String) throws(BindKeyError) -> BindKey = {
                name throws(BindKeyError) in
                throw .notAKey(name)
            }
        ) {
            self.bindKey = bindKey
            self.log = log
            self.bondKeeper = bondKeeper
            self.radio = radio
            self.store = store
            self.devices = devices
            self.events = events
            self.clock = clock
        }
    }

    struct Request: Sendable {
        let device: DeviceAddress
        let entry: AllowedPeripheral
        let adapter: AdapterID
        let attempt: Int
        /// Whether its link is a standing attempt that waits for the peripheral.
        var isStanding = false
        /// Whether an operator has it read whom nobody has heard.
        var isDirected = false
        /// Whether only the device's clock is to be set.
        var isForClock = false
        /// The operator who asked for it and looks on.
        var observer: ReadObserver?
    }

    let ports: Ports
    let environment: ReadSession.Environment
    let broadcasts: BroadcastReader
    package internal(set) var allowList: AllowList
    var scheduler: ReadScheduler
    var attempts = StandingAttempts()
    let bonding: BondKeeping
    /// The order that has the radio.
    var holder: RadioHold?
    /// Reads that were started and have not ended.
    var readsUnderWay = 0
    /// The same of standing attempts.
    var attemptsUnderWay = 0
    /// One reader.
    package nonisolated let wishes: AsyncStream<Wish>
    let wish: AsyncStream<Wish>.Continuation
    var uncomparedClocks = UncomparedClocks()
    var strangers = StrangerMemories()
    var spent = SpentDevices()
    private(set) var takesReadings = true
    /// Whether the queue's disk answers.
    private(set) var diskAnswers = true
    var underWay = ReadsUnderWay()
    /// Adapters that listen, by their names at the time.
    private(set) var listening: Set<AdapterID> = []
    private(set) var adapterStates: [AdapterState] = []
    /// Raised when `adapterStatus` is another.
    package nonisolated let adapterChanges = WakeUp()
    /// Reads that the scheduler has started.
    private let requests: AsyncStream<Request>
    let requestsContinuation: AsyncStream<Request>.Continuation
    /// Set when the queue was found to be of no further use outside of these reads.
    var unusableStore: StoreError?
    /// Raised when the next deadline may have become earlier.
    private let deadlines = WakeUp()
    private var alarm: MonotonicInstant?
    /// Adapters of which the radio is to tell the next advert, whoever's.
    private(set) var watched: Set<AdapterID> = []
    /// Raised when `watched` is another.
    private let watches = WakeUp()

    /// - Parameters:
    ///   - factory: makes the records of this gateway.
    ///   - links: how many each adapter may have at a time, 1 to 8.
    package init(
        ports: Ports, factory: RecordFactory, allowList: AllowList, timing: PassiveTiming, links: Int = 3
    ) {
        self.ports = ports
        self.allowList = allowList
        environment = ReadSession.Environment(
            store: ports.store, devices: ports.devices, events: ports.events, clock: ports.clock,
            factory: factory,
            log: ports.log)
        broadcasts = BroadcastReader(ports: ports, factory: factory)
        bonding = BondKeeping(ports)
        (wishes, wish) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.mostWishes))
        scheduler = ReadScheduler(timing: timing, links: links)
        // Without adapters and bonds there is nothing to do yet.
        _ = scheduler.allow(allowList, at: ports.clock.now)
        (requests, requestsContinuation) = AsyncStream.makeStream()
    }

    /// Reads until the task is cancelled; reads under way are ended then.
    /// - Throws: what the radio cannot live with.
    package func run() async throws {
        await noteFirstSeen()
        // If the queue cannot be read now, each read asks again, and until one succeeds none is paired automatically.
        try? await bonding.recall()
        if let strangers = try? await ports.devices.rememberedStrangers() { scheduler.know(strangers) }
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                // The group waits for the loop over the requests, which nothing else would end.
                defer { self.requestsContinuation.finish() }
                try await self.ports.radio.listen(for: self.allowList.filter)
            }
            group.addTask {
                for await advertisement in self.ports.radio.advertisements {
                    await self.heard(advertisement)
                    // While adverts wait, neither call above suspends. On a box with one processor nothing else would run.
                    await Task.yield()
                }
            }
            group.addTask {
                for await states in self.ports.radio.adapters { await self.changed(states) }
            }
            group.addTask {
                for await sign in self.ports.radio.signs { await self.received(sign) }
            }
            group.addTask { await self.keepWatches() }
            group.addTask { await self.keepDeadlines() }
            group.addTask { await self.followBonds() }
            group.addTask { await self.compareClocks() }
            group.addTask {
                defer { self.requestsContinuation.finish() }
                try await self.broadcasts.run()
            }
            for await request in requests {
                group.addTask { try await self.perform(request) }
            }
            // The stream ends with the task's cancellation, the radio or the queue.
            group.cancelAll()
            if let unusableStore { throw unusableStore }
        }
    }

    /// Replaces the allow-list and the times of a running gateway; reads under way go on.
    package func apply(_ list: AllowList, timing: PassiveTiming) async {
        allowList = list
        await noteFirstSeen()
        scheduler.timing = timing
        perform(scheduler.allow(list, at: ports.clock.now))
        bonding.reload()
        await broadcasts.reload()
        await ports.radio.update(filter)
    }

    /// Whether there is room for readings. While there is none nothing is read, and what is broadcast is not used.
    package func setTakesReadings(_ takesReadings: Bool) async {
        guard takesReadings != self.takesReadings else { return }
        self.takesReadings = takesReadings
        let now = ports.clock.now
        perform(takesReadings ? scheduler.resume(at: now) : scheduler.pause(at: now))
    }

    /// Whether the queue's disk answers. While it does not, nothing is read, and links that are there are ended: a
    /// commit that hangs must not hold them.
    package func setDiskAnswers(_ answers: Bool) async {
        guard answers != diskAnswers else { return }
        diskAnswers = answers
        let now = ports.clock.now
        perform(answers ? scheduler.resume(at: now) : scheduler.pause(at: now))
        guard !answers else { return }
        for session in underWay.sessions { await session.letGo() }
    }

    /// From now on these unpinned devices are left alone for want of room, and no others.
    package func setFullStrangers(_ full: FullStrangers) async {
        perform(scheduler.leaveAlone(full, at: ports.clock.now))
        await broadcasts.leaveAlone(full)
    }

    /// How many adapters listen now.
    package var listeningAdapters: Int { listening.count }

    /// Devices and users that are new on the list are known from now on.
    private func noteFirstSeen() async {
        do {
            try await ports.devices.noteFirstSeen(allowList.entries)
        } catch {
            ports.events.emit(storeError: error)
        }
    }

    // MARK: Inputs

    private func heard(_ advertisement: Advertisement) {
        guard holder?.listener(advertisement) != true, let entry = allowList.match(advertisement) else {
            return
        }
        ports.log.heard(advertisement, as: entry)
        // Never connected to, and no matter of the scheduler's debounce.
        let isFull =
            !takesReadings || !diskAnswers
            || scheduler.fullStrangers.include(advertisement.device.address, entry)
        guard !isFull || entry.broadcastFormat == nil else { return }
        guard !broadcasts.takes(advertisement, as: entry) else { return }
        guard mayBeRead(advertisement, as: entry),
            spent.admits(advertisement.device, at: advertisement.received)
        else { return }
        perform(scheduler.heard(advertisement, as: entry))
    }

    private func changed(_ states: [AdapterState]) {
        let now = Set(states.filter(\.isListening).map(\.id))
        for adapter in now.subtracting(listening).sorted(by: { $0.index < $1.index }) {
            ports.events.emit(.adapterReady(adapter: adapter.description))
        }
        for adapter in listening.subtracting(now).sorted(by: { $0.index < $1.index }) {
            let reason = states.first { $0.id == adapter }?.reason ?? "unplugged"
            ports.events.emit(.adapterLost(adapter: adapter.description, error: reason))
        }
        for state in states {
            let before = adapterStates.first { $0.id == state.id && $0.address == state.address }?.resets ?? 0
            guard state.resets > before else { continue }
            ports.events.emit(
                .adapterReset(adapter: state.id.description, error: state.resetReason ?? "unknown"))
        }
        listening = now
        adapterStates = states
        adapterChanges.raise()
        ports.log.adapters(states)
        bonding.changed(adapters: states)
        perform(scheduler.adapters(states, at: ports.clock.now))
    }

    func perform(_ actions: [ReadScheduler.Action]) {
        for action in actions {
            ports.log.decided(action)
            switch action {
            case .discovered(let entry, _):
                ports.events.emit(.discovered(entry.reference))
                if entry.model.readyBeforeMeasurement { ports.events.emit(.readyToRead(entry.reference)) }
            case .read(let device, let entry, let adapter, let attempt):
                start(Request(device: device, entry: entry, adapter: adapter, attempt: attempt))
            case .attempt(let device, let entry, let adapter, let attempt):
                start(
                    Request(
                        device: device, entry: entry, adapter: adapter, attempt: attempt, isStanding: true))
            case .withdraw(let device, _):
                attempts.withdraw(device)
            case .giveWay(let device, let why):
                underWay.giveWay(device, why)
            }
        }
        rearm()
    }

    /// Has it read, beside what is being read.
    func start(_ request: Request) {
        if request.isStanding { attemptsUnderWay += 1 } else { readsUnderWay += 1 }
        requestsContinuation.yield(request)
    }

    // MARK: Deadlines

    func rearm() {
        let outlook = scheduler.outlook(at: ports.clock.now)
        if outlook.signs != watched {
            watched = outlook.signs
            watches.raise()
        }
        guard let next = outlook.deadline else { return }
        if let alarm, alarm <= next { return }
        deadlines.raise()
    }

    /// Has the radio watch for what the scheduler waits for.
    private func keepWatches() async {
        while !Task.isCancelled {
            _ = watches.consume()
            await ports.radio.watch(for: watched)
            await watches.wait()
        }
    }

    private func received(_ sign: ReceptionSign) {
        // The radio tells one advert for each watch.
        watched.remove(sign.adapter)
        perform(scheduler.received(on: sign.adapter, at: sign.received))
    }

    /// Wakes the scheduler at its deadlines. One sleep at a time; it is cut short only when a
    /// deadline becomes earlier.
    private func keepDeadlines() async {
        while !Task.isCancelled {
            // Lowered before the deadline is looked at: one that becomes earlier raises it again.
            _ = deadlines.consume()
            guard let next = scheduler.outlook(at: ports.clock.now).deadline else {
                await deadlines.wait()
                continue
            }
            alarm = next
            await withTaskGroup { group in
                group.addTask { try? await self.ports.clock.sleep(until: next) }
                group.addTask { await self.deadlines.wait() }
                await group.next()
                group.cancelAll()
            }
            alarm = nil
            perform(scheduler.wake(at: ports.clock.now))
        }
    }

    // MARK: Reads

    /// - Throws: `StoreError` when the queue is not to be trusted any more.
    private func perform(_ request: Request) async throws {
        let outcome = request.isStanding ? await readStanding(request) : await read(request)
        if request.isStanding { attemptsUnderWay -= 1 } else { readsUnderWay -= 1 }
        guard !hasNotConnected(request) else { return }
        if case .storeUnusable(let error) = outcome {
            // The group waits for the loop over the requests, which nothing else would end.
            requestsContinuation.finish()
            throw error
        }
        tellFailure(outcome, request)
        ports.log.ended(request, outcome)
        perform(
            scheduler.finished(
                request.device, outcome: outcome.ofRead,
                wantsBond: outcome.failure?.isForWantOfBond == true,
                at: ports.clock.now))
    }

    func tellFailure(_ outcome: ReadSession.Outcome, _ request: Request) {
        guard let failure = outcome.failure, !Task.isCancelled else { return }
        ports.events.emit(
            .readFailed(request.entry.reference, error: failure.message, attempt: request.attempt))
    }

    /// Since when the gateway has known the device and its users. Asked for at each read, because a
    /// clock that could not tell may have been set meanwhile.
    private func firstSeen(of entry: AllowedPeripheral) async -> FirstSeen {
        do {
            return try await ports.devices.firstSeen(of: [entry]).first ?? FirstSeen()
        } catch {
            // What is stored in the device then belongs to nobody.
            return FirstSeen()
        }
    }

    func read(_ request: Request) async -> ReadSession.Outcome {
        underWay.begin(request.device)
        defer { underWay.end(request.device) }
        guard let profile = Profiles.named(request.entry.model.profile) else {
            return .failed(ReadFailure(cause: .profileUnknown(request.entry.model.profile)))
        }
        let stored: DeviceMemory?
        do {
            try await bonding.recall()
            stored = try await ports.devices.recall(request.device)
        } catch {
            return .failed(ReadFailure(cause: .queueUnreadable("\(error)")))
        }
        var memory = strangers.memory(of: request.device, stored: stored)
        if let end = endOfDay(request, memory) {
            holdBack(request, until: end)
            return .dayIsFull(until: end)
        }
        // What a dry run shows is not committed.
        if request.observer?.isDryRun == true { memory.allowance = nil }
        let firstSeen = await firstSeen(of: request.entry)
        // Asked after the last suspension: the bonds may have changed meanwhile.
        guard let isEncrypted = allowsLink(for: request, remembered: memory.bondedAdapter) else {
            return .refused
        }
        // The first link over a bond that another program made.
        if isEncrypted, memory.bondedAdapter == nil { memory.forgetUnencrypted() }
        let link: any PeripheralLink
        do throws(LinkError) {
            link = try await connect(request, remembered: memory.layout, isEncrypted: isEncrypted)
        } catch {
            attempts.note(error, for: request)
            return connectionFailed(error, request, isEncrypted: isEncrypted)
        }
        guard isWanted(request) else {
            await link.close()
            return .failed(.withdrawn)
        }
        guard diskAnswers else {
            await link.close()
            return .failed(.diskHangs)
        }
        // The list may have changed while it was waited for: whose readings these are, too.
        guard allowList.successor(of: request.entry, for: request.device) == request.entry else {
            await link.close()
            return .refused
        }
        if isEncrypted {
            bonding.encrypted(request.device)
            memory.bondedAdapter = bonds.address(of: request.adapter) ?? memory.bondedAdapter
        }
        let observer = request.observer
        let usedLink = observer?.link(link) ?? link
        let session = ReadSession(
            environment: observer?.environment(environment) ?? environment,
            target: ReadSession.Target(
                entry: observer?.entry(request.entry) ?? request.entry, device: request.device,
                profile: profile, memory: memory, isRemembered: stored?.isBondAlone == false,
                firstSeen: firstSeen,
                timing: observer?.timing(scheduler.timing) ?? scheduler.timing,
                isForClock: request.isForClock, observer: observer,
                report: { await self.progressed(request.device, $0) }),
            link: usedLink)
        ports.events.emit(.connected(request.entry.reference))
        underWay.runs(session, of: request.device)
        // It may have to give way at once.
        perform(scheduler.linked(request.device, at: ports.clock.now))
        let outcome = await session.run()
        underWay.hasRun(request.device)
        if observer?.isDryRun != true {
            if await session.hasLookedAtClock {
                uncomparedClocks.note(await session.shownClock, of: request.device, as: request.entry)
            }
            strangers.note(await session.volatileMemory, of: request.device)
            if case .dayIsFull(let end) = outcome { holdBack(request, until: end) }
        }
        let pduCount = await link.pduCount
        // From here to the end of the request nothing is waited for: who hears of the end finds all of it done.
        ports.events.emit(.disconnected(request.entry.reference))
        ports.log.closed(request, pduCount: pduCount)
        return bonding.withAdvice(outcome, request, isEncrypted: isEncrypted)
    }
}
