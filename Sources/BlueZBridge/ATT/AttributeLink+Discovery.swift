/// Discovery of what a reading needs, and no more (Core Specification Vol 3 Part G 4.4 to 4.7).
extension AttributeLink {
    /// Descriptors of one characteristic that are looked at; the specification defines about 20.
    static let mostDescriptors = 64

    /// Runs `body`; when the peripheral refuses a handle that an earlier link had found, the
    /// service is forgotten, found anew, and `body` runs once more.
    func retryingAfterMove<Result: Sendable>(
        of service: BluetoothUUID, _ body: () async throws(LinkError) -> Result
    ) async throws(LinkError) -> Result {
        try await retryingWhenOutOfSync { () async throws(LinkError) -> Result in
            do throws(LinkError) {
                return try await body()
            } catch {
                guard Self.mayMeanMoved(error), remembered.contains(service.description) else { throw error }
                // When one service has moved, the others cannot be trusted either.
                forgetLayout()
                return try await body()
            }
        }
    }

    /// Runs `body`, and once more when a server with robust caching has refused a request because its attributes have
    /// changed. It takes the next request (Vol 3 Part G 2.5.2.1). The gateway does not ask for robust caching, but
    /// bluetoothd does, and a server with a bond takes the two for one client.
    func retryingWhenOutOfSync<Result: Sendable>(
        _ body: () async throws(LinkError) -> Result
    ) async throws(LinkError) -> Result {
        do {
            return try await body()
        } catch .attribute(AttributeProtocol.Code.databaseOutOfSync, _) {
            forgetLayout()
            return try await body()
        }
    }

    private static func mayMeanMoved(_ error: LinkError) -> Bool {
        switch error {
        case .missing: true
        case .attribute(let code, _):
            switch code {
            case AttributeProtocol.Code.invalidHandle, AttributeProtocol.Code.readNotPermitted,
                AttributeProtocol.Code.writeNotPermitted, AttributeProtocol.Code.requestNotSupported,
                AttributeProtocol.Code.attributeNotFound:
                true
            default: false
            }
        default: false
        }
    }

    /// The handles of a primary service (4.4.2).
    func find(_ service: BluetoothUUID) async throws(LinkError) -> AttributeLayout.Service {
        if let known = layout.services[service.description] {
            guard let known else { throw .missing(service) }
            return known
        }
        let opcode = AttributeProtocol.Opcode.findByTypeValueRequest
        let answer: [UInt8]
        do {
            answer = try await transact(
                [opcode] + AttributeProtocol.allHandles
                    + AttributeProtocol.littleEndian(AttributeProtocol.Attribute.primaryService)
                    + AttributeProtocol.littleEndian(service))
        } catch .attribute(AttributeProtocol.Code.attributeNotFound, _) {
            layout.services[service.description] = .some(nil)
            throw .missing(service)
        }
        var reader = PDUReader(answer, skipping: 1)
        guard let first = reader.number(), let last = reader.number(), first > 0, first <= last else {
            throw .malformed(opcode: opcode)
        }
        // An earlier link found another service there: the attributes have moved, or the device has become another model.
        // Values of this service would be taken for that one's.
        let isElsewhere = layout.services.contains { name, known in
            guard let known, remembered.contains(name) else { return false }
            return known.firstHandle <= last && first <= known.lastHandle
        }
        if isElsewhere { forgetLayout() }
        let found = AttributeLayout.Service(firstHandle: first, lastHandle: last, characteristics: [:])
        layout.services[service.description] = found
        return found
    }

    /// The declaration of a characteristic (4.6.2): its service is walked until it is met, or until as many
    /// characteristics were met as are looked at. What stands behind those counts as missing.
    @discardableResult
    func find(
        _ characteristic: BluetoothUUID, in service: BluetoothUUID
    ) async throws(LinkError) -> AttributeLayout.Characteristic {
        let range = try await find(service)
        if let known = range.characteristics[characteristic.description], known.properties != 0 {
            return known
        }
        guard range.isWhole != true else { throw .missing(characteristic) }
        let opcode = AttributeProtocol.Opcode.readByTypeRequest
        // An earlier walk met declarations in their order, up to the highest that is known.
        let walked = range.characteristics.values.filter { $0.properties != 0 }.map(\.valueHandle).max()
        var next = walked.map { $0 == .max ? $0 : $0 + 1 } ?? range.firstHandle
        while next <= range.lastHandle {
            guard looksLeft > 0 else { throw .missing(characteristic) }
            let answer: [UInt8]
            do {
                answer = try await transact(
                    [opcode] + AttributeProtocol.littleEndian(next)
                        + AttributeProtocol.littleEndian(range.lastHandle)
                        + AttributeProtocol.littleEndian(AttributeProtocol.Attribute.characteristic))
            } catch .attribute(AttributeProtocol.Code.attributeNotFound, _) {
                break
            }
            guard let last = record(declarations: answer, of: service, from: next, in: range) else {
                throw .malformed(opcode: opcode)
            }
            if let found = layout.services[service.description]??
                .characteristics[characteristic.description], found.properties != 0
            {
                return found
            }
            guard last < UInt16.max else { break }
            next = last + 1
        }
        layout.services[service.description]??.isWhole = true
        throw .missing(characteristic)
    }

    /// Takes the characteristic declarations of an answer into the layout; returns the handle of the last one's value, or
    /// nil for an answer that breaks the protocol or goes backwards.
    private func record(
        declarations answer: [UInt8], of service: BluetoothUUID, from start: UInt16,
        in range: AttributeLayout.Service
    ) -> UInt16? {
        var reader = PDUReader(answer, skipping: 1)
        // Handle, properties, value handle, and a UUID of 2 or 16 bytes.
        guard let length = reader.byte(), length == 7 || length == 21 else { return nil }
        var last: UInt16?
        while reader.remaining >= Int(length), looksLeft > 0 {
            guard let declaration = reader.number(), let properties = reader.byte(),
                let value = reader.number(), let uuid = reader.uuid(length: Int(length) - 5),
                declaration >= max(start, (last ?? 0) &+ 1), declaration < value, value <= range.lastHandle
            else { return nil }
            last = value
            looksLeft -= 1
            let known = layout.services[service.description]??.characteristics[uuid.description]
            // Of several with one UUID the first counts.
            if let known, known.properties != 0 { continue }
            layout.services[service.description]??.characteristics[uuid.description] =
                AttributeLayout.Characteristic(
                    properties: properties, valueHandle: value, configurationHandle: nil)
        }
        return last
    }

    /// The handle of a characteristic's configuration descriptor (4.7.1), which lies between its
    /// value and the next characteristic.
    func configurationHandle(
        of characteristic: BluetoothUUID, in service: BluetoothUUID
    ) async throws(LinkError) -> UInt16 {
        let found = try await find(characteristic, in: service)
        if let known = found.configurationHandle { return known }
        let range = try await find(service)
        // The next declaration lies right before the next value.
        let nextValue = range.characteristics.values.map(\.valueHandle).filter { $0 > found.valueHandle }
            .min()
        let last = nextValue.map { $0 - 2 } ?? range.lastHandle
        var next = found.valueHandle
        var lookedAt = 0
        while next < last, lookedAt < Self.mostDescriptors {
            let (descriptors, end) = try await descriptors(from: next + 1, to: last)
            // What comes after the next declaration belongs to another characteristic.
            let own = descriptors.prefix { $0.type != AttributeProtocol.Attribute.characteristic }
            if let match = own.first(where: {
                $0.type == AttributeProtocol.Attribute.clientConfiguration
            }) {
                layout.services[service.description]??.characteristics[characteristic.description]?
                    .configurationHandle = match.handle
                return match.handle
            }
            guard own.count == descriptors.count else { break }
            lookedAt += own.count
            guard let end, end > next else { break }
            next = end
        }
        throw .missing(AttributeProtocol.Attribute.clientConfiguration)
    }

    /// The type of one attribute; nil where there is none.
    func attributeType(at handle: UInt16) async throws(LinkError) -> BluetoothUUID? {
        try await descriptors(from: handle, to: handle).found.first?.type
    }

    /// The types of the attributes in a range, as many as one answer holds.
    func attributeTypes(
        from first: UInt16, to last: UInt16
    ) async throws(LinkError) -> [UInt16: BluetoothUUID] {
        let found = try await descriptors(from: first, to: last).found
        return Dictionary(found.map { ($0.handle, $0.type) }) { first, _ in first }
    }

    /// One Find Information exchange (Vol 3 Part F 3.4.3.1): what stands in the range, and the last
    /// handle of the answer.
    private func descriptors(
        from first: UInt16, to last: UInt16
    ) async throws(LinkError) -> (found: [(handle: UInt16, type: BluetoothUUID)], end: UInt16?) {
        let opcode = AttributeProtocol.Opcode.findInformationRequest
        let answer: [UInt8]
        do {
            answer = try await transact(
                [opcode] + AttributeProtocol.littleEndian(first) + AttributeProtocol.littleEndian(last))
        } catch .attribute(AttributeProtocol.Code.attributeNotFound, _) {
            return ([], nil)
        }
        var reader = PDUReader(answer, skipping: 1)
        // Format 1 has UUIDs of 2 bytes, format 2 of 16.
        guard let format = reader.byte(), format == 1 || format == 2 else { throw .malformed(opcode: opcode) }
        let length = format == 1 ? 2 : 16
        var found: [(UInt16, BluetoothUUID)] = []
        while reader.remaining >= 2 + length {
            guard let handle = reader.number(), let type = reader.uuid(length: length),
                handle >= first, handle <= last
            else { throw .malformed(opcode: opcode) }
            found.append((handle, type))
        }
        return (found, found.last?.0)
    }

    package func checkDatabaseHash() async throws(LinkError) {
        let opcode = AttributeProtocol.Opcode.readByTypeRequest
        let answer: [UInt8]
        do {
            answer = try await transact(
                [opcode] + AttributeProtocol.allHandles
                    + AttributeProtocol.littleEndian(AttributeProtocol.Attribute.databaseHash))
        } catch .attribute(_, _) {
            // Nothing would tell that an update brought what was missing: it is looked for again.
            layout.services = layout.services.filter { $0.value != nil }
            for service in layout.services.keys { layout.services[service]??.isWhole = nil }
            return
        }
        // Length, handle, and 128 bits.
        var reader = PDUReader(answer, skipping: 2)
        guard reader.number() != nil, let hash = reader.bytes(16) else { throw .malformed(opcode: opcode) }
        let text = hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        if let known = layout.databaseHash, known != text { forgetLayout() }
        layout.databaseHash = text
    }
}
