/// The GATT client of one link (Core Specification Vol 3 Part G 4): finds only what a reading
/// needs, and remembers the handles it found.
package actor AttributeLink: PeripheralLink {
    /// How a link is ended below its socket.
    package struct Ending: Sendable {
        /// Returns when the end of a link that is still up may begin.
        var begin: @Sendable () async -> Void = {}
        /// Called once the channel is closed; returns when nothing remains of the link.
        var hangUp: @Sendable () async -> Void = {}
        /// The end that was begun is over.
        var finish: @Sendable () async -> Void = {}
    }

    package nonisolated let device: DeviceAddress
    private nonisolated let loop: RadioLoop
    let bearer: AttributeBearer
    package internal(set) var layout: AttributeLayout
    private var isClosed = false
    private let ending: Ending
    /// Services whose handles come from an earlier link, so that a refusal may mean that they moved.
    var remembered: Set<String>
    /// Whether the link is encrypted with a bond's keys. If not, an earlier link may have been to an impostor.
    private let isEncrypted: Bool
    /// What handles from an earlier link were found to be on this one.
    var confirmedHandles: [UInt16: BluetoothUUID] = [:]
    /// How many more characteristics are looked at.
    var looksLeft: Int
    private var hasForgotten = false

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe loop.asUnownedSerialExecutor()
    }

    /// Takes over a connected channel.
    /// - Parameters:
    ///   - remembered: the layout that an earlier link ended with.
    ///   - isEncrypted: whether the link is encrypted with a bond's keys.
    ///   - ending: how a link is ended below its socket.
    package init(
        device: DeviceAddress, channel: PacketChannel, loop: RadioLoop, clock: any GatewayClock,
        remembered: AttributeLayout?, isEncrypted: Bool = false,
        ending: Ending = Ending()
    ) {
        self.ending = ending
        self.isEncrypted = isEncrypted
        self.device = device
        self.loop = loop
        layout = remembered ?? .unknown
        self.remembered = Set(layout.services.compactMap { $0.value == nil ? nil : $0.key })
        looksLeft = AttributeLayout.mostCharacteristics - layout.characteristicCount
        bearer = AttributeBearer(channel: channel, loop: loop, clock: clock)
    }

    /// Begins to listen to the peripheral.
    func open() {
        bearer.open()
    }

    package var pduCount: Int { bearer.pduCount }
    package var ended: MonotonicInstant? { bearer.ended }

    package func close() async {
        bearer.stop()
        guard !isClosed else { return }
        isClosed = true
        let isUp = !bearer.isDown
        if isUp { await ending.begin() }
        bearer.close()
        await ending.hangUp()
        if isUp { await ending.finish() }
    }

    // MARK: Reading and writing

    package func has(
        _ characteristic: BluetoothUUID, in service: BluetoothUUID
    ) async throws(LinkError) -> Bool {
        try await retryingWhenOutOfSync { () async throws(LinkError) -> Bool in
            do throws(LinkError) {
                _ = try await find(characteristic, in: service)
                return true
            } catch .missing {
                return false
            }
        }
    }

    package func read(
        _ characteristic: BluetoothUUID, in service: BluetoothUUID
    ) async throws(LinkError) -> [UInt8] {
        try await retryingAfterMove(of: service) { () async throws(LinkError) -> [UInt8] in
            if let handle = layout.services[service.description]??
                .characteristics[characteristic.description]?.valueHandle
            {
                return try await readLong(handle)
            }
            return try await readByType(characteristic, in: service)
        }
    }

    package func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, in service: BluetoothUUID
    ) async throws(LinkError) {
        try await retryingAfterMove(of: service) { () async throws(LinkError) in
            let found = try await find(characteristic, in: service)
            try await verifyHandles([(found.valueHandle, characteristic)], of: service)
            try await write(value, toHandle: found.valueHandle)
        }
    }

    package func writeWithoutResponse(
        _ value: [UInt8], to characteristic: BluetoothUUID, in service: BluetoothUUID
    ) async throws(LinkError) {
        let handle = try await retryingAfterMove(of: service) { () async throws(LinkError) in
            let found = try await find(characteristic, in: service)
            try await verifyHandles([(found.valueHandle, characteristic)], of: service)
            return found.valueHandle
        }
        try bearer.send(
            [AttributeProtocol.Opcode.writeCommand] + AttributeProtocol.littleEndian(handle) + value)
    }

    package func subscribe(
        to characteristic: BluetoothUUID, in service: BluetoothUUID
    ) async throws(LinkError) {
        try await retryingAfterMove(of: service) { () async throws(LinkError) in
            let found = try await find(characteristic, in: service)
            let configuration: UInt16
            if found.properties & AttributeProtocol.Property.indicate != 0 {
                configuration = 0x0002
            } else if found.properties & AttributeProtocol.Property.notify != 0 {
                configuration = 0x0001
            } else {
                throw .missing(AttributeProtocol.Attribute.clientConfiguration)
            }
            let handle = try await configurationHandle(of: characteristic, in: service)
            try await verifyHandles(
                [
                    (found.valueHandle, characteristic),
                    (handle, AttributeProtocol.Attribute.clientConfiguration),
                ], of: service)
            try await write(AttributeProtocol.littleEndian(configuration), toHandle: handle)
        }
    }

    package func ensureMTU(_ length: Int) async throws(LinkError) {
        guard length > bearer.mtu else { return }
        do {
            try await bearer.exchangeMTU(isolation: self)
        } catch .attribute {
            // A peripheral without it stays with 23 (3.4.2.1): long values are read in parts.
        }
    }

    private func write(_ value: [UInt8], toHandle handle: UInt16) async throws(LinkError) {
        let header = [AttributeProtocol.Opcode.writeRequest] + AttributeProtocol.littleEndian(handle)
        _ = try await transact(header + value)
    }

    /// Reads a value whole: what fills its PDU is asked for the rest (Vol 3 Part G 4.8.3).
    private func readLong(_ handle: UInt16) async throws(LinkError) -> [UInt8] {
        let request = [AttributeProtocol.Opcode.readRequest] + AttributeProtocol.littleEndian(handle)
        let first = Array(try await transact(request).dropFirst())
        return try await readRest(of: first, fullLength: bearer.mtu - 1, handle: handle)
    }

    /// Reads a value by its characteristic's UUID, which spares the discovery (4.8.2).
    private func readByType(
        _ characteristic: BluetoothUUID, in service: BluetoothUUID
    ) async throws(LinkError) -> [UInt8] {
        let range = try await find(service)
        let opcode = AttributeProtocol.Opcode.readByTypeRequest
        let request =
            [opcode] + AttributeProtocol.littleEndian(range.firstHandle)
            + AttributeProtocol.littleEndian(range.lastHandle)
            + AttributeProtocol.littleEndian(characteristic)
        let answer: [UInt8]
        do {
            answer = try await transact(request)
        } catch .attribute(AttributeProtocol.Code.attributeNotFound, _) {
            throw .missing(characteristic)
        }
        var reader = PDUReader(answer, skipping: 1)
        guard let length = reader.byte(), length >= 2, let handle = reader.number(),
            handle >= range.firstHandle, handle <= range.lastHandle,
            let value = reader.bytes(Int(length) - 2)
        else { throw .malformed(opcode: opcode) }
        if looksLeft > 0 {
            looksLeft -= 1
            layout.services[service.description]??.characteristics[characteristic.description] =
                AttributeLayout.Characteristic(properties: 0, valueHandle: handle, configurationHandle: nil)
        }
        // The length field counts at most 253 bytes of value (3.4.4.2).
        return try await readRest(of: value, fullLength: min(bearer.mtu - 4, 253), handle: handle)
    }

    private func readRest(
        of first: [UInt8], fullLength: Int, handle: UInt16
    ) async throws(LinkError) -> [UInt8] {
        var value = first
        var isFull = first.count >= fullLength
        while isFull, value.count < AttributeProtocol.longestValue {
            let request =
                [AttributeProtocol.Opcode.readBlobRequest] + AttributeProtocol.littleEndian(handle)
                + AttributeProtocol.littleEndian(UInt16(value.count))
            let part: [UInt8]
            do {
                part = Array(try await transact(request).dropFirst())
            } catch .attribute {
                // "Attribute Not Long" and the like: what came is all there is (4.8.3).
                break
            }
            value += part
            isFull = part.count >= bearer.mtu - 1
        }
        return Array(value.prefix(AttributeProtocol.longestValue))
    }

    /// With a Record Access Control Point: glucose meter, CGM, pulse oximeter, generic health sensor. A cuff may have one.
    private static let servicesWithMemory: Set<BluetoothUUID> = [0x1808, 0x181F, 0x1822, 0x1840]
    private static let recordAccessControlPoint: BluetoothUUID = 0x2A52

    private func hasMemory(_ service: BluetoothUUID) -> Bool {
        Self.servicesWithMemory.contains(service)
            || layout.services[service.description]??
                .characteristics[Self.recordAccessControlPoint.description] != nil
    }

    /// Before the first write to handles that an earlier link has found in a service with a memory, on a link that is not
    /// encrypted: sees that they are what they were. An impostor under the device's address may have shown other handles,
    /// and a write is a command: 02 00 turns indications on at one handle, and deletes records at another. Services
    /// without a memory are not checked, because some devices hang up before two more PDUs.
    /// - Throws: `missing` for one that is another now.
    private func verifyHandles(
        _ handles: [(handle: UInt16, type: BluetoothUUID)], of service: BluetoothUUID
    ) async throws(LinkError) {
        guard !isEncrypted, hasMemory(service),
            remembered.contains(service.description)
        else { return }
        let open = handles.filter { confirmedHandles[$0.handle] != $0.type }
        guard let first = open.first?.handle, let last = open.last?.handle else { return }
        // A value and its configuration stand side by side mostly, and come in one answer.
        var types = try await attributeTypes(from: first, to: max(first, last))
        for (handle, type) in open {
            if types[handle] == nil { types[handle] = try await attributeType(at: handle) }
            guard types[handle] == type else { throw .missing(type) }
            confirmedHandles[handle] = type
        }
    }

    func transact(_ request: [UInt8]) async throws(LinkError) -> [UInt8] {
        do {
            return try await bearer.transact(request, isolation: self)
        } catch .attribute(let code, _) where Self.wantsEncryption.contains(code) {
            throw .notEncrypted
        }
    }

    /// Error codes that a bond would mend (Vol 3 Part F 3.4.1.1).
    private static let wantsEncryption: Set<UInt8> = [
        AttributeProtocol.Code.insufficientAuthentication,
        AttributeProtocol.Code.insufficientKeySize,
        AttributeProtocol.Code.insufficientEncryption,
    ]

    /// Nothing is known of the attributes any more.
    func forgetLayout() {
        layout = .unknown
        remembered = []
        confirmedHandles = [:]
        // A peripheral that has moved its attributes is looked at anew, but only once on a link.
        if !hasForgotten { looksLeft = AttributeLayout.mostCharacteristics }
        hasForgotten = true
    }

    // MARK: Values that the peripheral sends

    package func nextValue(within timeout: Duration) async throws(LinkError) -> ReceivedValue? {
        // Values from unknown handles do not extend the timeout, and asking what they are does not either.
        let deadline = bearer.now + timeout
        while true {
            let left = max(.zero, deadline.since(bearer.now))
            guard let value = try await bearer.nextValue(within: left, isolation: self) else { return nil }
            if let characteristic = characteristic(at: value.handle) {
                return ReceivedValue(
                    characteristic: characteristic, value: value.bytes,
                    isIndication: value.isIndication, received: value.received)
            }
            if let characteristic = try await identify(value) {
                return ReceivedValue(
                    characteristic: characteristic, value: value.bytes,
                    isIndication: value.isIndication, received: value.received)
            }
            guard bearer.now <= deadline else { return nil }
        }
    }

    package func confirm(_ value: ReceivedValue) throws(LinkError) {
        guard value.isIndication else { return }
        try bearer.sendConfirmation()
    }

    private func characteristic(at handle: UInt16) -> BluetoothUUID? {
        for service in layout.services.values {
            guard let service, handle >= service.firstHandle, handle <= service.lastHandle else { continue }
            for (uuid, characteristic) in service.characteristics where characteristic.valueHandle == handle {
                return BluetoothUUID(uuid)
            }
        }
        return nil
    }

    /// A value from a handle that we do not know: the attributes have moved, or this says that they
    /// did. Returns the characteristic if it is one that the reader may want.
    private func identify(_ value: AttributeBearer.Value) async throws(LinkError) -> BluetoothUUID? {
        forgetLayout()
        let type = try await attributeType(at: value.handle)
        if let type, type != AttributeProtocol.Attribute.serviceChanged { return type }
        if value.isIndication { try bearer.sendConfirmation() }
        return nil
    }
}
