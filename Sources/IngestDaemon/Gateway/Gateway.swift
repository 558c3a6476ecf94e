import Logging
import ServiceLifecycle
import UnixSignals

/// Puts the gateway together, in the order of the data's way, and runs it until SIGTERM or SIGINT.
struct Gateway: Sendable {
    /// How long the parts may take to stop; systemd waits longer (TimeoutStopSec=).
    private static let stopTimeout = Duration.seconds(10)
    /// How long what is left of the events may take at the end.
    private static let tellingTimeout = Duration.seconds(3)
    /// What the service manager is asked for at a time while the queue is opened.
    private static let startExtension = Duration.seconds(60)

    let configuration: Configuration
    let credentials: Credentials
    /// Where events go, tagged.
    let output: any EntryOutput
    /// Where commands are taken.
    let controlPath: String
    let reload: @Sendable () throws(CommandFailure) -> Configuration

    private let systemClock = SystemClock()
    /// Raised when the clock was judged otherwise than before.
    private let clockChanges = WakeUp()
    let clock: JudgedClock
    let log: SubsystemLog

    init(
        configuration: Configuration, credentials: Credentials, output: any EntryOutput, controlPath: String,
        reload: @escaping @Sendable () throws(CommandFailure) -> Configuration
    ) {
        clock = JudgedClock(systemClock, isConfigured: configuration.gateway.trustsClock)
        log = SubsystemLog(configuration.logging, write: LogLines.write)
        self.configuration = configuration
        self.credentials = credentials
        self.output = output
        self.controlPath = controlPath
        self.reload = reload
    }

    func run(on source: consuming RadioSource) async throws {
        let lock = try StateLock.make(configuration.gateway.stateDirectory)
        let key = try TagKeyFile(directory: configuration.gateway.stateDirectory).readOrMake()
        let bootID = try BootID.read()
        let hooks = Hooks(
            configuration.hooks, programs: HookProcesses(), clock: clock,
            told: { StandardError.print($0) })
        let journal = TaggingSink(output, key: key, clock: clock)
        let sink = CountingSink(HookedSink(journal, hooks: hooks), clock: clock)
        let events = EventLog(sink: sink)
        let queue = try await Self.extendingStart(by: clock) { () async throws(CommandFailure) in
            try await SQLiteQueue.open(configuration, clock: clock)
        }
        await tellOfAbsentDestinations(queue)
        let loop = try RadioLoop(clock: clock)
        let zone = try configuration.localZone(by: systemClock)
        let kernelDefect = KernelDefect.ofRunningKernel()
        let sockets = LinkSockets(kernelDefect)
        if let kernelDefect {
            KernelNotice(directory: configuration.gateway.stateDirectory, bootID: bootID)
                .tell(of: kernelDefect, to: events)
            await tellRest(to: sink)
        }
        let bluetooth = try makeBluetooth(source, loop: loop, sockets: sockets, zone: zone.rules)
        let timekeeper = timekeeper(store: queue.undated, zone: zone, events: events)
        let factory = RecordFactory(
            gateway: configuration.gateway.id, zone: zone, bootID: bootID, isSimulated: bluetooth.isSimulated)
        let ports = PassiveGateway.Ports(
            radio: bluetooth.radio, store: queue.records, devices: queue.devices, events: events,
            clock: clock,
            log: log.tagging(by: key),
            bondKeeper: bluetooth.bondKeeper,
            bindKey: { [credentials] name throws(BindKeyError) in try credentials.bindKey(name) })
        let passive = PassiveGateway(
            ports: ports, factory: factory, allowList: configuration.allowList,
            timing: configuration.passiveTiming, links: configuration.bluetooth.links)
        let orders = OperatorOrders(gateway: passive, ports: ports, scanner: bluetooth.radio) {
            [credentials] name throws(PasskeyError) in
            try credentials.passkey(name)
        }
        let keeper = QueueKeeper(
            queue, disk: DirectorySpace(directory: configuration.gateway.stateDirectory),
            settings: configuration.queue,
            clock: clock, events: events, setTakesRecords: { await passive.setTakesReadings($0) },
            setFullStrangers: { await passive.setFullStrangers($0) })
        let transports = Transports(configuration.destinations, credentials: credentials)
        let pulse = Pulse(clock: systemClock, isDiskAlive: { DiskWatch.isAlive(queue) })
        let parts = DeliveryParts(store: queue.batches, transports: transports, events: events, pulse: pulse)
        let deliveries = try await makeDeliveries(parts, queue.sessions)
        let outbox = EventOutbox(store: queue.outbox, sink: sink, clock: clock)
        var services: [any Service] = [
            Part("queue") {
                try await StoreWatch(queue, events: events, keepAlive: ServiceManager.alive).run()
            },
            Part("disk") {
                await DiskWatch(
                    queue, events: events, setAnswers: { await passive.setDiskAnswers($0) }
                ).run()
            },
            Part("events") { try await outbox.run() },
            Part("hooks") { await hooks.run() },
        ]
        services += deliveries.map(\.service)
        services.append(
            Part("network") { [clock] in
                await NetworkWatch.run(NetworkWatch.changes(), clock: clock) {
                    for delivery in deliveries { delivery.networkChanged() }
                }
            })
        services.append(Part("room") { try await keeper.run() })
        services.append(Part("time") { try await timekeeper.run() })
        services.append(Part("passive") { try await passive.run() })
        services.append(Part("orders") { await orders.run() })
        let operatorSessions = Sessions(
            deliveries, destinations: configuration.destinations, queue: queue, clock: clock)
        let standing = ReloadStanding()
        let documents = StatusStanding()
        let credentialStanding = CredentialStanding(configuration.destinations, credentials: credentials)
        let reloader = Reloader(
            events: events, passive: passive, queue: queue, deliveries: deliveries, hooks: hooks, log: log,
            standing: standing, credentials: credentialStanding, current: configuration, read: reload)
        let status = StatusReport(
            gateway: configuration.gateway.id, clock: clock, started: clock.now, passive: passive,
            overview: queue.overview, keeper: keeper, queue: configuration.queue,
            disk: DirectorySpace(directory: configuration.gateway.stateDirectory), deliveries: deliveries,
            sessions: operatorSessions, key: key, kernelDefect: kernelDefect, sockets: sockets,
            journal: journal, counts: sink, reloads: standing, credentials: credentialStanding,
            documents: documents)
        let tellers = deliveries.compactMap { delivery in
            delivery.status.map { outlet in
                StatusTeller(
                    to: delivery.destination, by: outlet, clock: clock, standing: documents,
                    now: { await status.now() })
            }
        }
        for teller in tellers { services.append(Part("status documents") { await teller.run() }) }
        services.append(
            ControlServer(
                path: controlPath, orders: orders, sessions: operatorSessions,
                queue: QueueOperations(queue, configuration: configuration, key: key),
                entries: EntryDesk(
                    queue: queue, clock: clock, gateway: configuration.gateway.id,
                    keeper: keeper),
                readings: ReadingDesk(path: configuration.queuePath),
                reloader: reloader, status: status, log: log[.control]))
        services.append(
            Supervisor(
                clock: clock, loop: loop, pulse: pulse, events: events, status: status,
                metricsFile: MetricsFile(besideSocket: controlPath), tellers: tellers,
                changes: [passive.adapterChanges, clockChanges]))
        services.append(Part("check") { try await StoreCheck(queue).run() })
        services.append(reloader)

        var outcome: Result<Void, any Error> = .success(())
        do {
            var group = ServiceGroupConfiguration(
                // The name would else be all that the service holds, looked through by reflection.
                services: services.map { .init(service: $0, serviceName: "\(type(of: $0))") },
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: Logger(label: "ingestd", factory: { _ in SwiftLogNoOpLogHandler() }))
            group.maximumGracefulShutdownDuration = Self.stopTimeout
            try await ServiceGroup(configuration: group).run()
        } catch {
            outcome = .failure(error)
        }
        ServiceManager.stopping()
        events.emit(.stopping)
        // What was told to the outbox while the parts stopped.
        await tellRest(of: outbox, to: sink)
        await transports.shutdown()
        do {
            try await queue.close()
        } catch {
            StandardError.print("the queue could not be closed: \(error)")
        }
        if let summary = bluetooth.summary { StandardError.print(await summary()) }
        loop.stop()
        _ = consume lock
        try Self.finish(outcome)
    }

    /// Returns when all events are told, after 3 s at most: what the outbox has then is told after the next start.
    private func tellRest(of outbox: EventOutbox? = nil, to sink: any EventSink) async {
        _ = await Task {
            try? await outbox?.drain()
            // Comes after the events that no outbox holds.
            _ = await sink.deliver([])
        }.result(within: Self.tellingTimeout, by: clock)
    }

    /// Says why the gateway ends by itself, if it does.
    private static func finish(_ outcome: Result<Void, any Error>) throws {
        do {
            try outcome.get()
        } catch let error as ManagementError {
            throw CommandFailure(error)
        } catch let error as StoreError {
            throw CommandFailure(error)
        }
    }

    // MARK: Parts

    private func makeBluetooth(
        _ source: consuming RadioSource, loop: RadioLoop, sockets: LinkSockets, zone: TimeZoneRules
    ) throws -> OpenedRadio {
        let parts = RadioParts(
            loop: loop, clock: clock, zone: zone, selection: configuration.adapterSelection,
            timing: configuration.scanTiming, log: log)
        switch consume source {
        case .kernel(let management):
            let known = KnownBonds()
            let connector = KernelConnector(loop: loop, sockets: sockets, isBonded: { known.contains($0) })
            let radio = BlueZRadio(
                management: management.channel(on: loop), connector: connector, loop: loop, clock: clock,
                settings: parts.settings { await SystemBus.hasOwner("org.bluez") })
            let keeper = BlueZBondKeeper(
                loop: loop, clock: clock,
                // It looks for itself whether there is a bond, also for one that is not listed yet.
                connector: KernelConnector(loop: loop, sockets: sockets, isBonded: { _ in true }),
                known: known,
                hangUp: { device, adapter in await radio.hangUp(device, on: adapter) })
            return OpenedRadio(radio: radio, bondKeeper: keeper)
        case .simulated(let make):
            return try make(parts)
        }
    }

    private func timekeeper(
        store: any DatedQueue, zone: LocalZone, events: EventLog
    ) -> Timekeeper {
        Timekeeper(
            clock: clock, store: store, zone: zone,
            sources: .ofSystem, isConfigured: configuration.gateway.trustsClock, released: Version.released,
            events: events,
            told: { [clockChanges] in
                StandardError.print($0.message)
                clockChanges.raise()
            })
    }

    /// Has the service manager wait for as long as `body` takes: a large file that is looked through or mended on a
    /// slow disk takes longer than it gives a start.
    private static func extendingStart<Value: Sendable>(
        by clock: any GatewayClock, _ body: () async throws(CommandFailure) -> Value
    ) async throws(CommandFailure) -> Value {
        ServiceManager.extendStart(by: startExtension)
        let extensions = Task {
            while (try? await clock.sleep(for: startExtension / 3)) != nil {
                ServiceManager.extendStart(by: startExtension)
            }
        }
        defer { extensions.cancel() }
        return try await body()
    }
}

extension ClockTrust? {
    /// What the operator reads; it ends in what happens next.
    fileprivate var message: String {
        switch self {
        case nil:
            "the system clock is not known to be right (not synchronised, and no real-time clock that it "
                + "follows): readings are kept, and delivered when it is"
        case .configured: "the system clock is taken as right: gateway.trust_clock says so"
        case .synchronized: "the system clock is right: it is synchronised"
        case .unchanged: "the system clock is right: it was found so in this boot and not set since"
        case .realTimeClock: "the system clock is taken as right: it follows a real-time clock"
        }
    }
}

/// A part of the gateway that runs until it is cancelled, as a service that stops gracefully.
struct Part: Service {
    let name: String
    let body: @Sendable () async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable () async throws -> Void) {
        self.name = name
        self.body = body
    }

    /// Returns once the part has stopped, which it does alone when the group shuts down.
    func run() async throws {
        try await cancelWhenGracefulShutdown { try await body() }
    }
}
