import BlueZBridge
import TestSupport

/// Packets of a management socket, of which some are adverts that a filter admits, many nearly so, and many damaged.
struct RandomAdverts {
    private static let types: [UInt8] = [0x01, 0x02, 0x03, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x16, 0x21, 0xFF]

    private var random: SeededGenerator
    private let marks: [[AdvertisementFilter.Mark]]
    private let addresses: [BluetoothAddress]

    init(for filter: AdvertisementFilter, seed: UInt64) {
        random = SeededGenerator(seed: seed)
        marks = filter.models
        addresses = filter.addresses.sorted { $0.value < $1.value }
    }

    mutating func next() -> [UInt8] {
        var data: [UInt8] = []
        // Up to what an extended advert holds, now and then.
        let longest = chance(0.1) ? Advertisement.maximumDataLength : 31
        for mark in chance(0.5) ? marks.randomElement(using: &random) ?? [] : [] {
            while chance(0.5) { data += anything() }
            data += structure(bearing: mark)
        }
        while chance(0.6), data.count < longest { data += anything() }
        if chance(0.05) { while data.count < longest { data += anything() } }
        if chance(0.2), !data.isEmpty { data[position(in: data)] = byte() }
        var packet: [UInt8] = .found(
            Array(data.prefix(Advertisement.maximumDataLength)), from: address(), hasHandle: chance(0.5))
        if chance(0.1) { packet[position(in: packet)] = byte() }
        if chance(0.1) { packet.removeLast(Int.random(in: 0..<packet.count, using: &random)) }
        return packet
    }

    // MARK: Parts

    private mutating func address() -> BluetoothAddress {
        if chance(0.1), let listed = addresses.randomElement(using: &random) { return listed }
        return BluetoothAddress(value: random.next())
    }

    private mutating func structure(bearing mark: AdvertisementFilter.Mark) -> [UInt8] {
        switch mark {
        case .service(let uuid):
            let octets = littleEndian(uuid)
            if chance(0.3) { return structure(0x16, octets + bytes(0...20)) }
            return structure(
                chance(0.5) ? 0x02 : 0x03, bytes(inPairs: 0...5) + octets + bytes(inPairs: 0...5))
        case .longService(let uuid):
            let octets = littleEndian(uuid.low) + littleEndian(uuid.high)
            if chance(0.3) { return structure(0x21, octets + bytes(0...8)) }
            return structure(chance(0.5) ? 0x06 : 0x07, (chance(0.3) ? bytes(16...16) : []) + octets)
        case .company(let company): return structure(0xFF, littleEndian(company) + bytes(0...20))
        case .namePrefix(let prefix): return structure(chance(0.5) ? 0x08 : 0x09, prefix + bytes(0...8))
        case .nameContains(let text): return structure(0x09, bytes(0...8) + text + bytes(0...8))
        }
    }

    /// A structure that says nothing of use, or ends the advert.
    private mutating func anything() -> [UInt8] {
        if chance(0.02) { return [0] }
        let type = chance(0.9) ? Self.types.randomElement(using: &random) ?? 0 : byte()
        return structure(type, bytes(0...(chance(0.1) ? 250 : 8)))
    }

    private func structure(_ type: UInt8, _ value: [UInt8]) -> [UInt8] {
        [UInt8(clamping: value.count + 1), type] + value
    }

    private func littleEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    private mutating func bytes(_ count: ClosedRange<Int>) -> [UInt8] {
        (0..<Int.random(in: count, using: &random)).map { _ in byte() }
    }

    private mutating func bytes(inPairs count: ClosedRange<Int>) -> [UInt8] {
        let pairs = Int.random(in: count, using: &random)
        return bytes(2 * pairs...2 * pairs)
    }

    private mutating func byte() -> UInt8 { .random(in: 0...255, using: &random) }

    private mutating func position(in bytes: [UInt8]) -> Int { .random(in: bytes.indices, using: &random) }

    private mutating func chance(_ probability: Double) -> Bool {
        .random(in: 0..<1, using: &random) < probability
    }
}
