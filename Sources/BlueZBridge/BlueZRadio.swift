import Glibc

/// The radio port on the Linux kernel: adverts and scan control over the management socket, links
/// over L2CAP (docs/notes/bluez.md, "The radio").
package actor BlueZRadio: Radio {
    package struct Settings: Sendable {
        package var selection: AdapterSelection
        /// Nil leaves the kernel's own timing.
        package var timing: ScanTiming?
        /// Whether bluetoothd runs: who then powers adapters on and off.
        package var isBluetoothdRunning: @Sendable () async -> Bool
        package var log: SubsystemLog

        package init(
            selection: AdapterSelection = .any, timing: ScanTiming? = nil, log: SubsystemLog = .silent,
            isBluetoothdRunning: @escaping @Sendable () async -> Bool
        ) {
            self.log = log
            self.selection = selection
            self.timing = timing
            self.isBluetoothdRunning = isBluetoothdRunning
        }
    }

    let loop: RadioLoop
    let clock: any GatewayClock
    let settings: Settings
    let management: ManagementSocket
    let receiver: AdvertReceiver
    private let connector: any LinkConnector
    var inventory: [UInt16: Adapter] = [:]
    /// By the adapter's index, and kept when the adapter goes: who waits in one still has its turn.
    private var lanes: [UInt16: ConnectionLane] = [:]
    var kernelFilter = KernelFilter()
    /// Adapters that are to prove that they receive.
    var watched: Set<UInt16> = []
    let signsContinuation: AsyncStream<ReceptionSign>.Continuation
    private var lastGeneration: UInt64 = 0
    private let statesContinuation: AsyncStream<[AdapterState]>.Continuation
    /// Adapters that wait to be brought into shape; each stands in it at most once.
    private let work: AsyncStream<UInt16>
    private let workContinuation: AsyncStream<UInt16>.Continuation

    package nonisolated let advertisements: AsyncStream<Advertisement>
    package nonisolated let adapters: AsyncStream<[AdapterState]>
    package nonisolated let signs: AsyncStream<ReceptionSign>
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe loop.asUnownedSerialExecutor()
    }

    /// - Parameters:
    ///   - management: the kernel's management channel, or a simulated one.
    ///   - connector: makes the links.
    package init(
        management: PacketChannel, connector: any LinkConnector, loop: RadioLoop,
        clock: any GatewayClock, settings: Settings
    ) {
        self.loop = loop
        self.clock = clock
        self.settings = settings
        self.connector = connector
        self.management = ManagementSocket(channel: management, loop: loop)
        receiver = AdvertReceiver(clock: clock)
        advertisements = receiver.advertisements
        (adapters, statesContinuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (signs, signsContinuation) = AsyncStream.makeStream(
            bufferingPolicy: .bufferingNewest(Self.longestSigns))
        (work, workContinuation) = AsyncStream.makeStream()
    }

    // MARK: Listening

    /// Listens until the task is cancelled.
    /// - Throws: `ManagementError.ended` when the management socket dies: only a new process can
    ///   open another. `ManagementError.noPermission` when the kernel does not trust the socket.
    package func listen(for filter: AdvertisementFilter) async throws {
        listen(only: filter)
        management.open(
            onEvent: { [weak self] event, index, parameters in
                guard let self else { return }
                self.received(event: event, index: index, parameters)
            },
            onEnd: { [workContinuation] in workContinuation.finish() })
        defer {
            receiver.finish()
            statesContinuation.finish()
            signsContinuation.finish()
        }
        try await withTaskCancellationHandler {
            for index in try await indexList() { appeared(index) }
            publish()
            try await withThrowingDiscardingTaskGroup { group in
                for await index in work {
                    group.addTask {
                        do {
                            try await self.reconcile(index)
                        } catch {
                            // The group waits for this loop, which nothing else would end.
                            self.workContinuation.finish()
                            throw error
                        }
                    }
                }
            }
        } onCancel: {
            workContinuation.finish()
        }
        guard Task.isCancelled else { throw ManagementError.ended }
        await withdraw()
    }

    package func update(_ filter: AdvertisementFilter) {
        listen(only: filter)
        for index in inventory.keys { wantReconciled(index) }
    }

    private func indexList() async throws(ManagementError) -> [UInt16] {
        let opcode = ManagementProtocol.Opcode.readIndexList
        let answer: [UInt8]
        do {
            answer = try await management.send(opcode, index: ManagementProtocol.noIndex, isolation: self)
        } catch .status(ManagementProtocol.Status.permissionDenied, _) {
            throw .noPermission
        }
        var reader = ManagementReader(answer.span)
        guard let count = reader.number16() else { throw .malformed(opcode: opcode) }
        var indexes: [UInt16] = []
        for _ in 0..<count {
            guard let index = reader.number16() else { throw .malformed(opcode: opcode) }
            indexes.append(index)
        }
        return indexes
    }

    /// Handles an event; runs on the loop, within the actor.
    private nonisolated func received(event: UInt16, index: UInt16, _ parameters: Span<UInt8>) {
        loop.checkIsolated()
        switch event {
        case ManagementProtocol.Event.monitorDeviceFound, ManagementProtocol.Event.deviceFound:
            let hasHandle = event == ManagementProtocol.Event.monitorDeviceFound
            assumeIsolated { radio in
                if radio.receiver.receive(parameters, hasHandle: hasHandle, index: index) {
                    radio.heard(on: index)
                }
            }
        default:
            var reader = ManagementReader(parameters)
            let number = reader.number32()
            let short = number.map { UInt16(truncatingIfNeeded: $0) }
            let handle = parameters.count == 2 ? UInt16(parameters[0]) | UInt16(parameters[1]) << 8 : short
            assumeIsolated { $0.changed(event: event, index: index, settings: number, handle: handle) }
        }
    }

    private func changed(event: UInt16, index: UInt16, settings: UInt32?, handle: UInt16?) {
        switch event {
        case ManagementProtocol.Event.indexAdded:
            appeared(index)
        case ManagementProtocol.Event.indexRemoved:
            disappeared(index)
        case ManagementProtocol.Event.newSettings:
            guard let settings else { return }
            let wanted = ManagementProtocol.Setting.powered | ManagementProtocol.Setting.lowEnergy
            guard inventory[index]?.isResetting != true else { return }
            if settings & wanted != wanted { setProblem(.poweredOff, of: index) }
            wantReconciled(index)
        case ManagementProtocol.Event.monitorRemoved:
            // Handle 0: somebody removed them all, as bluetoothd does when it starts.
            guard let handle, let own = inventory[index]?.monitor.handle, handle == own || handle == 0 else {
                return
            }
            inventory[index]?.monitor = .none
            wantReconciled(index)
        case ManagementProtocol.Event.deviceRemoved:
            guard inventory[index]?.reported.isEmpty == false else { return }
            inventory[index]?.reported = []
            wantReconciled(index)
        default:
            break
        }
    }

    private func appeared(_ index: UInt16) {
        // The kernel may list an adapter and tell of it as well.
        if let known = inventory[index] { cancelTimers(of: known) }
        lastGeneration += 1
        inventory[index] = Adapter(index: index, generation: lastGeneration, now: clock.now)
        filterInKernel()
        wantReconciled(index)
    }

    private func disappeared(_ index: UInt16) {
        guard let adapter = inventory.removeValue(forKey: index) else { return }
        cancelTimers(of: adapter)
        filterInKernel()
        publish()
    }

    private func cancelTimers(of adapter: Adapter) {
        if let retry = adapter.retry { loop.cancel(retry) }
        if let silence = adapter.silence { loop.cancel(silence) }
        if let timer = adapter.recoveryTimer { loop.cancel(timer) }
    }

    // MARK: State

    /// Whether an adapter waits to be brought into shape, or is being.
    package var isAtWork: Bool { inventory.values.contains { $0.work != .idle } }

    /// Signs that wait for their reader.
    private static let longestSigns = 64

    /// Has the adapter brought into shape soon.
    func wantReconciled(_ index: UInt16) {
        switch inventory[index]?.work {
        case .idle?:
            inventory[index]?.work = .wanted
            workContinuation.yield(index)
        case .underWay?: inventory[index]?.work = .underWay(again: true)
        case .wanted?, nil: break
        }
    }

    /// Notes why an adapter does not listen, or with nil that it does.
    func setProblem(_ problem: AdapterProblem?, of index: UInt16) {
        guard let adapter = inventory[index], adapter.problem != problem else { return }
        inventory[index]?.problem = problem
        publish()
    }

    func publish() {
        statesContinuation.yield(inventory.values.compactMap(\.state).sorted { $0.id.index < $1.id.index })
    }

    // MARK: Links

    package func connect(
        to device: DeviceAddress, on adapter: AdapterID, remembered: AttributeLayout?,
        requiresEncryption: Bool
    ) async throws(LinkError) -> any PeripheralLink {
        await enterLane(of: adapter)
        defer { leaveLane(of: adapter) }
        guard !Task.isCancelled else { throw .ended(.byGateway) }
        guard let address = inventory[adapter.index]?.address else { throw .adapterUnavailable }
        let channel: PacketChannel
        do throws(LinkError) {
            channel = try await connector.connect(
                to: device, from: address, requiresEncryption: requiresEncryption, isolation: self)
        } catch {
            noteAttempt(isBusy: error == .busy, on: adapter.index)
            await endAttempt(device, on: adapter)
            throw error
        }
        noteAttempt(isBusy: false, on: adapter.index)
        let generation = inventory[adapter.index]?.generation
        countLink(1, on: adapter.index)
        let link = AttributeLink(
            device: device, channel: channel, loop: loop, clock: clock, remembered: remembered,
            isEncrypted: requiresEncryption,
            ending: AttributeLink.Ending(
                begin: { [weak self] in await self?.enterLane(of: adapter) },
                hangUp: { [weak self] in await self?.end(device, on: adapter, generation) },
                finish: { [weak self] in await self?.leaveLane(of: adapter) }))
        await link.open()
        return link
    }

    /// A link is closed: nothing remains of it when this returns.
    private func end(_ device: DeviceAddress, on adapter: AdapterID, _ generation: UInt64?) async {
        await hangUp(device, on: adapter)
        if inventory[adapter.index]?.generation == generation { countLink(-1, on: adapter.index) }
    }

    private func enterLane(of adapter: AdapterID) async {
        guard !lanes[adapter.index, default: ConnectionLane()].take() else { return }
        await withCheckedContinuation { lanes[adapter.index]?.wait($0) }
    }

    private func leaveLane(of adapter: AdapterID) { lanes[adapter.index]?.leave() }
}
