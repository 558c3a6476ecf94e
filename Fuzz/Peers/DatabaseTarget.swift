@testable import BlueZBridge
@testable import IngestBluetooth
@testable import IngestConfiguration
@testable import IngestCore
@testable import IngestDelivery
@testable import IngestEntries
@testable import IngestEvents
@testable import IngestOperator
@testable import IngestPeripherals
@testable import IngestProfiles
@testable import IngestQueue
@testable import IngestReading
@testable import IngestRecords
@testable import IngestStorage
@testable import IngestSupervision

/// The discovery, on a peripheral that keeps to the protocol and has the attributes that the input says. What the link
/// finds is what is there.
enum DatabaseTarget {
    private static let uuids: [BluetoothUUID] = [
        0x1809, 0x180F, 0x2A1C, 0x2A19,
        BluetoothUUID(high: 0xAF9D_F7A1_E595_11E3, low: 0x96B4_0002_A5D5_C51B),
        BluetoothUUID(high: 0xAF9D_F7A2_E595_11E3, low: 0x96B4_0002_A5D5_C51B),
    ]

    static func check(_ bytes: [UInt8]) {
        Bench.run { await play(bytes, isolation: $0) }
    }

    private static func play(_ bytes: [UInt8], isolation: isolated Stage) async {
        var draw = Draw(bytes)
        let questions = (0...draw.byte() & 7).map { _ in draw.byte() }
        let database = Database(&draw)
        let (near, far) = Bench.pair()
        let peer = ScriptedPeer(far, silence: .zero, movesAlone: false) { request in
            database.answer(request).map { .send($0, andMore: false) } ?? .silence
        }
        let link = AttributeLink(
            device: DeviceAddress(BluetoothAddress(value: 0xC0FF_EE00_0001), .random), channel: near,
            loop: Bench.loop, clock: Bench.clock, remembered: nil)
        await link.open()
        peer.open()
        for question in questions {
            let service = uuids[Int(question >> 2 & 7) % uuids.count]
            let characteristic = uuids[Int(question >> 5 & 7) % uuids.count]
            await ask(question & 3, characteristic, service, link, database)
        }
        await link.close()
        peer.close()
    }

    private static func ask(
        _ kind: UInt8, _ characteristic: BluetoothUUID, _ service: BluetoothUUID, _ link: AttributeLink,
        _ database: Database
    ) async {
        let range = database.range(of: service)
        let declared = range.flatMap { database.characteristic(characteristic, in: $0) }
        do throws(LinkError) {
            switch kind {
            case 0:
                let has = try await link.has(characteristic, in: service)
                require(has == (declared != nil), "found what is not there, or not what is")
            case 1:
                let value = try await link.read(characteristic, in: service)
                let expected = range.flatMap { range in
                    database.attributes.first { $0.type == characteristic && range.contains($0.handle) }?
                        .value
                }
                require(expected == value, "another value than the attribute's")
            case 2:
                try await link.subscribe(to: characteristic, in: service)
                guard let declared else { fatalError("subscribed to what is not there") }
                require(database.configured == database.configuration(of: declared), "at another handle")
            default: try await link.ensureMTU(100)
            }
        } catch {
            switch error {
            case .missing:
                let isThere: Bool
                switch kind {
                case 0: isThere = true
                case 1:
                    isThere =
                        range.map { range in
                            database.attributes.contains {
                                $0.type == characteristic && range.contains($0.handle)
                            }
                        } ?? false
                default:
                    isThere =
                        declared.map {
                            $0.properties & 0x30 != 0
                                && database.configuration(of: $0, within: AttributeLink.mostDescriptors)
                                    != nil
                        } ?? false
                }
                require(!isThere, "missed what is there")
            default: fatalError("an error of a peripheral that makes none: \(error)")
            }
        }
    }
}

/// An attribute server (Core Specification Vol 3 Part F and G) without faults.
private final class Database {
    struct Attribute {
        let handle: UInt16
        let type: BluetoothUUID
        let value: [UInt8]
        /// Of a declaration.
        var uuid: BluetoothUUID?
    }

    struct Characteristic {
        let handle: UInt16
        let properties: UInt8
    }

    private static let service: BluetoothUUID = 0x2800
    private static let declaration: BluetoothUUID = 0x2803
    private static let clientConfiguration: BluetoothUUID = 0x2902

    private(set) var attributes: [Attribute] = []
    private var mtu = 23
    /// Handle of the configuration that was written last.
    private(set) var configured: UInt16?

    init(_ draw: inout Draw) {
        let uuids: [BluetoothUUID] = [
            0x1809, 0x180F, 0x2A1C, 0x2A19,
            BluetoothUUID(high: 0xAF9D_F7A1_E595_11E3, low: 0x96B4_0002_A5D5_C51B),
            BluetoothUUID(high: 0xAF9D_F7A2_E595_11E3, low: 0x96B4_0002_A5D5_C51B),
        ]
        var handle: UInt16 = draw.number() >> 1
        func next(_ gap: UInt8) -> Bool {
            let (sum, isOver) = handle.addingReportingOverflow(UInt16(gap) + 1)
            if !isOver { handle = sum }
            return !isOver
        }
        while !draw.isEmpty, attributes.count < 200 {
            let byte = draw.byte()
            guard next(byte >> 4 & 3) else { return }
            let uuid = uuids[Int(draw.byte()) % uuids.count]
            switch byte & 7 {
            case 0, 1:
                attributes.append(
                    Attribute(
                        handle: handle, type: Self.service, value: AttributeProtocol.littleEndian(uuid),
                        uuid: uuid))
            case 2, 3, 4:
                // A characteristic, whose value stands right after it, and is read by everybody.
                let declaration = handle
                guard next(0) else { return }
                let properties = draw.byte() | 0x02
                attributes.append(
                    Attribute(
                        handle: declaration, type: Self.declaration,
                        value: [properties] + AttributeProtocol.littleEndian(handle)
                            + AttributeProtocol.littleEndian(uuid),
                        uuid: uuid))
                let count = byte & 0x80 == 0 ? Int(draw.byte() & 0x1F) : Int(draw.number() % 513)
                attributes.append(
                    Attribute(
                        handle: handle, type: uuid,
                        value: (0..<count).map { UInt8(truncatingIfNeeded: $0 ^ count) }))
            case 5:
                attributes.append(Attribute(handle: handle, type: Self.clientConfiguration, value: [0, 0]))
            case 6: attributes.append(Attribute(handle: handle, type: 0x2901, value: [0x41]))
            default:
                attributes.append(
                    Attribute(
                        handle: handle, type: BluetoothUUID(high: 1, low: UInt64(byte)), value: [0x42]))
            }
        }
    }

    // MARK: What there is

    /// From the service's declaration to before the next, or to its last attribute.
    func range(of service: BluetoothUUID) -> ClosedRange<UInt16>? {
        guard
            let place = attributes.firstIndex(where: {
                $0.type == Self.service && $0.value == AttributeProtocol.littleEndian(service)
            })
        else { return nil }
        return range(at: place)
    }

    private func range(at place: Int) -> ClosedRange<UInt16> {
        let next = attributes[(place + 1)...].firstIndex { $0.type == Self.service } ?? attributes.endIndex
        return attributes[place].handle...attributes[next - 1].handle
    }

    /// The first of that UUID.
    func characteristic(_ uuid: BluetoothUUID, in range: ClosedRange<UInt16>) -> Characteristic? {
        attributes.first { $0.type == Self.declaration && range.contains($0.handle) && $0.uuid == uuid }
            .map { Characteristic(handle: $0.handle, properties: $0.value[0]) }
    }

    /// Between the value and what is declared next, among so many attributes.
    func configuration(of characteristic: Characteristic, within limit: Int = .max) -> UInt16? {
        attributes.lazy.filter { $0.handle > characteristic.handle + 1 }.prefix(limit).first {
            $0.type == Self.clientConfiguration || $0.type == Self.declaration || $0.type == Self.service
        }.flatMap { $0.type == Self.clientConfiguration ? $0.handle : nil }
    }

    // MARK: The protocol

    func answer(_ request: [UInt8]) -> [UInt8]? {
        var reader = PDUReader(request, skipping: 1)
        switch request.first {
        case 0x02:
            guard let theirs = reader.number() else { return nil }
            mtu = max(23, min(Int(theirs), 100))
            return [0x03, 100, 0]
        case 0x04:
            guard let first = reader.number(), let last = reader.number() else { return nil }
            return information(first, last)
        case 0x06:
            guard let first = reader.number(), let last = reader.number(), reader.number() == 0x2800,
                let value = reader.bytes(reader.remaining)
            else { return nil }
            return services(value, first, last)
        case 0x08:
            guard let first = reader.number(), let last = reader.number(),
                let type = reader.uuid(length: reader.remaining)
            else { return nil }
            return values(type, first, last)
        case 0x0A, 0x0C:
            guard let handle = reader.number() else { return nil }
            let offset = request[0] == 0x0A ? 0 : Int(reader.number() ?? 0)
            guard let value = attributes.first(where: { $0.handle == handle })?.value else {
                return error(request[0], handle, 0x01)
            }
            guard offset <= value.count else { return error(request[0], handle, 0x07) }
            return [request[0] + 1] + value.dropFirst(offset).prefix(mtu - 1)
        case 0x12:
            guard let handle = reader.number() else { return nil }
            configured = handle
            return [0x13]
        default: return nil
        }
    }

    private func error(_ opcode: UInt8, _ handle: UInt16, _ code: UInt8) -> [UInt8] {
        [0x01, opcode] + AttributeProtocol.littleEndian(handle) + [code]
    }

    private func attributes(_ first: UInt16, _ last: UInt16) -> [Attribute] {
        attributes.filter { $0.handle >= first && $0.handle <= last }
    }

    /// 3.4.3.1: UUIDs of one length.
    private func information(_ first: UInt16, _ last: UInt16) -> [UInt8] {
        let found = attributes(first, last)
        guard let length = found.first.map({ AttributeProtocol.littleEndian($0.type).count }) else {
            return error(0x04, first, 0x0A)
        }
        var answer: [UInt8] = [0x05, length == 2 ? 1 : 2]
        for attribute in found {
            let type = AttributeProtocol.littleEndian(attribute.type)
            guard type.count == length, answer.count + 2 + length <= mtu else { break }
            answer += AttributeProtocol.littleEndian(attribute.handle) + type
        }
        return answer
    }

    /// 3.4.3.3.
    private func services(_ value: [UInt8], _ first: UInt16, _ last: UInt16) -> [UInt8] {
        var answer: [UInt8] = [0x07]
        for (place, attribute) in attributes.enumerated()
        where attribute.type == Self.service && attribute.value == value && attribute.handle >= first
            && attribute.handle <= last && answer.count + 4 <= mtu
        {
            let range = range(at: place)
            answer +=
                AttributeProtocol.littleEndian(range.lowerBound)
                + AttributeProtocol.littleEndian(range.upperBound)
        }
        return answer.count > 1 ? answer : error(0x06, first, 0x0A)
    }

    /// 3.4.4.1: values of one length, each cut to what fits.
    private func values(_ type: BluetoothUUID, _ first: UInt16, _ last: UInt16) -> [UInt8] {
        let found = attributes(first, last).filter { $0.type == type }
        guard let length = found.first.map({ min($0.value.count, mtu - 4, 253) }) else {
            return error(0x08, first, 0x0A)
        }
        var answer: [UInt8] = [0x09, UInt8(length + 2)]
        for attribute in found {
            let value = attribute.value.prefix(min(mtu - 4, 253))
            guard value.count == length, answer.count + 2 + length <= mtu else { break }
            answer += AttributeProtocol.littleEndian(attribute.handle) + value
        }
        return answer
    }
}
