/// Judges the box's Bluetooth, by what was found of it.
struct BluetoothProbe: Sendable {
    /// A switch of the kernel that keeps a radio off (rfkill).
    struct RadioSwitch: Sendable, Equatable {
        var isSoftBlocked: Bool
        var isHardBlocked: Bool
    }

    /// What bluetoothd says of an adapter (org.bluez.Adapter1).
    struct Adapter: Sendable, Equatable {
        var name: String
        var isPowered: Bool
        /// Whether a program has bluetoothd search for devices.
        var isDiscovering: Bool
        /// bluetoothd's version; nil if it does not say.
        var daemonVersion: String?
    }

    enum Daemon: Sendable, Equatable {
        case running([Adapter])
        case absent
        /// There is no system bus, or it does not let this user ask.
        case unknown
    }

    /// What was found.
    struct Facts: Sendable, Equatable {
        /// The kernel's names, such as hci0; nil if the kernel has no Bluetooth.
        var adapters: [String]?
        /// Of Bluetooth alone.
        var switches: [RadioSwitch]
        var daemon: Daemon
        /// What the running service says of its adapters; nil if it was not asked.
        var service: [GatewayStatus.Adapter]?
    }

    let facts: Facts

    var findings: [Finding] {
        [adapter, radioSwitch].compactMap(\.self) + listening + [daemon, otherScanners].compactMap(\.self)
    }

    private var adapter: Finding {
        guard let adapters = facts.adapters else {
            return .error(
                .adapter, "adapter: this kernel has no Bluetooth loaded",
                remedy: "sudo modprobe bluetooth btusb; dmesg | grep -i bluetooth")
        }
        guard !adapters.isEmpty else {
            return .error(
                .adapter, "adapter: there is none", remedy: "plug one in; lsusb; dmesg | grep -i bluetooth")
        }
        let off =
            switch facts.daemon {
            case .running(let known): known.filter { !$0.isPowered }.map(\.name)
            case .absent, .unknown: [String]()
            }
        let names = adapters.joined(separator: ", ")
        return off.isEmpty || facts.service != nil
            ? .ok(.adapter, "adapter: \(names)")
            : .ok(.adapter, "adapter: \(names); the service switches on: \(off.joined(separator: ", "))")
    }

    /// What the running service makes of its adapters.
    private var listening: [Finding] {
        (facts.service ?? []).compactMap { adapter in
            if adapter.isListening { return .ok(.adapter, "adapter: the service listens on \(adapter.name)") }
            return .error(
                .adapter,
                "adapter: the service does not listen on \(TerminalText.line(adapter.name))"
                    + (adapter.reason.map { ": \(TerminalText.line($0))" } ?? ""),
                remedy: "ingestd status; rfkill; sudo systemctl restart ingestd")
        }
    }

    private var radioSwitch: Finding? {
        if facts.switches.contains(where: \.isHardBlocked) {
            return .error(
                .rfkill, "rfkill: a switch of the box keeps Bluetooth off",
                remedy: "turn the switch, or the setting of the firmware, on; rfkill")
        }
        if facts.switches.contains(where: \.isSoftBlocked) {
            return .error(.rfkill, "rfkill: Bluetooth is blocked", remedy: "sudo rfkill unblock bluetooth")
        }
        return facts.switches.isEmpty ? nil : .ok(.rfkill, "rfkill: nothing blocks Bluetooth")
    }

    private var daemon: Finding {
        switch facts.daemon {
        case .running(let adapters):
            let version = adapters.compactMap(\.daemonVersion).first.map { ", version \($0)" } ?? ""
            return .ok(.bluetoothd, "bluetoothd: runs\(version)")
        case .absent:
            return .warning(
                .bluetoothd, "bluetoothd: does not run; no device can be paired, and no bond is known",
                remedy: "sudo systemctl enable --now bluetooth")
        case .unknown:
            return .warning(
                .bluetoothd, "bluetoothd: the system bus does not answer: not looked at",
                remedy: "systemctl status dbus bluetooth")
        }
    }

    private var otherScanners: Finding? {
        guard case .running(let adapters) = facts.daemon else { return nil }
        let names = adapters.filter(\.isDiscovering).map(\.name).joined(separator: ", ")
        guard !names.isEmpty else { return .ok(.otherScanners, "other programs: none has bluetoothd search") }
        return .warning(
            .otherScanners, "other programs: one has bluetoothd search on \(names), and delays readings",
            remedy: "bluetoothctl scan off; stop the program that searches")
    }
}
