import CSystemd
import Glibc

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

/// Messages of the bus: what sd-bus takes of them is read into values, and these into what bluetoothd says of its objects.
enum BusTarget {
    private static let greeting = Array(
        "DATA\r\nOK 0123456789abcdef0123456789abcdef\r\nAGREE_UNIX_FD\r\n".utf8)

    /// One message: how it is signed, then its body; or the bytes of messages as they stand.
    static func check(_ bytes: [UInt8]) {
        var draw = Draw(bytes)
        let stream: [UInt8]
        switch draw.byte() & 3 {
        case 0: stream = draw.rest()
        case 1:
            // The answer of GetManagedObjects.
            stream = message("a{oa{sa{sv}}}", draw.rest())
        case 2: stream = message("sa{sv}as", draw.rest())
        default:
            let signature = draw.bytes(Int(draw.byte() & 0x1F))
            stream = message(signature, draw.rest())
        }
        take(greeting + stream)
    }

    private static func message(_ signature: String, _ body: [UInt8]) -> [UInt8] {
        message(Array(signature.utf8), body)
    }

    /// A signal, little-endian (D-Bus Specification, "Message Format").
    private static func message(_ signature: [UInt8], _ body: [UInt8]) -> [UInt8] {
        func octets(_ number: Int) -> [UInt8] {
            (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        func padded(_ bytes: [UInt8]) -> [UInt8] {
            bytes + [UInt8](repeating: 0, count: (8 - bytes.count % 8) % 8)
        }
        func text(_ field: UInt8, _ type: Unicode.Scalar, _ text: String) -> [UInt8] {
            padded([field, 1, UInt8(ascii: type), 0] + octets(text.utf8.count) + Array(text.utf8) + [0])
        }
        let fields =
            text(1, "o", "/org/bluez") + text(2, "s", "org.freedesktop.DBus.ObjectManager")
            + text(3, "s", "InterfacesAdded") + [8, 1, 0x67, 0, UInt8(signature.count)] + signature + [0]
        let head: [UInt8] = [0x6C, 4, 0, 1] + octets(body.count) + octets(1) + octets(fields.count)
        return padded(head + fields) + body
    }

    private static func take(_ bytes: [UInt8]) {
        var ends: [Int32] = [0, 0]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { fatalError("no sockets") }
        defer { close(ends[1]) }
        send(ends[1], bytes, bytes.count, Int32(MSG_NOSIGNAL))
        shutdown(ends[1], Int32(SHUT_WR))
        var bus: OpaquePointer?
        guard sd_bus_new(&bus) >= 0, sd_bus_set_fd(bus, ends[0], ends[0]) >= 0, sd_bus_start(bus) >= 0 else {
            fatalError("no bus")
        }
        defer { sd_bus_close_unref(bus) }
        for _ in 0..<200 {
            var message: OpaquePointer?
            let result = sd_bus_process(bus, &message)
            if let message {
                if let arguments = try? BusReader.arguments(of: message) {
                    check(arguments, again: message, on: bus)
                }
                sd_bus_message_unref(message)
            }
            if result < 0 || result == 0 { return }
        }
    }

    private static func check(_ arguments: [BusValue], again message: OpaquePointer, on bus: OpaquePointer?) {
        if var objects = BluetoothdObjects(answer: arguments) {
            require(objects.devices.count <= 4096)
            for (path, device) in objects.devices {
                if let bond = objects.bond(at: path) {
                    require(device.isBonded && objects.adapters[device.adapter]?.address == bond.adapter)
                }
            }
            _ = objects.bonds
            if let first = arguments.first?.entries?.first { objects.add(first.value, at: first.key) }
        }
        if arguments.count >= 2, let interface = arguments[0].text,
            var objects = BluetoothdObjects(answer: [empty])
        {
            objects.change(arguments[1], of: interface, at: "/org/bluez/hci0")
            objects.add(arguments[1], at: "/org/bluez/hci0")
        }
        // What was read can be written again, and reads the same.
        var copy: OpaquePointer?
        guard sd_bus_message_new_signal(bus, &copy, "/a", "a.b", "C") >= 0, let copy else { return }
        defer { sd_bus_message_unref(copy) }
        do throws(BusError) {
            try BusWriter.append(arguments, to: copy)
        } catch {
            fatalError("what was read cannot be written: \(arguments)")
        }
        guard sd_bus_message_seal(copy, 1, 0) >= 0 else { fatalError("not a whole message") }
        guard sd_bus_message_rewind(copy, 1) >= 0 else { fatalError("not to be read again") }
        let again = try? BusReader.arguments(of: copy)
        require(again?.map(\.type) == arguments.map(\.type), "other values than were read")
    }

    private static let empty = BusValue.dictionary(key: "o", value: "a{sa{sv}}", [:])
}
