extension Configuration {
    package struct Bluetooth: Sendable, Equatable {
        package enum Adapter: Sendable, Hashable {
            case any
            /// By the kernel's index: 0 for hci0.
            case index(UInt16)
            case address(BluetoothAddress)
        }

        package var adapter: Adapter
        /// How many links each adapter may have at a time, 1 to 8.
        package var links = 3
        /// 2.5 ms to 10.24 s; nil leaves the kernel's default alone.
        package var scanInterval: Duration?
        /// 2.5 ms to the interval; nil leaves the kernel's default alone.
        package var scanWindow: Duration?

        /// A duration in the unit of the management defaults and of HCI LE Set Scan Parameters,
        /// 0.625 ms (Core Specification Vol 4 Part E 7.8.10), rounded down.
        /// - Parameter duration: 0 to 10.24 s.
        package static func scanUnits(_ duration: Duration) -> UInt16 {
            UInt16(clamping: Int64(duration / .microseconds(625)))
        }
    }
}

extension ConfigurationKeys {
    static let bluetooth = KeySection(
        "bluetooth",
        [
            KeyDescription(
                "adapter", "`any`, `hci0`, or an address", default: "`any`",
                "The adapter to use; `any` uses all."),
            KeyDescription(
                "links", "1 to 8", default: "3",
                "How many devices an adapter reads at a time. Where a controller takes fewer links, the gateway finds that out; `ingestd status` then says how many."
            ),
            KeyDescription(
                "scan_interval", "duration, 2.5ms to 10.24s", default: "the kernel's (60ms)",
                "Time from the start of one scan window to the next. Rounded down to a multiple of 0.625 ms."),
            KeyDescription(
                "scan_window", "duration, 2.5ms to `scan_interval`", default: "the kernel's (30ms)",
                "How long the radio listens in each interval. Rounded down to a multiple of 0.625 ms."),
        ])
}

extension ConfigurationReader {
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
            links: entries?["links"]?.integer(1...8, "a number") ?? 3,
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
}
