import FoundationEssentials

extension BluetoothProbe.Facts {
    /// Of this machine.
    /// - Parameters:
    ///   - root: in front of /sys, for tests.
    ///   - service: what the running service says of its adapters.
    static func ofMachine(
        root: String = "", inquiry: BusInquiry = BusInquiry(), service: [GatewayStatus.Adapter]?
    ) async -> Self {
        Self(
            adapters: adapters(in: root + "/sys/class/bluetooth"),
            switches: switches(in: root + "/sys/class/rfkill"), daemon: await daemon(inquiry),
            service: service)
    }

    /// Names of the kernel's adapters; nil if it has no class of them.
    static func adapters(in directory: String) -> [String]? {
        // hci0:64 is a link.
        (try? FileManager.default.contentsOfDirectory(atPath: directory)).map { names in
            names.filter { $0.hasPrefix("hci") && !$0.contains(":") }.sorted()
        }
    }

    static func switches(in directory: String) -> [BluetoothProbe.RadioSwitch] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.sorted().prefix(64).compactMap { name in
            func value(_ file: String) -> String {
                // A file of sysfs claims the size of a page.
                let bytes = (try? BoundedFile.read("\(directory)/\(name)/\(file)", limit: 64 << 10)) ?? []
                return String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
            }
            guard value("type") == "bluetooth" else { return nil }
            return BluetoothProbe.RadioSwitch(
                isSoftBlocked: value("soft") == "1", isHardBlocked: value("hard") == "1")
        }
    }

    private static func daemon(_ inquiry: BusInquiry) async -> BluetoothProbe.Daemon {
        let name = "org.bluez"
        let answer = await inquiry.perform { bus throws(BusError) -> BluetoothProbe.Daemon in
            let owned = try await bus.ask(.bus("NameHasOwner", [.string(name)]))
            guard owned.first?.flag == true else { return .absent }
            let objects = try await bus.ask(
                BusCall(to: name, "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"))
            return .running(adapters(of: objects))
        }
        return answer ?? .unknown
    }

    /// From the answer of GetManagedObjects.
    static func adapters(of answer: [BusValue]) -> [BluetoothProbe.Adapter] {
        (answer.first?.entries ?? [:]).compactMap { path, interfaces -> BluetoothProbe.Adapter? in
            guard let properties = interfaces.entries?["org.bluez.Adapter1"]?.entries else { return nil }
            return BluetoothProbe.Adapter(
                name: TerminalText.line(path.split(separator: "/").last ?? ""),
                isPowered: properties["Powered"]?.flag ?? false,
                isDiscovering: properties["Discovering"]?.flag ?? false,
                daemonVersion: properties["Modalias"]?.text.flatMap(version(ofModalias:)))
        }.sorted { $0.name < $1.name }.prefix(16).map(\.self)
    }

    /// bluetoothd's version, which its own device ID has as the product's: usb:v1D6Bp0246d0542 is 5.66 (BlueZ main.conf,
    /// DeviceID). Nil for an ID that is another's.
    static func version(ofModalias text: String) -> String? {
        let prefix = "usb:v1D6Bp0246d"
        guard text.hasPrefix(prefix), text.utf8.count == prefix.utf8.count + 4,
            let number = UInt16(text.dropFirst(prefix.count), radix: 16)
        else { return nil }
        return "\(number >> 8).\(number & 0xFF)"
    }
}
