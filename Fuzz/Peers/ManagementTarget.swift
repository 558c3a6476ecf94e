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

/// The radio under any packets of the management socket: it listens until that ends, and what it hands out is on the
/// list.
enum ManagementTarget {

    static func check(_ bytes: [UInt8]) {
        Bench.run { await play(bytes, isolation: $0) }
    }

    private struct NoConnector: LinkConnector {
        func connect(
            to device: DeviceAddress, from adapter: BluetoothAddress, requiresEncryption: Bool,
            isolation: isolated (any Actor)
        ) async throws(LinkError) -> PacketChannel { throw .notReachable }
    }

    private static func play(_ bytes: [UInt8], isolation: isolated Stage) async {
        var draw = Draw(bytes)
        let plan = draw.byte()
        let filter = AdvertTarget.filter(&draw)
        let script = Script(draw)
        let (near, far) = Bench.pair()
        let peer = ScriptedPeer(far, silence: .seconds(16)) { script.move(answering: $0) }
        let radio = BlueZRadio(
            management: near, connector: NoConnector(), loop: Bench.loop, clock: Bench.clock,
            settings: .init(
                selection: plan & 1 == 0 ? .any : .index(1),
                timing: plan & 2 == 0 ? nil : ScanTiming(interval: 160, window: 40),
                isBluetoothdRunning: { plan & 4 != 0 }))
        peer.open()
        async let scanned: Void = scan(radio, plan)
        do { try await radio.listen(for: filter) } catch {}
        await scanned
        peer.close()
        for await advertisement in radio.advertisements {
            require(
                filter.admits(advertisement.device.address, data: advertisement.data.span),
                "an advert that nobody wants")
        }
        for await states in radio.adapters {
            require(Set(states.map(\.id)).count == states.count && states.count <= script.sent)
        }
        // Each of so many adapters waits for the answer to its command, or for its time to pass.
        require(peer.received <= 300 * (script.moves + 1), "commands without end")
    }

    private static func scan(_ radio: BlueZRadio, _ plan: UInt8) async {
        guard plan & 8 != 0 else { return }
        try? await radio.scanActively(for: .seconds(25)) { advertisement in
            require(advertisement.data.count <= Advertisement.maximumDataLength)
        }
        if plan & 16 != 0 { await radio.update(AdvertisementFilter()) }
    }

    /// What the input makes a kernel send.
    private final class Script {
        private static let events: [UInt16] = [0x04, 0x05, 0x06, 0x12, 0x1B, 0x2C, 0x2F, 0x0B]
        private var draw: Draw
        private(set) var sent = 0
        private(set) var moves = 0

        init(_ draw: Draw) {
            self.draw = draw
        }

        /// Each move is a byte: bit 7 that the next one follows at once, bits 5 and 6 its kind, and the number of
        /// bytes.
        func move(answering command: [UInt8]) -> ScriptedPeer.Move {
            guard !draw.isEmpty else { return .hangUp }
            moves += 1
            let head = draw.byte()
            let count: Int
            switch head & 0x1F {
            case 0x1F: return .silence
            case 0x1E: count = Int(draw.byte())
            case let short: count = Int(short)
            }
            sent += 1
            return .send(packet(head >> 5 & 3, count, command), andMore: head & 0x80 != 0)
        }

        private func packet(_ kind: UInt8, _ count: Int, _ command: [UInt8]) -> [UInt8] {
            var reader = PDUReader(command, skipping: 0)
            let opcode = reader.number() ?? 0
            let index = reader.number() ?? ManagementProtocol.noIndex
            switch kind {
            case 0: return draw.bytes(count)
            case 1:
                return ManagementProtocol.packet(
                    ManagementProtocol.Event.commandComplete, index: index,
                    AttributeProtocol.littleEndian(opcode) + [0] + draw.bytes(count))
            case 2:
                return ManagementProtocol.packet(
                    ManagementProtocol.Event.commandStatus, index: index,
                    AttributeProtocol.littleEndian(opcode) + [draw.byte()])
            default:
                let event = draw.choice(among: Self.events)
                return ManagementProtocol.packet(event, index: UInt16(draw.byte() & 3), draw.bytes(count))
            }
        }
    }
}
