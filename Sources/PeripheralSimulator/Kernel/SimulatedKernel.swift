/// The kernel's side of a Bluetooth management channel (BlueZ doc/mgmt-api.txt), with the adapters
/// that it is given. It reports adverts the way a 6.1 kernel does: all of them while any monitor is
/// in place, or, where the controller matches, those that a pattern or the device list wants.
///
/// Sendable is checked by hand: everything that changes is touched on the radio's loop only, where
/// the public methods go.
package final class SimulatedKernel: @unchecked Sendable {
    package struct Command: Sendable, Equatable {
        package let opcode: UInt16
        package let index: UInt16
        package let parameters: [UInt8]
    }

    /// What a command gets instead of its proper answer.
    package enum Answer: Sendable {
        case status(UInt8)
        case none
        /// The proper one, later.
        case late(Duration)
        /// Success with these parameters.
        case parameters([UInt8])
    }

    /// Commands that are kept, and that wait for a reader.
    private static let longestMemory = 4_096
    /// HCI_CMD_TIMEOUT.
    private static let controllerTimeout = Duration.seconds(2)

    /// Every command in the order received; the oldest are dropped when nobody reads. One reader.
    package let commands: AsyncStream<Command>
    private let continuation: AsyncStream<Command>.Continuation
    /// The gateway's end of the channel.
    package let gatewayChannel: PacketChannel
    private var channel: PacketChannel
    private let loop: RadioLoop
    private var inventory: [UInt16: SimulatedAdapter] = [:]
    private var history: [Command] = []
    /// Answers other than the proper ones, by opcode, the next first.
    private var overrides: [UInt16: [Answer]] = [:]

    /// - Throws: the errno of socketpair(2).
    package init(loop: RadioLoop, adapters: [SimulatedAdapter]) throws(SystemError) {
        self.loop = loop
        (channel, gatewayChannel) = try PacketChannel.pair(on: loop)
        for adapter in adapters { inventory[adapter.index] = adapter }
        (commands, continuation) = AsyncStream.makeStream(
            bufferingPolicy: .bufferingNewest(Self.longestMemory))
    }

    /// Begins to answer.
    package func open() async {
        await loop.perform { self.openOnLoop() }
    }

    /// Answers on this channel from now on. The adapters stay as they are.
    func serve(_ channel: PacketChannel) {
        self.channel.close()
        self.channel = channel
        openOnLoop()
    }

    func openOnLoop() {
        channel.open(
            onPacket: { [weak self] packet in
                var header = ManagementReader(packet)
                guard let self, let opcode = header.number16(), let index = header.number16(),
                    let length = header.number16(), let range = header.range(Int(length))
                else { return }
                received(
                    Command(
                        opcode: opcode, index: index, parameters: Wire.copy(packet.extracting(range))))
            }, onEnd: { _ in })
    }

    // MARK: For tests

    /// Everything asked so far.
    package var received: [Command] {
        get async { await loop.perform { self.history } }
    }

    /// An adapter as it stands now.
    package func adapter(_ index: UInt16) async -> SimulatedAdapter? {
        await loop.perform { self.inventory[index] }
    }

    /// Answers the next commands of this kind so, one each; after them properly.
    package func answer(_ opcode: UInt16, with answers: [Answer]) async {
        await loop.perform { self.overrides[opcode] = answers }
    }

    package func plugIn(_ adapter: SimulatedAdapter) async {
        await loop.perform {
            self.inventory[adapter.index] = adapter
            self.send(ManagementProtocol.Event.indexAdded, adapter.index, [])
        }
    }

    package func unplug(_ index: UInt16) async {
        await loop.perform {
            guard self.inventory.removeValue(forKey: index) != nil else { return }
            self.send(ManagementProtocol.Event.indexRemoved, index, [])
        }
    }

    /// Somebody else powers the adapter on or off.
    package func setPowered(_ isPowered: Bool, _ index: UInt16) async {
        await loop.perform {
            guard self.inventory[index] != nil else { return }
            self.inventory[index]?.isPowered = isPowered
            self.send(
                ManagementProtocol.Event.newSettings, index,
                Wire.bytes(self.inventory[index]?.settings ?? 0))
        }
    }

    /// The adapter's controller stops answering.
    package func die(_ death: SimulatedAdapter.Death, _ index: UInt16) async {
        await loop.perform { self.inventory[index]?.death = death }
    }

    /// Somebody else adds a monitor.
    package func addMonitor(_ patterns: [AdvertisementPattern], _ index: UInt16) async {
        await loop.perform { _ = self.inventory[index]?.addMonitor(patterns) }
    }

    /// Somebody removes all monitors at once, as bluetoothd does when it starts: one event, with
    /// handle 0.
    package func removeMonitors(_ index: UInt16) async {
        await loop.perform {
            self.inventory[index]?.monitors.removeAll()
            self.send(ManagementProtocol.Event.monitorRemoved, index, Wire.bytes(UInt16(0)))
        }
    }

    /// Somebody else removes a monitor.
    package func removeMonitor(_ handle: UInt16, _ index: UInt16) async {
        await loop.perform {
            guard self.inventory[index]?.monitors.removeValue(forKey: handle) != nil else { return }
            self.send(ManagementProtocol.Event.monitorRemoved, index, Wire.bytes(handle))
        }
    }

    /// Puts an advert on the air.
    package func advertise(
        _ data: [UInt8], from device: DeviceAddress, rssi: Int8 = -60, isConnectable: Bool = true,
        scanResponse: [UInt8] = []
    ) async {
        await loop.perform {
            self.transmit(
                data, from: device, rssi: rssi, isConnectable: isConnectable, scanResponse: scanResponse)
        }
    }

    /// Sends any packet.
    package func sendRaw(_ packet: [UInt8]) async {
        await loop.perform { try? self.channel.send(packet) }
    }

    /// Ends the channel.
    package func close() async {
        await loop.perform { self.channel.close() }
    }

    // MARK: On the loop

    func address(of index: UInt16) -> BluetoothAddress? { inventory[index]?.address }

    func mostLinks(of address: BluetoothAddress) -> Int? {
        inventory.values.first { $0.address == address }?.mostLinks
    }

    func isPowered(_ address: BluetoothAddress) -> Bool {
        inventory.values.contains { $0.address == address && $0.isPowered }
    }

    /// A link over the adapter with this address has ended.
    /// - Parameter done: called when the adapter reports adverts again.
    func linkEnded(_ address: BluetoothAddress, done: @escaping () -> Void) {
        guard let (index, adapter) = inventory.first(where: { $0.value.address == address }),
            adapter.deafness > .zero
        else { return }
        inventory[index]?.deafFrom += 1
        loop.after(adapter.deafness) { [weak self] in
            guard let self, let deafFrom = inventory[index]?.deafFrom, deafFrom > 0 else { return }
            inventory[index]?.deafFrom = deafFrom - 1
            done()
        }
    }

    /// - Parameter scanResponse: what the device answers to a scan request; the kernel reports it behind the
    ///   advert.
    func transmit(
        _ advert: [UInt8], from device: DeviceAddress, rssi: Int8 = -60, isConnectable: Bool = true,
        scanResponse: [UInt8] = []
    ) {
        let flags = isConnectable ? 0 : ManagementProtocol.notConnectableFlag
        for (index, adapter) in inventory {
            let data = adapter.isDiscovering ? advert + scanResponse : advert
            guard let report = adapter.report(of: device, data: data) else { continue }
            // Address and type, RSSI, flags, data.
            let found =
                ManagementProtocol.bytes(of: device) + [UInt8(bitPattern: rssi)] + Wire.bytes(flags)
                + Wire.bytes(UInt16(clamping: data.count)) + data
            switch report {
            case .monitor(let handle):
                send(ManagementProtocol.Event.monitorDeviceFound, index, Wire.bytes(handle) + found)
            case .device:
                send(ManagementProtocol.Event.deviceFound, index, found)
            }
        }
    }

    private func send(_ event: UInt16, _ index: UInt16, _ parameters: [UInt8]) {
        // A gateway that has gone is told nothing.
        try? channel.send(ManagementProtocol.packet(event, index: index, parameters))
    }

    private func received(_ command: Command) {
        history.append(command)
        if history.count > Self.longestMemory { history.removeFirst() }
        continuation.yield(command)
        guard let override = overrides[command.opcode]?.first else {
            // The kernel waits for the controller, and answers then.
            let isLate =
                command.opcode == ManagementProtocol.Opcode.getClockInformation
                && inventory[command.index]?.death != nil
            guard isLate else { return complete(command) }
            loop.after(Self.controllerTimeout) { [weak self] in self?.complete(command) }
            return
        }
        overrides[command.opcode]?.removeFirst()
        switch override {
        case .status(let status): answer(command, status)
        case .none: break
        case .late(let delay): loop.after(delay) { [weak self] in self?.complete(command) }
        case .parameters(let parameters):
            answer(command, ManagementProtocol.Status.success, parameters)
        }
    }

    private func answer(_ command: Command, _ status: UInt8, _ parameters: [UInt8] = []) {
        let isComplete = status == ManagementProtocol.Status.success
        send(
            isComplete ? ManagementProtocol.Event.commandComplete : ManagementProtocol.Event.commandStatus,
            command.index, Wire.bytes(command.opcode) + [status] + parameters)
    }

    private func complete(_ command: Command) {
        typealias Opcode = ManagementProtocol.Opcode
        typealias Status = ManagementProtocol.Status
        if command.opcode == Opcode.readIndexList {
            let indexes = inventory.keys.sorted()
            return answer(
                command, Status.success,
                Wire.bytes(UInt16(clamping: indexes.count)) + indexes.flatMap { Wire.bytes($0) })
        }
        guard var adapter = inventory[command.index] else { return answer(command, Status.invalidIndex) }
        let (status, parameters) = adapter.perform(command.opcode, command.parameters)
        inventory[command.index] = adapter
        answer(command, status, parameters)
    }
}
