import BlueZBridge
import TestSupport
import Testing

@testable import IngestBluetooth
@testable import IngestConfiguration
@testable import IngestCore

/// Which events the kernel lets through, by a program that it runs itself.
@Suite(.timeLimit(.minutes(15)))
struct AdvertProgramTests {
    typealias Mark = AdvertisementFilter.Mark

    private static let listed = BluetoothAddress(value: 0xC6A1_B2C3_D4E5)
    private static let stranger = BluetoothAddress(value: 0xC7A1_B2C3_0077)
    private static let shipped =
        (try? Catalogue.load(path: "/nowhere", additions: "/nowhere").catalogue.models.flatMap(\.recognised))
        ?? []
    private static let everyMark: [[Mark]] = [
        [.service(0x1809)], [.service(0x1810), .nameContains(Array("bp".utf8))],
        [.longService(BluetoothUUID(high: 0xAF9D_F7A1_E595_11E3, low: 0x96B4_0002_A5D5_C51B))],
        [.company(0x020E)], [.namePrefix(Array("B".utf8))], [.namePrefix(Array("BM7".utf8))],
        [.namePrefix(Array("OneTouch".utf8)), .service(0x1808)], [], [.namePrefix([])],
    ]

    private static func filter(_ addresses: Int, _ models: [[Mark]], seed: UInt64) -> AdvertisementFilter {
        var random = SeededGenerator(seed: seed)
        return AdvertisementFilter(
            addresses: Set((0..<addresses).map { _ in BluetoothAddress(value: random.next()) }),
            models: models)
    }

    static let lists: [AdvertisementFilter] = [
        filter(0, [], seed: 1), filter(1, [], seed: 2), filter(300, [], seed: 3), filter(0, shipped, seed: 4),
        filter(5, shipped, seed: 5), filter(2, everyMark, seed: 6),
        filter(2, everyMark + [[.nameContains(Array("x".utf8))]], seed: 7),
        filter(0, (0..<100).map { [.service(0x1800 + $0)] }, seed: 8),
    ]

    private func socket(for filter: AdvertisementFilter) async throws -> FilteredSocket {
        let socket = try await FilteredSocket()
        let program = try #require(AdvertProgram.filter(admitting: filter))
        try await socket.setFilter(program)
        return socket
    }

    /// Whether the filter admits what a packet reports, as `AdvertReceiver` reads it.
    private static func admits(_ filter: AdvertisementFilter, _ packet: [UInt8]) -> Bool {
        var header = ManagementReader(packet.span)
        guard let event = header.number16(), header.number16() != nil, let length = header.number16(),
            let range = header.range(Int(length))
        else { return false }
        let parameters = packet.span.extracting(range)
        var reader = ManagementReader(parameters)
        switch event {
        case ManagementProtocol.Event.deviceFound: break
        case ManagementProtocol.Event.monitorDeviceFound: _ = reader.number16()
        default: return false
        }
        guard let address = reader.address(), reader.number16() != nil, reader.number32() != nil,
            let count = reader.number16(), let data = reader.range(Int(count))
        else { return false }
        return filter.admits(address, data: parameters.extracting(data))
    }

    @Test(arguments: lists.indices)
    func whateverIsAdmittedComes(list: Int) async throws {
        let filter = Self.lists[list]
        let socket = try await socket(for: filter)
        var adverts = RandomAdverts(for: filter, seed: UInt64(list))
        let packets = (0..<20_000).map { _ in adverts.next() }
        let comes = await socket.lets(packets)
        let admitted = packets.map { Self.admits(filter, $0) }
        let lost = zip(packets, zip(admitted, comes)).filter { $1.0 && !$1.1 }.map(\.0)
        #expect(lost.isEmpty, "\(lost.first ?? [])")
        #expect(list == 0 || admitted.count(where: \.self) > 500)
        #expect(comes.count(where: \.self) < packets.count * 9 / 10)
    }

    /// What is in the air of a flat: a telephone, a beacon, a key finder, a watch with its services, a mouse.
    private static let strangers: [[UInt8]] = [
        [2, 1, 0x1A, 10, 0xFF, 0x4C, 0, 0x10, 5, 1, 0x18, 0x2E, 0x6F, 0x31],
        [2, 1, 6, 26, 0xFF, 0x4C, 0, 2, 21] + [UInt8](repeating: 0x5A, count: 20) + [0xC5],
        [2, 1, 2, 3, 3, 0x6F, 0xFD, 23, 0x16, 0x6F, 0xFD] + [UInt8](repeating: 0x77, count: 20),
        [2, 1, 6, 7, 2, 0x0F, 0x18, 0x0A, 0x18, 0x05, 0x18, 2, 0x0A, 4],
        [2, 1, 6, 17, 7] + [UInt8](repeating: 0xD1, count: 16) + [3, 0x19, 0xC2, 3], [2, 1, 6], [0, 0, 0], [],
        // Cut off.
        [2, 1, 6, 9, 3, 0x0D],
    ]

    @Test(arguments: [1, 2, 3, 4, 5])
    func whatStrangersSendDoesNot(list: Int) async throws {
        let socket = try await socket(for: Self.lists[list])
        for hasHandle in [false, true] {
            for data in Self.strangers {
                let packet: [UInt8] = .found(data, from: Self.stranger, hasHandle: hasHandle)
                #expect(await !socket.lets(packet), "\(data)")
            }
        }
    }

    @Test func everyOtherEventComes() async throws {
        let socket = try await socket(for: AdvertisementFilter())
        for event in (UInt16(0)...0x0140) where event != 0x0012 && event != 0x002F {
            for count in [0, 1, 2, 13, 14, 40, 600] {
                let packet = ManagementProtocol.packet(
                    event, index: 0, [UInt8](repeating: 0x12, count: count))
                #expect(await socket.lets(packet), "0x\(String(event, radix: 16)) with \(count) octets")
            }
        }
    }

    @Test func whatIsTooShortForAnAdvertComes() async throws {
        let socket = try await socket(for: AdvertisementFilter(addresses: [Self.listed]))
        for hasHandle in [false, true] {
            let packet: [UInt8] = .found([], from: Self.stranger, hasHandle: hasHandle)
            #expect(await !socket.lets(packet))
            for length in 1..<packet.count { #expect(await socket.lets(Array(packet.prefix(length)))) }
        }
    }

    @Test func aListedAddressComesWhateverItSends() async throws {
        let socket = try await socket(for: AdvertisementFilter(addresses: [Self.listed]))
        for hasHandle in [false, true] {
            for data in Self.strangers {
                #expect(await socket.lets(.found(data, from: Self.listed, hasHandle: hasHandle)))
            }
            for octet in 0..<4 {
                let near = BluetoothAddress(value: Self.listed.value ^ 1 << (octet * 8))
                #expect(await !socket.lets(.found([2, 1, 6], from: near, hasHandle: hasHandle)))
            }
        }
    }

    /// What an extended advert has room for is more than a program looks at.
    @Test(arguments: [5, 11, 12, 13, 300])
    func aServiceBehindManyStructuresComes(others: Int) async throws {
        let socket = try await socket(for: AdvertisementFilter(models: [[.service(0x1809)]]))
        let padding = (0..<others).flatMap { _ in [UInt8]([3, 0xFF, 0x4C, 0]) }
        #expect(await socket.lets(.found(padding + [3, 3, 0x09, 0x18], from: Self.stranger)))
        // So far it is looked at.
        let isDropped = await !socket.lets(.found(padding, from: Self.stranger))
        #expect(isDropped == (others < 12))
    }

    @Test(arguments: 0..<14)
    func aServiceComesWhereverItStandsInAList(place: Int) async throws {
        let long = BluetoothUUID(high: 0x46A9_70E0_0D5F_11E2, low: 0x8B5E_0002_A5D5_C51B)
        let octets: [UInt8] = [
            0x1B, 0xC5, 0xD5, 0xA5, 0x02, 0x00, 0x5E, 0x8B, 0xE2, 0x11, 0x5F, 0x0D, 0xE0, 0x70, 0xA9, 0x46,
        ]
        let socket = try await socket(
            for: AdvertisementFilter(models: [[.service(0x1809)], [.longService(long)]]))
        var list = [UInt8](repeating: 0xD1, count: 28)
        list.replaceSubrange(2 * place..<2 * place + 2, with: [0x09, 0x18])
        #expect(await socket.lets(.found([29, 3] + list, from: Self.stranger)))
        let longList = [UInt8](repeating: 0xD1, count: 16 * place) + octets
        #expect(await socket.lets(.found([UInt8(longList.count + 1), 7] + longList, from: Self.stranger)))
    }

    @Test func withAnotherProgramOtherAdvertsCome() async throws {
        let first: [UInt8] = .found([2, 1, 6], from: Self.listed)
        let second: [UInt8] = .found([2, 1, 6], from: Self.stranger)
        let socket = try await socket(for: AdvertisementFilter(addresses: [Self.listed]))
        #expect(await socket.lets([first, second]) == [true, false])
        try await socket.setFilter(
            AdvertProgram.filter(admitting: AdvertisementFilter(addresses: [Self.stranger])))
        #expect(await socket.lets([first, second]) == [false, true])
        try await socket.setFilter(nil)
        #expect(await socket.lets([first, second]) == [true, true])
    }

    @Test func aListThatIsTooLongHasNoProgram() {
        #expect(AdvertProgram.filter(admitting: Self.filter(5_000, [], seed: 1)) == nil)
        let models: [[Mark]] = (0..<400).map { [.service(0x1800 + $0)] }
        #expect(AdvertProgram.filter(admitting: AdvertisementFilter(models: models)) == nil)
    }
}
