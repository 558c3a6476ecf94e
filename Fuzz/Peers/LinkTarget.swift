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

/// The ATT bearer and the GATT client under any packets of a peripheral, at any moment. Each wait ends; of the
/// peripheral's values none is invented, changed or out of order; what is remembered of its attributes obeys its bounds.
enum LinkTarget {
    private static let services: [BluetoothUUID] = [
        0x1809, 0x180F, 0x180A, BluetoothUUID(high: 0xAF9D_F7A1_E595_11E3, low: 0x96B4_0002_A5D5_C51B),
    ]
    private static let characteristics: [BluetoothUUID] = [
        0x2A1C, 0x2A19, 0x2A29, BluetoothUUID(high: 0xAF9D_F7A2_E595_11E3, low: 0x96B4_0002_A5D5_C51B),
    ]

    static func check(_ bytes: [UInt8]) {
        Bench.run { await play(bytes, isolation: $0) }
    }

    /// One link after the other, the second with what the first has learnt.
    private static func play(_ bytes: [UInt8], isolation: isolated Stage) async {
        var draw = Draw(bytes)
        let plan = draw.byte()
        let operations = (0...plan & 7).map { _ in draw.byte() }
        let script = Script(draw)
        var layout: AttributeLayout?
        for _ in 0...(plan >> 3 & 1) {
            let (near, far) = Bench.pair()
            let peer = ScriptedPeer(far, silence: .seconds(31)) { script.move(answering: $0) }
            let link = AttributeLink(
                device: DeviceAddress(BluetoothAddress(value: 0xC0FF_EE00_0001), .random), channel: near,
                loop: Bench.loop, clock: Bench.clock, remembered: layout)
            await link.open()
            peer.open()
            for operation in operations {
                await perform(operation, on: link, script)
                let layout = await link.layout
                check(layout, bytes: bytes.count)
            }
            await link.close()
            layout = await link.layout
            let count = await link.pduCount
            // Each request waits for an answer, which is one of the script's, and so is what we answer.
            let most = 2 * script.sent + 3 * operations.count
            require(peer.received <= most && count <= script.sent + most, "requests without end")
            peer.close()
        }
    }

    private static func perform(_ operation: UInt8, on link: AttributeLink, _ script: Script) async {
        let service = services[Int(operation >> 3 & 3)]
        let characteristic = characteristics[Int(operation >> 5 & 3)]
        do throws(LinkError) {
            switch operation & 7 {
            case 0: _ = try await link.has(characteristic, in: service)
            case 1:
                let value = try await link.read(characteristic, in: service)
                require(value.count <= 512, "a value longer than any attribute")
            case 2: try await link.write([1, 2], to: characteristic, in: service)
            case 3: try await link.writeWithoutResponse([1, 2], to: characteristic, in: service)
            case 4: try await link.subscribe(to: characteristic, in: service)
            case 5: try await link.ensureMTU(operation & 8 == 0 ? 100 : 517)
            case 6:
                guard let value = try await link.nextValue(within: .seconds(5)) else { return }
                script.took(value)
                try await link.confirm(value)
            default: try await link.checkDatabaseHash()
            }
        } catch {}
    }

    private static func check(_ layout: AttributeLayout, bytes: Int) {
        require(layout.services.count <= services.count, "services that nobody asked for")
        var count = 0
        for service in layout.services.values {
            guard let service else { continue }
            require(service.firstHandle > 0 && service.firstHandle <= service.lastHandle)
            let range = service.firstHandle...service.lastHandle
            for characteristic in service.characteristics.values {
                require(range.contains(characteristic.valueHandle), "a value outside of its service")
                if let handle = characteristic.configurationHandle {
                    require(handle > characteristic.valueHandle && range.contains(handle))
                }
            }
            count += service.characteristics.count
        }
        require(count * 4 <= bytes, "more characteristics than were told")
    }

    /// What the input makes a peripheral send.
    private final class Script {
        private var draw: Draw
        private(set) var sent = 0
        private var values: [[UInt8]] = []

        init(_ draw: Draw) {
            self.draw = draw
        }

        /// Each move is a byte: bit 7 that the next one follows at once, bit 6 that it answers the last request, and
        /// the number of bytes.
        func move(answering request: [UInt8]) -> ScriptedPeer.Move {
            guard !draw.isEmpty else { return .hangUp }
            let head = draw.byte()
            let count: Int
            switch head & 0x3F {
            case 0x3F: return .silence
            case 0x3E: return .hangUp
            // Over the longest that is taken.
            case 0x3D: count = Int(draw.number() % 600)
            case let short: count = Int(short)
            }
            var packet = draw.bytes(count)
            if head & 0x3F == 0x3D { packet += [UInt8](repeating: 0x55, count: count - packet.count) }
            if head & 0x40 != 0, let opcode = request.first { packet.insert(opcode &+ 1, at: 0) }
            sent += 1
            if let opcode = packet.first, opcode == 0x1B || opcode == 0x1D, packet.count >= 3 {
                values.append(packet)
            }
            return .send(packet, andMore: head & 0x80 != 0)
        }

        /// Values come out as they were sent, in order; those of unknown attributes are left out.
        func took(_ value: ReceivedValue) {
            let place = values.firstIndex {
                ($0[0] == 0x1D) == value.isIndication && $0.dropFirst(3) == value.value[...]
            }
            guard let place else { fatalError("a value that was not sent, or out of order") }
            values.removeFirst(place + 1)
        }
    }
}
