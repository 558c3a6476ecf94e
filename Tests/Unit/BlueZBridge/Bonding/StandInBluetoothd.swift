@testable import BlueZBridge

/// What bluetoothd 5.66 does on the bus, as far as bonds go, seen from a program that holds the ATT
/// channel: object paths, signatures, errors, order of signals, and its calls of an agent. It takes
/// nothing that bluetoothd refuses.
///
/// Sendable is checked by hand: everything is touched on the loop only, which each method asserts.
final class StandInBluetoothd: @unchecked Sendable {
    static let owner = "org.bluez"
    static let adapterPath = "/org/bluez/hci0"
    private static let forever = Duration.seconds(1_000_000)

    let loop: RadioLoop
    /// The methods that were called, by interface and name, and what the agent answered.
    let notes = Notes<String>()
    private var bus: BusConnection?
    private var agent: (owner: String, path: String)?
    private var devices: [String: Device] = [:]
    private var pairing: (path: String, request: BusRequest)?
    var adapterAddress = "00:00:5E:00:53:00"
    var isPowered = true
    var isPairable = false
    var refusesAgents = false
    /// Another agent was there first, and its owner has the adapter as it is.
    var hasOperatorsAgent = false
    /// Answers GetManagedObjects with this instead.
    var garbage: [BusValue]?

    init(loop: RadioLoop) {
        self.loop = loop
    }

    /// Who asked for the objects.
    private(set) var client: String?
    var hasAgent: Bool { agent != nil }

    private func setPairable(_ flag: Bool) {
        guard flag != isPairable else { return }
        isPairable = flag
        change(Self.adapterPath, ["Pairable": .bool(flag)], of: "org.bluez.Adapter1")
    }

    // MARK: Life

    func start(at address: BusConnection.Address) throws {
        loop.checkIsolated()
        let bus = try BusConnection(
            address, loop: loop,
            handlers: BusConnection.Handlers(onRequest: { [weak self] in self?.received($0) }))
        self.bus = bus
        // 4: fail rather than wait in line for the name.
        bus.send(.bus("RequestName", [.string(Self.owner), .uint32(4)]), within: Self.forever) { _ in }
    }

    /// Ends as a crash would: bonds stay on the disk, links and unbonded devices go.
    func stop() {
        loop.checkIsolated()
        bus?.close()
        bus = nil
        agent = nil
        client = nil
        pairing = nil
        isPairable = false
        devices = devices.filter { $0.value.isBonded }
        for path in devices.keys { devices[path]?.isConnected = false }
    }

    // MARK: Devices

    static func path(of address: BluetoothAddress) -> String {
        adapterPath + "/dev_" + address.description.split(separator: ":").joined(separator: "_")
    }

    func add(_ device: DeviceAddress, _ manner: Manner = .justWorks, identity: DeviceAddress? = nil) {
        loop.checkIsolated()
        let path = Self.path(of: device.address)
        devices[path] = Device(path: path, address: device, identity: identity, manner: manner)
    }

    /// A device with a bond from an earlier life.
    func addBonded(_ device: DeviceAddress) {
        add(device)
        let path = Self.path(of: device.address)
        devices[path]?.isBonded = true
        devices[path]?.isPaired = true
        devices[path]?.isShown = true
        announce(path)
    }

    func isShown(_ device: DeviceAddress) -> Bool {
        devices[Self.path(of: device.address)]?.isShown ?? false
    }

    /// The kernel tells of a link.
    func connected(_ device: DeviceAddress) {
        loop.checkIsolated()
        let path = Self.path(of: device.address)
        guard devices[path] != nil else { return }
        devices[path]?.isConnected = true
        if devices[path]?.isShown == true {
            change(path, ["Connected": .bool(true)])
        } else {
            devices[path]?.isShown = true
            announce(path)
        }
    }

    func disconnected(_ device: DeviceAddress) {
        loop.checkIsolated()
        guard let path = devices.values.first(where: { $0.address == device || $0.identity == device })?.path,
            devices[path]?.isConnected == true
        else { return }
        devices[path]?.isConnected = false
        change(path, ["Connected": .bool(false)])
        if let pairing, pairing.path == path {
            self.pairing = nil
            bus?.refuse(pairing.request, "org.bluez.Error.AuthenticationCanceled")
        }
    }

    /// Another device wants to pair, and asks the agent.
    func asks(_ device: DeviceAddress, _ member: String, _ arguments: [BusValue] = []) {
        loop.checkIsolated()
        ask(client.map { ($0, "/ingestd/agent") }, Self.path(of: device.address), member, arguments) { _ in }
    }

    /// A call of the agent's owner, of any kind.
    func agentCall(
        _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue]
    ) -> (@Sendable () async -> Result<[BusValue], BusError>)? {
        guard let bus, let client else { return nil }
        let call = BusCall(to: client, path, interface, member, arguments)
        return { await bus.result(call) }
    }

    /// Another program removes the device.
    func forget(_ device: DeviceAddress) {
        let path = Self.path(of: device.address)
        devices[path]?.isShown = false
        devices[path]?.isBonded = false
        removed(path, BluetoothdObjects.deviceInterface)
    }

    /// The adapter is unplugged: first its devices go, then itself.
    func unplug() {
        loop.checkIsolated()
        for path in devices.keys.sorted() where devices[path]?.isShown == true {
            devices[path]?.isShown = false
            removed(path, BluetoothdObjects.deviceInterface)
        }
        adapterAddress = ""
        removed(Self.adapterPath, BluetoothdObjects.adapterInterface)
    }

    func emit(_ path: String, _ interface: String, _ member: String, _ arguments: [BusValue]) {
        try? bus?.emit(path, interface, member, arguments)
    }

    // MARK: Methods

    private func received(_ request: BusRequest) {
        guard let bus else { return }
        notes.add("\(request.interface.split(separator: ".").last ?? "").\(request.member)")
        switch (request.path, request.interface, request.member, request.signature) {
        case ("/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", ""):
            client = request.sender
            bus.answer(request, garbage ?? [objects()])
        case ("/org/bluez", "org.bluez.AgentManager1", "RegisterAgent", "os"):
            register(request)
        case ("/org/bluez", "org.bluez.AgentManager1", "UnregisterAgent", "o"):
            guard let agent, agent.owner == request.sender, agent.path == request.arguments[0].text else {
                return refuse(request, "DoesNotExist")
            }
            self.agent = nil
            if !hasOperatorsAgent { setPairable(false) }
            bus.answer(request)
        case (Self.adapterPath, "org.bluez.Adapter1", "RemoveDevice", "o"):
            remove(request)
        case (Self.adapterPath, "org.freedesktop.DBus.Properties", "Set", "ssv"):
            setPairable(request.arguments[2].flag ?? isPairable)
            bus.answer(request)
        case (_, "org.bluez.Device1", "Pair", ""):
            pair(request)
        case (_, "org.bluez.Device1", "CancelPairing", ""):
            cancel(request)
        case (_, "org.bluez.Device1", "Disconnect", "") where devices[request.path]?.isShown == true:
            if let device = devices[request.path] { disconnected(device.address) }
            bus.answer(request)
        default:
            bus.refuse(request, "org.freedesktop.DBus.Error.UnknownObject")
        }
    }

    private func register(_ request: BusRequest) {
        guard agent == nil else { return refuse(request, "AlreadyExists") }
        guard !refusesAgents, let path = request.arguments[0].text,
            ["", "DisplayOnly", "DisplayYesNo", "KeyboardOnly", "NoInputNoOutput", "KeyboardDisplay"]
                .contains(request.arguments[1].text ?? "-")
        else { return refuse(request, "InvalidArguments") }
        agent = (request.sender, path)
        bus?.answer(request)
        notes.add("agent \(request.arguments[1].text ?? "")")
        if !hasOperatorsAgent { setPairable(true) }
    }

    private func remove(_ request: BusRequest) {
        guard isPowered else { return refuse(request, "NotReady") }
        guard let path = request.arguments[0].text, devices[path]?.isShown == true else {
            return refuse(request, "DoesNotExist")
        }
        devices[path]?.isShown = false
        devices[path]?.isBonded = false
        devices[path]?.isPaired = false
        removed(path, BluetoothdObjects.deviceInterface)
        bus?.answer(request)
    }

    private func pair(_ request: BusRequest) {
        guard let device = devices[request.path], device.isShown else {
            bus?.refuse(request, "org.freedesktop.DBus.Error.UnknownObject")
            return
        }
        guard pairing == nil else { return refuse(request, "InProgress") }
        guard !device.isBonded else { return refuse(request, "AlreadyExists") }
        pairing = (request.path, request)
        guard agent?.owner == request.sender else { return failed() }
        // The kernel asks for no keys that last.
        guard isPairable else { return failed("unbonded") }
        switch device.manner {
        case .justWorks: bonded()
        case .authorization:
            askAgent(device.path, "RequestAuthorization") { $0 == [] ? self.bonded() : self.failed() }
        case .passkey(let passkey):
            askAgent(device.path, "RequestPasskey") {
                $0 == [.uint32(passkey)] ? self.bonded() : self.failed()
            }
        case .comparison(let number):
            askAgent(device.path, "RequestConfirmation", [.uint32(number)]) {
                $0 == [] ? self.bonded() : self.failed()
            }
        case .display(let passkey):
            for entered: UInt16 in 0..<3 {
                askAgent(device.path, "DisplayPasskey", [.uint32(passkey), .uint16(entered)]) { _ in }
            }
        case .refuses: failed()
        case .error(let name): failed(name)
        case .unbonded:
            devices[device.path]?.isPaired = true
            pairing = nil
            bus?.answer(request)
        case .silence: break
        case .hangsUp: disconnected(device.address)
        case .hangsUpBonded:
            devices[device.path]?.isConnected = false
            bonded()
        }
    }

    private func cancel(_ request: BusRequest) {
        guard pairing?.path == request.path else { return refuse(request, "DoesNotExist") }
        failed("org.bluez.Error.AuthenticationCanceled")
        bus?.answer(request)
    }

    /// The device has typed what was displayed.
    func typed() {
        loop.checkIsolated()
        bonded()
    }

    /// bluetoothd calls its question off, as when the kernel's 30 s are over.
    func givesUp() {
        loop.checkIsolated()
        askAgent("", "Cancel") { _ in }
        failed()
    }

    /// All in one signal; Pair is not answered, and Paired not told.
    private func bonded() {
        guard let path = pairing?.path, let device = devices[path] else { return }
        pairing = nil
        var changes: [String: BusValue] = ["Bonded": .bool(true)]
        if let identity = device.identity {
            devices[path]?.address = identity
            changes["Address"] = .string(identity.address.description)
            changes["AddressType"] = .string(identity.type.rawValue)
            // BlueZ 5.66 then has two objects of one identity, and keeps the keys with the first.
            if devices.values.contains(where: { $0.path != path && $0.address == identity && $0.isBonded }) {
                changes["Bonded"] = nil
                return change(path, changes)
            }
        }
        if !device.isConnected { changes["Connected"] = .bool(false) }
        devices[path]?.isBonded = true
        devices[path]?.isPaired = true
        change(path, changes)
    }

    private func failed(_ error: String = "org.bluez.Error.AuthenticationFailed") {
        guard let request = pairing?.request else { return }
        pairing = nil
        bus?.refuse(request, error)
    }

    private func refuse(_ request: BusRequest, _ error: String) {
        bus?.refuse(request, "org.bluez.Error." + error)
    }

    private func askAgent(
        _ path: String, _ member: String, _ arguments: [BusValue] = [],
        then body: @escaping ([BusValue]?) -> Void
    ) {
        ask(agent, path, member, arguments, then: body)
    }

    private func ask(
        _ agent: (owner: String, path: String)?, _ path: String, _ member: String, _ arguments: [BusValue],
        then body: @escaping ([BusValue]?) -> Void
    ) {
        guard let agent else { return body(nil) }
        let device: [BusValue] = path.isEmpty ? [] : [.objectPath(path)]
        let call = BusCall(to: agent.owner, agent.path, "org.bluez.Agent1", member, device + arguments)
        bus?.send(call, within: Self.forever) { [notes] result in
            switch result {
            case .success(let answer):
                notes.add("\(member): \(answer)")
                body(answer)
            case .failure(let error):
                notes.add("\(member): \(error)")
                body(nil)
            }
        }
    }

    // MARK: Objects

    private func objects() -> BusValue {
        var objects: [BusValue: BusValue] = [:]
        if !adapterAddress.isEmpty {
            objects[.objectPath(Self.adapterPath)] = Self.interfaces(
                "org.bluez.Adapter1",
                [
                    "Address": .string(adapterAddress), "Powered": .bool(isPowered),
                    "Pairable": .bool(isPairable), "Class": .uint32(0), "UUIDs": .array(of: "s", []),
                ])
        }
        for device in devices.values where device.isShown {
            objects[.objectPath(device.path)] = interfaces(of: device)
        }
        return .dictionary(key: "o", value: "a{sa{sv}}", objects)
    }

    private func interfaces(of device: Device) -> BusValue {
        Self.interfaces(
            "org.bluez.Device1",
            [
                "Address": .string(device.address.address.description),
                "AddressType": .string(device.address.type.rawValue),
                "Adapter": .objectPath(Self.adapterPath), "Bonded": .bool(device.isBonded),
                "Paired": .bool(device.isPaired), "Connected": .bool(device.isConnected), "RSSI": .int16(-60),
                "ManufacturerData": .dictionary(
                    key: "q", value: "v", [.uint16(0xFFFF): .variant(.array(of: "y", [.byte(1)]))]),
            ])
    }

    private static func interfaces(_ name: String, _ properties: [String: BusValue]) -> BusValue {
        .dictionary(
            key: "s", value: "a{sv}",
            [
                .string(name): .properties(properties),
                .string("org.freedesktop.DBus.Introspectable"): .properties([:]),
            ])
    }

    private func announce(_ path: String) {
        guard let device = devices[path] else { return }
        emit(
            "/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded",
            [.objectPath(path), interfaces(of: device)])
    }

    private func removed(_ path: String, _ interface: String) {
        emit(
            "/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved",
            [.objectPath(path), .array(of: "s", [.string(interface)])])
    }

    private func change(
        _ path: String, _ properties: [String: BusValue], of interface: String = "org.bluez.Device1"
    ) {
        emit(
            path, "org.freedesktop.DBus.Properties", "PropertiesChanged",
            [.string(interface), .properties(properties), .array(of: "s", [])])
    }
}
