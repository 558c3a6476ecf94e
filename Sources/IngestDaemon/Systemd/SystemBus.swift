import CSystemd
import Dispatch

/// Questions to the system's D-Bus. Each opens a connection of its own, on a thread that may block:
/// they are rare, and a bus that hangs must hold up nothing.
enum SystemBus {
    private static let queue = DispatchQueue(label: "ingestd.system-bus")
    /// In microseconds. timedated is started by the question, which takes a moment on a slow box.
    private static let answerTimeout: UInt64 = 10_000_000

    /// Whether somebody owns `name`; false also where there is no bus.
    static func hasOwner(_ name: String) async -> Bool {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: ask(whoOwns: name)) }
        }
    }

    /// Whether the system's clock is synchronised over the network, by whatever program: timedate1 asks the
    /// kernel (adjtimex(2), which the unit's filter closes to us). Nil where nobody answers.
    static func isTimeSynchronized() async -> Bool? {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: askTimeSynchronized()) }
        }
    }

    private static func askTimeSynchronized() -> Bool? {
        var bus: OpaquePointer?
        guard unsafe sd_bus_open_system(&bus) >= 0 else { return nil }
        defer { _ = unsafe sd_bus_flush_close_unref(bus) }
        guard unsafe sd_bus_set_method_call_timeout(bus, answerTimeout) >= 0 else { return nil }
        // A boolean of D-Bus is an int to sd-bus.
        var isSynchronized: CInt = 0
        let result = unsafe sd_bus_get_property_trivial(
            bus, "org.freedesktop.timedate1", "/org/freedesktop/timedate1", "org.freedesktop.timedate1",
            "NTPSynchronized", nil, CChar(UInt8(ascii: "b")), &isSynchronized)
        return result >= 0 ? isSynchronized != 0 : nil
    }

    private static func ask(whoOwns name: String) -> Bool {
        var bus: OpaquePointer?
        guard unsafe sd_bus_open_system(&bus) >= 0 else { return false }
        defer { _ = unsafe sd_bus_flush_close_unref(bus) }
        var credentials: OpaquePointer?
        // ENXIO when nobody does. No detail of the owner is asked for.
        let result = unsafe sd_bus_get_name_creds(bus, name, 0, &credentials)
        _ = unsafe sd_bus_creds_unref(credentials)
        return result >= 0
    }
}
