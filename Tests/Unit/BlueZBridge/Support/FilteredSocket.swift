import BlueZBridge
import TestSupport

/// A socket whose packets the real kernel filters, as it does those of a management socket (sk_filter).
struct FilteredSocket {
    private let loop: RadioLoop
    private let sender: PacketChannel
    private let receiver: PacketChannel
    private let taken = Notes<[UInt8]>()

    init() async throws {
        let loop = try RadioLoop(clock: DrivenClock(wall: DrivenClock.morning))
        let (sender, receiver) = try PacketChannel.pair(on: loop)
        (self.loop, self.sender, self.receiver) = (loop, sender, receiver)
        await loop.perform { [taken] in
            receiver.open(
                onPacket: { packet in taken.add(packet.indices.map { packet[$0] }) }, onEnd: { _ in })
        }
    }

    func setFilter(_ filter: SocketFilter?) async throws {
        let receiver = receiver
        let failure: SystemError? = await loop.perform {
            do throws(SystemError) {
                try receiver.setFilter(filter)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    /// Which of these packets come out whole.
    func lets(_ packets: [[UInt8]]) async -> [Bool] {
        await loop.perform { [sender, receiver, taken] in
            packets.map { packet in
                let before = taken.all.count
                guard (try? sender.send(packet)) != nil else { return false }
                receiver.drain()
                return taken.all.count == before + 1 && taken.all.last == packet
            }
        }
    }

    func lets(_ packet: [UInt8]) async -> Bool {
        await lets([packet]) == [true]
    }
}

extension [UInt8] {
    /// A Device Found event, or with a handle an Adv Monitor Device Found.
    static func found(
        _ data: [UInt8], from address: BluetoothAddress, hasHandle: Bool = false
    ) -> Self {
        let event = ManagementProtocol.Event.self
        let count = UInt16(clamping: data.count)
        // The handle; address and type, RSSI, flags, data.
        let parameters: [UInt8] =
            (hasHandle ? [7, 0] : []) + ManagementProtocol.bytes(of: DeviceAddress(address, .random))
            + [0xC4, 0, 0, 0, 0] + [UInt8(truncatingIfNeeded: count), UInt8(count >> 8)] + data
        return ManagementProtocol.packet(
            hasHandle ? event.monitorDeviceFound : event.deviceFound, index: 0, parameters)
    }
}
