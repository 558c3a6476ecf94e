package import IngestCore
package import IngestDelivery
package import IngestEvents
package import IngestPeripherals

/// Everything that the operator decides (docs/configuration.md), checked and with defaults filled in.
package struct Configuration: Sendable, Equatable {
    package struct Gateway: Sendable, Equatable {
        /// Names this box in records; 1 to 64 letters, digits, dots, dashes, underscores.
        package var id: String
        /// A name of the IANA database, such as `Europe/London`; nil is the system's zone.
        package var timeZone: String?
        /// Absolute path.
        package var stateDirectory: String
        /// Whether the system clock is taken as good without proof.
        package var trustsClock: Bool
    }

    package struct Bluetooth: Sendable, Equatable {
        package enum Adapter: Sendable, Hashable {
            case any
            /// By the kernel's index: 0 for hci0.
            case index(UInt16)
            case address(BluetoothAddress)
        }

        package var adapter: Adapter
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

    package struct Passive: Sendable, Equatable {
        /// Silence after which a device may be read again.
        package var quietPeriod: Duration
        /// Pause between that silence and the next read.
        package var cooldown: Duration
        /// Time between the records of a streaming profile.
        package var streamInterval: Duration
        /// Longest time that a streaming profile holds its link.
        package var streamMaximum: Duration
    }

    package struct Queue: Sendable, Equatable {
        /// In bytes.
        package var maximumSize: UInt64
        /// How long delivered records are kept.
        package var keepSubmitted: Duration
    }

    package struct Events: Sendable, Equatable {
        /// Whether events may hold measured values.
        package var includesValues: Bool
    }

    package var gateway: Gateway
    package var bluetooth: Bluetooth
    package var passive: Passive
    /// The allow-list; empty means that nothing is read.
    package var peripherals: [AllowedPeripheral]
    package var queue: Queue
    package var destinations: [DestinationSettings]
    package var events: Events
    package var hooks: HookSettings
    package var logging: LogSettings
    /// The models that it may name.
    package var catalogue: Catalogue
}

extension Configuration {
    /// Where packages install the file.
    package static let defaultPath = "/etc/ingestd/ingestd.yaml"

    /// A configuration that can be used, and what is suspicious about it.
    package struct Checked: Sendable, Equatable {
        package let configuration: Configuration
        /// In the order of the file.
        package let warnings: [Diagnostic]
    }

    /// Reads and checks a file. Blocks for as long as reading a small file takes.
    /// - Parameters:
    ///   - catalogue: the models that the allow-list may name.
    ///   - readableProfiles: names of the profiles that this program can read; an entry of another
    ///     profile is a warning.
    /// - Throws: every error of the file.
    package static func load(
        path: String = defaultPath, catalogue: Catalogue, readableProfiles: Set<String>,
        host: ConfigurationHost
    ) throws(ConfigurationError) -> Checked {
        try parse(
            text: YAMLDocument.contents(of: path), path: path, catalogue: catalogue,
            readableProfiles: readableProfiles, host: host)
    }

    /// As `load`, from text.
    /// - Parameter path: names the text in diagnostics.
    package static func parse(
        text: String, path: String, catalogue: Catalogue, readableProfiles: Set<String>,
        host: ConfigurationHost
    ) throws(ConfigurationError) -> Checked {
        let document = try YAMLDocument(text: text, path: path)
        let reader = ConfigurationReader(
            log: document.log, catalogue: catalogue, readableProfiles: readableProfiles, host: host)
        let configuration = reader.read(document.root)
        let warnings = try document.log.conclude()
        return Checked(configuration: configuration, warnings: warnings)
    }
}
