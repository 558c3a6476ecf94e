/// The port to bonds on bluetoothd, over the system bus (docs/notes/bluez.md, "Bonds").
///
/// It belongs to a loop, as the radio does; nothing in it blocks.
package actor BlueZBondKeeper: BondKeeper {
    /// Who owns bluetoothd's name.
    enum Owner {
        /// The bus has not told yet.
        case unknown
        case nobody
        case bluetoothd(Bluetoothd)
    }

    /// bluetoothd as one owner of its name.
    struct Bluetoothd {
        /// Its unique name: nothing is said to a later one in this one's place.
        let owner: String
        /// Nil until it has told what it has.
        var objects: BluetoothdObjects?
        /// Whether a newer answer is on its way, so that what is known is not told.
        var isRefreshing = false
    }

    static let name = "org.bluez"
    /// The object that answers for devices.
    static let agentPath = "/ingestd/agent"
    /// The bus and bluetoothd answer in milliseconds, but for what waits for the radio.
    static let answerTimeout = Duration.seconds(10)
    private static let retryDelay = Duration.seconds(2)
    private static let longestRetryDelay = Duration.seconds(60)

    let loop: RadioLoop
    let clock: any GatewayClock
    let connector: any LinkConnector
    private let address: BusConnection.Address
    /// Ends a link below its socket, and returns when it is down.
    let hangUp: @Sendable (DeviceAddress, AdapterID) async -> Void
    private(set) var bus: BusConnection?
    private(set) var owner = Owner.unknown
    private var refreshes: UInt64 = 0
    var lastPairing: UInt64 = 0
    var pairing: Pairing?
    /// Removals that wait for what bluetoothd has.
    var waitingForObjects: [CheckedContinuation<Void, Never>] = []

    private let known: KnownBonds
    private let continuation: AsyncStream<BondList>.Continuation
    package nonisolated let bonds: AsyncStream<BondList>
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe loop.asUnownedSerialExecutor()
    }

    /// - Parameters:
    ///   - connector: makes the links over which is paired; on the same loop.
    ///   - known: where the list goes for whoever asks for single bonds.
    ///   - address: the bus where bluetoothd is.
    ///   - hangUp: ends a device's link below its socket (`BlueZRadio.hangUp`).
    package init(
        loop: RadioLoop, clock: any GatewayClock, connector: any LinkConnector, known: KnownBonds,
        address: BusConnection.Address = .system,
        hangUp: @escaping @Sendable (DeviceAddress, AdapterID) async -> Void
    ) {
        self.loop = loop
        self.clock = clock
        self.connector = connector
        self.known = known
        self.address = address
        self.hangUp = hangUp
        (bonds, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        continuation.yield(.unknown)
    }

    /// Nil while nobody is known to own the name.
    var bluetoothd: Bluetoothd? {
        get { if case .bluetoothd(let bluetoothd) = owner { bluetoothd } else { nil } }
        set { owner = newValue.map { .bluetoothd($0) } ?? .nobody }
    }

    // MARK: Following

    package func run() async {
        var delay = Self.retryDelay
        while !Task.isCancelled {
            let began = clock.now
            await follow()
            if clock.now.since(began) > Self.longestRetryDelay { delay = Self.retryDelay }
            try? await clock.sleep(for: delay)
            delay = min(delay * 2, Self.longestRetryDelay)
        }
    }

    /// Follows bluetoothd on one connection to the bus, until that ends or the task is cancelled.
    private func follow() async {
        let (ended, end) = AsyncStream<Void>.makeStream()
        do throws(SystemError) {
            let bus = try BusConnection(
                address, loop: loop,
                handlers: BusConnection.Handlers(
                    onSignal: { [weak self] signal in self?.assumeIsolated { $0.received(signal) } },
                    onRequest: { [weak self] request in self?.assumeIsolated { $0.received(request) } },
                    onEnd: { end.finish() }))
            self.bus = bus
            subscribe(bus, onRefusal: { end.finish() })
        } catch {
            end.finish()
        }
        for await _ in ended {}
        bus?.close()
        bus = nil
        ownerChanged(to: nil)
    }

    private func subscribe(_ bus: BusConnection, onRefusal: @escaping () -> Void) {
        let rules = [
            "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
                + "member='NameOwnerChanged',arg0='\(Self.name)'",
            "type='signal',sender='\(Self.name)',interface='org.freedesktop.DBus.ObjectManager'",
            "type='signal',sender='\(Self.name)',interface='org.freedesktop.DBus.Properties',"
                + "member='PropertiesChanged',arg0='\(BluetoothdObjects.adapterInterface)'",
            "type='signal',sender='\(Self.name)',interface='org.freedesktop.DBus.Properties',"
                + "member='PropertiesChanged',arg0='\(BluetoothdObjects.deviceInterface)'",
        ]
        for rule in rules {
            bus.send(.bus("AddMatch", [.string(rule)]), within: Self.answerTimeout) { result in
                if case .failure = result { onRefusal() }
            }
        }
        let owner = BusCall.bus("GetNameOwner", [.string(Self.name)])
        bus.send(owner, within: Self.answerTimeout) { [weak self] result in
            switch result {
            case .success(let values):
                self?.assumeIsolated { $0.ownerChanged(to: values.first?.text) }
            case .failure(.remote):
                self?.assumeIsolated { $0.ownerChanged(to: nil) }
            case .failure:
                onRefusal()
            }
        }
    }

    private func ownerChanged(to owner: String?) {
        guard bluetoothd?.owner != owner else {
            if owner == nil { bluetoothd = nil }
            return poke()
        }
        bluetoothd = owner.map { Bluetoothd(owner: $0) }
        publish()
        refresh()
        poke()
    }

    private func received(_ signal: BusSignal) {
        if signal.sender == "org.freedesktop.DBus" {
            guard signal.member == "NameOwnerChanged", signal.arguments.count == 3,
                signal.arguments[0].text == Self.name, let owner = signal.arguments[2].text
            else { return }
            return ownerChanged(to: owner.isEmpty ? nil : owner)
        }
        // Anybody may send us a signal.
        guard let owner = bluetoothd?.owner, signal.sender == owner else { return }
        switch (signal.interface, signal.member) {
        case ("org.freedesktop.DBus.ObjectManager", "InterfacesAdded"):
            guard signal.arguments.count == 2, let path = signal.arguments[0].text else { return }
            let interfaces = signal.arguments[1]
            if interfaces.entries?[BluetoothdObjects.adapterInterface] != nil {
                refresh()
            } else {
                bluetoothd?.objects?.add(interfaces, at: path)
            }
        case ("org.freedesktop.DBus.ObjectManager", "InterfacesRemoved"):
            removed(signal.arguments)
        case ("org.freedesktop.DBus.Properties", "PropertiesChanged"):
            guard signal.arguments.count == 3, let interface = signal.arguments[0].text else { return }
            bluetoothd?.objects?.change(signal.arguments[1], of: interface, at: signal.path)
        default:
            return
        }
        publish()
        poke()
    }

    /// bluetoothd takes an adapter away device by device, and brings one up the same way: not every
    /// state between is one. So what holds is asked for when it is done.
    private func removed(_ arguments: [BusValue]) {
        guard arguments.count == 2, let path = arguments[0].text else { return }
        let interfaces = Set(arguments[1].elements?.compactMap(\.text) ?? [])
        guard let objects = bluetoothd?.objects else { return }
        if interfaces.contains(BluetoothdObjects.adapterInterface) || objects.bond(at: path) != nil {
            refresh()
        }
        if interfaces.contains(BluetoothdObjects.deviceInterface), objects.bond(at: path) == nil {
            bluetoothd?.objects?.removeDevice(at: path)
        }
    }

    // MARK: What bluetoothd has

    /// Asks anew for everything that bluetoothd has.
    private func refresh() {
        guard let owner = bluetoothd?.owner else { return }
        refreshes += 1
        let number = refreshes
        bluetoothd?.isRefreshing = true
        let call = BusCall(to: owner, "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
        bus?.send(call, within: Self.answerTimeout) { [weak self] result in
            self?.assumeIsolated { $0.refreshed(number, result) }
        }
    }

    private func refreshed(_ number: UInt64, _ result: Result<[BusValue], BusError>) {
        guard number == refreshes, bluetoothd != nil else { return }
        guard case .success(let answer) = result, let objects = BluetoothdObjects(answer: answer) else {
            askAgain(number)
            return
        }
        bluetoothd?.objects = objects
        bluetoothd?.isRefreshing = false
        publish()
        poke()
    }

    /// Tells the bonds, if they have changed.
    private func publish() {
        guard bluetoothd?.isRefreshing != true else { return }
        let bonds = bluetoothd?.objects?.bonds ?? .unknown
        if known.replace(by: bonds) { continuation.yield(bonds) }
    }

    /// Asks a little later, if nothing newer was asked since.
    private func askAgain(_ number: UInt64) {
        loop.after(Self.retryDelay) { [weak self] in
            self?.assumeIsolated { keeper in
                if keeper.refreshes == number { keeper.refresh() }
            }
        }
    }

    package func current() async -> BondList {
        await untilObjectsAreKnown()
        return bluetoothd?.objects?.bonds ?? .unknown
    }

    // MARK: Removing

    package func unpair(_ bond: Bond) async throws(PairingError) {
        await untilObjectsAreKnown()
        guard pairing == nil else { throw .busy }
        guard let bus, let bluetoothd, let objects = bluetoothd.objects else { throw .noKeeper }
        guard let path = objects.devices.keys.first(where: { objects.bond(at: $0) == bond }),
            let adapter = objects.devices[path]?.adapter
        else { throw .notBonded }
        let doubles = objects.devices.filter {
            $0.key != path && $0.value.device == bond.device && $0.value.adapter == adapter
        }
        try await removeDevice(path, of: adapter, at: bluetoothd.owner, on: bus)
        // Removing the first object has deleted the keys, so nothing depends on the others.
        for double in doubles.keys {
            try? await removeDevice(double, of: adapter, at: bluetoothd.owner, on: bus)
        }
    }

    /// Returns when it is known what bluetoothd has, or that it is not there. At the service's start that takes a moment.
    private func untilObjectsAreKnown() async {
        let deadline = clock.now + Self.answerTimeout
        while clock.now < deadline {
            switch owner {
            case .nobody: return
            case .bluetoothd(let bluetoothd) where bluetoothd.objects != nil: return
            case .unknown, .bluetoothd: break
            }
            let timer = loop.after(deadline.since(clock.now)) { [weak self] in
                self?.assumeIsolated { $0.poke() }
            }
            await withCheckedContinuation { waitingForObjects.append($0) }
            loop.cancel(timer)
        }
    }

    /// Removes a device with its keys. bluetoothd ends its link first, which takes 2 s.
    func removeDevice(
        _ path: String, of adapter: String, at owner: String, on bus: BusConnection
    ) async throws(PairingError) {
        let call = BusCall(
            to: owner, adapter, BluetoothdObjects.adapterInterface, "RemoveDevice", [.objectPath(path)])
        do throws(BusError) {
            _ = try await bus.call(call, within: Self.answerTimeout)
            // What is told about it is on its way.
            if bluetoothd?.owner == owner { bluetoothd?.objects?.removeDevice(at: path) }
        } catch {
            throw error == .remote(name: "org.bluez.Error.DoesNotExist") ? .notBonded : PairingError(error)
        }
    }
}
