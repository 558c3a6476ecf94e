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

/// Adverts under a list: the filter's decision is that of a plain reading of the specification, and what the kernel's
/// program drops the filter does not admit.
enum AdvertTarget {
    private typealias Mark = AdvertisementFilter.Mark

    /// The input: a list, then an event's parameters.
    static func check(_ bytes: [UInt8]) {
        var draw = Draw(bytes)
        let filter = filter(&draw)
        let hasHandle = draw.flag()
        let parameters = parameters(&draw, hasHandle: hasHandle)
        let receiver = AdvertReceiver(clock: Bench.clock)
        receiver.filter = filter
        var seen: Advertisement?
        receiver.onEvery = { seen = $0 }
        let hasContent = receiver.receive(parameters.span, hasHandle: hasHandle, index: 0)
        require(hasContent == (seen?.data.isEmpty == false), "content or not")
        guard let seen else { return }
        let expected = parameters.dropFirst((hasHandle ? 2 : 0) + 14).prefix(seen.data.count)
        require(expected == seen.data[...], "other data than the event's")

        let admitted = !seen.data.isEmpty && filter.admits(seen.device.address, data: seen.data.span)
        let structures = structures(seen.data)
        let plain =
            !seen.data.isEmpty
            && (filter.addresses.contains(seen.device.address)
                || filter.models.contains { marks in
                    !marks.isEmpty && marks.allSatisfy { mark in structures.contains { bears(mark, $0) } }
                })
        require(admitted == plain, "admitted or not")
        guard let program = AdvertProgram.filter(admitting: filter) else {
            fatalError("no program for a short list")
        }
        let code =
            hasHandle ? ManagementProtocol.Event.monitorDeviceFound : ManagementProtocol.Event.deviceFound
        let packet = ManagementProtocol.packet(code, index: 0, parameters)
        require(!admitted || program.keeps(packet), "the kernel would drop what is wanted")
        for pattern in filter.kernelPatterns {
            require(Int(pattern.offset) + pattern.bytes.count <= 31 && !pattern.bytes.isEmpty)
        }
    }

    /// Of an event: any, or those of a good one around the rest.
    private static func parameters(_ draw: inout Draw, hasHandle: Bool) -> [UInt8] {
        guard !draw.flag() else { return draw.rest() }
        let address = draw.bytes(2)
        let data = draw.rest()
        return (hasHandle ? [7, 0] : []) + address + [UInt8](repeating: 0, count: 2 - address.count)
            + [0x00, 0xEE, 0xFF, 0xC0, 2, 0xC4, 0, 0, 0, 0]
            + AttributeProtocol.littleEndian(UInt16(data.count)) + data
    }

    static func filter(_ draw: inout Draw) -> AdvertisementFilter {
        let size = draw.byte()
        let addresses = (0..<size & 3).map { _ in
            BluetoothAddress(value: 0xC0FF_EE00_0000 | UInt64(draw.number()))
        }
        let models = (0..<size >> 2 & 3).map { _ in (0..<draw.byte() & 3).map { _ in mark(&draw) } }
        return AdvertisementFilter(addresses: Set(addresses), models: models)
    }

    private static func mark(_ draw: inout Draw) -> Mark {
        switch draw.byte() % 5 {
        case 0: .service(draw.number())
        case 1: .longService(BluetoothUUID(high: UInt64(draw.number()) << 48, low: UInt64(draw.byte())))
        case 2: .company(draw.number())
        case 3: .namePrefix(draw.bytes(Int(draw.byte() & 7)))
        default: .nameContains(draw.bytes(Int(draw.byte() & 7)))
        }
    }

    // MARK: The specification, read plainly

    private struct Structure {
        let type: UInt8
        let value: [UInt8]
    }

    private static func structures(_ data: [UInt8]) -> [Structure] {
        var found: [Structure] = []
        var rest = data[...]
        while let length = rest.first, length > 0, rest.count > Int(length) {
            found.append(
                Structure(
                    type: rest[rest.startIndex + 1], value: Array(rest.dropFirst(2).prefix(Int(length) - 1))))
            rest = rest.dropFirst(Int(length) + 1)
        }
        return found
    }

    private static func bears(_ mark: Mark, _ structure: Structure) -> Bool {
        let value = structure.value
        func holds(_ wanted: [UInt8], lists: Set<UInt8>, owner: UInt8) -> Bool {
            if structure.type == owner { return value.starts(with: wanted) }
            guard lists.contains(structure.type) else { return false }
            return stride(from: 0, through: value.count - wanted.count, by: wanted.count)
                .contains { Array(value[$0..<$0 + wanted.count]) == wanted }
        }
        switch mark {
        case .service(let uuid):
            return holds(AttributeProtocol.littleEndian(uuid), lists: [0x02, 0x03], owner: 0x16)
        case .longService(let uuid):
            let octets: [UInt8] = [uuid.low, uuid.high].flatMap { (half: UInt64) -> [UInt8] in
                (0..<8).map { UInt8(truncatingIfNeeded: half >> (8 * UInt64($0))) }
            }
            return holds(octets, lists: [0x06, 0x07], owner: 0x21)
        case .company(let company):
            return holds(AttributeProtocol.littleEndian(company), lists: [], owner: 0xFF)
        case .namePrefix(let prefix):
            return (structure.type == 0x08 || structure.type == 0x09) && !prefix.isEmpty
                && value.starts(with: prefix)
        case .nameContains(let text):
            func folded(_ text: [UInt8]) -> [UInt8] {
                text.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
            }
            return (structure.type == 0x08 || structure.type == 0x09) && !text.isEmpty
                && folded(value).firstRange(of: folded(text)) != nil
        }
    }
}

extension SocketFilter {
    /// Whether the kernel would hand out a packet, by the rules of classic BPF.
    func keeps(_ packet: [UInt8]) -> Bool {
        var accumulator: UInt32 = 0
        var index: UInt32 = 0
        var memory = [UInt32](repeating: 0, count: 16)
        func load(_ start: UInt64, _ octets: UInt64) -> UInt32? {
            guard start + octets <= UInt64(packet.count) else { return nil }
            return (start..<start + octets).reduce(0) { $0 << 8 | UInt32(packet[Int($1)]) }
        }
        var next = 0
        while true {
            let instruction = instructions[next]
            next += 1
            let k = instruction.operand
            let atIndex = UInt64(index) + UInt64(k)
            switch instruction.operation {
            case .loadHalf:
                guard let number = load(UInt64(k), 2) else { return false }
                accumulator = number
            case .loadByteAtIndex:
                guard let number = load(atIndex, 1) else { return false }
                accumulator = number
            case .loadHalfAtIndex:
                guard let number = load(atIndex, 2) else { return false }
                accumulator = number
            case .loadWordAtIndex:
                guard let number = load(atIndex, 4) else { return false }
                accumulator = number
            case .loadLength: accumulator = UInt32(packet.count)
            case .loadMemory: accumulator = memory[Int(k)]
            case .storeMemory: memory[Int(k)] = accumulator
            case .setIndex: index = k
            case .copyToIndex: index = accumulator
            case .copyFromIndex: accumulator = index
            case .add: accumulator &+= k
            case .addIndex: accumulator &+= index
            case .subtract: accumulator &-= k
            case .subtractIndex: accumulator &-= index
            case .and: accumulator &= k
            case .shiftRight: accumulator >>= k
            case .jump: next += Int(k)
            case .jumpIfEqual: next += Int(accumulator == k ? instruction.ifTrue : instruction.ifFalse)
            case .jumpIfAtLeast: next += Int(accumulator >= k ? instruction.ifTrue : instruction.ifFalse)
            case .answer: return k != 0
            }
        }
    }
}
