import IngestCore
import IngestEvents

// The sections that are plain mappings.
extension ConfigurationReader {
    func readGateway(_ reader: NodeReader?) -> Configuration.Gateway {
        let entries = reader?.mapping(ConfigurationKeys.gateway)
        let inherited = host.environment["STATE_DIRECTORY"]?.split(separator: ":").first.map { String($0) }
        var gateway = Configuration.Gateway(
            id: host.gatewayID ?? "", timeZone: entries?["time_zone"].flatMap(timeZone),
            stateDirectory: entries?["state_directory"]?.absolutePath("a directory") ?? inherited
                ?? "/var/lib/ingestd",
            trustsClock: entries?["trust_clock"]?.boolean() ?? false)
        if let id = entries?["id"] {
            gateway.id = id.name("a name") ?? gateway.id
        } else if host.gatewayID == nil {
            log.error(
                at: reader?.mark, key: "gateway.id",
                expected: "a name, because this machine has no /etc/machine-id to derive one from")
        }
        return gateway
    }

    private func timeZone(_ reader: NodeReader) -> String? {
        let what = "a time zone of this machine such as Europe/London"
        guard
            let name = reader.value(
                what,
                { text in
                    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
                    let isName = parts.allSatisfy {
                        TextForm.isName($0.filter { $0 != "+" }, limit: 64)
                    }
                    return isName ? text : nil
                })
        else { return nil }
        guard host.hasTimeZone(name) ?? true else {
            reader.expected(what)
            return nil
        }
        return name
    }

    func readBluetooth(_ reader: NodeReader?) -> Configuration.Bluetooth {
        let entries = reader?.mapping(ConfigurationKeys.bluetooth)
        // HCI LE Set Scan Parameters: 0x0004 to 0x4000 in units of 0.625 ms.
        let range = Duration.microseconds(2_500)...Duration.milliseconds(10_240)
        // What the kernel scans with (hci_core: le_scan_interval and le_scan_window).
        let kernelInterval = Duration.milliseconds(60)
        let kernelWindow = Duration.milliseconds(30)
        let interval = entries?["scan_interval"]?.duration(range)
        let window = entries?["scan_window"]?.duration(range)
        if let reader = entries?["scan_window"], let window, window > interval ?? kernelInterval {
            reader.expected("at most scan_interval, \(DurationText.write(interval ?? kernelInterval))")
        } else if let reader = entries?["scan_interval"], entries?["scan_window"] == nil, let interval,
            interval < kernelWindow
        {
            reader.expected("at least scan_window, \(DurationText.write(kernelWindow))")
        }
        return Configuration.Bluetooth(
            adapter: entries?["adapter"]?.value(
                "any, an adapter such as hci0, or an adapter's address", adapter)
                ?? .any,
            scanInterval: interval, scanWindow: window)
    }

    private func adapter(_ text: String) -> Configuration.Bluetooth.Adapter? {
        if text == "any" { return .any }
        if let address = BluetoothAddress(text) { return .address(address) }
        guard text.hasPrefix("hci"), let index = UInt16(text.dropFirst(3)), text == "hci\(index)" else {
            return nil
        }
        return .index(index)
    }

    func readPassive(_ reader: NodeReader?) -> Configuration.Passive {
        let entries = reader?.mapping(ConfigurationKeys.passive)
        return Configuration.Passive(
            quietPeriod: entries?["quiet_period"]?.duration(.milliseconds(100)...minutes(10)) ?? .seconds(10),
            cooldown: entries?["cooldown"]?.duration(.zero...minutes(10)) ?? .seconds(5),
            streamInterval: entries?["stream_interval"]?.duration(.seconds(1)...minutes(60)) ?? .seconds(60),
            streamMaximum: entries?["stream_max"]?.duration(.seconds(10)...days(1)) ?? minutes(10))
    }

    func readQueue(_ reader: NodeReader?) -> Configuration.Queue {
        let entries = reader?.mapping(ConfigurationKeys.queue)
        return Configuration.Queue(
            maximumSize: entries?["max_size"]?.size(16 << 20...1 << 40) ?? 1 << 30,
            keepSubmitted: entries?["keep_submitted"]?.duration(.zero...days(3650)) ?? days(7))
    }

    func readEvents(_ reader: NodeReader?) -> Configuration.Events {
        let entries = reader?.mapping(ConfigurationKeys.events)
        return Configuration.Events(includesValues: entries?["values"]?.boolean() ?? false)
    }

    func readHooks(_ reader: NodeReader?) -> HookSettings {
        let entries = reader?.mapping(ConfigurationKeys.hooks)
        return HookSettings(
            readyToRead: program(entries?["ready-to-read"]), read: program(entries?["read"]))
    }

    /// A program that cannot be run harms nothing, so what is wrong with it is a warning.
    private func program(_ reader: NodeReader?) -> String? {
        guard let reader, let path = reader.absolutePath("a program") else { return nil }
        guard let file = host.program(path) else {
            reader.warning("there is no \(path), so nothing is run")
            return path
        }
        if !file.isRegular {
            reader.warning("\(path) is no file, so nothing is run")
        } else if !file.isExecutable {
            reader.warning("\(path) is not executable, so nothing is run; chmod +x it")
        }
        if file.permissions & 0o002 != 0 {
            reader.warning("\(path) can be changed by everybody, and the service runs it; chmod o-w it")
        }
        return path
    }

    func readLogging(_ reader: NodeReader?) -> LogSettings {
        let entries = reader?.mapping(ConfigurationKeys.logging)
        var levels: [Subsystem: LogLevel] = [:]
        for (name, mark, value) in entries?["subsystems"]?.pairs() ?? [] {
            guard let subsystem = Subsystem(rawValue: name) else {
                let known = Subsystem.allCases.map(\.rawValue)
                let near = value.nearest(to: name, among: known).map { "did you mean \($0)?" }
                log.error(
                    at: mark, key: value.key,
                    "unknown subsystem; " + (near ?? "expected \(TextForm.list(known))"))
                continue
            }
            levels[subsystem] = value.choice()
        }
        return LogSettings(level: entries?["level"]?.choice() ?? .info, subsystems: levels)
    }

    func minutes(_ count: Int) -> Duration { .seconds(60 * count) }

    func days(_ count: Int) -> Duration { .seconds(86_400 * count) }
}
