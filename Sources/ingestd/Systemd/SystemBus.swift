import CSystemd
import Dispatch

/// Questions to the system's D-Bus. Each opens a connection of its own, on a thread that may block:
/// they are rare, and a bus that hangs must hold up nothing.
enum SystemBus {
    private static let queue = DispatchQueue(label: "ingestd.system-bus")

    /// Whether somebody owns `name`; false also where there is no bus.
    static func hasOwner(_ name: String) async -> Bool {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: ask(whoOwns: name)) }
        }
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
