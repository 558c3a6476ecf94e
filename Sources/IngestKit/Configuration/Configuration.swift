/// Everything that the operator decides (docs/configuration.md), checked and with defaults filled in.
public struct Configuration: Sendable, Equatable {
    public struct Gateway: Sendable, Equatable {
        /// Names this box in records; 1 to 64 letters, digits, dots, dashes, underscores.
        public var id: String
        /// A name of the IANA database, such as `Europe/London`; nil is the system's zone.
        public var timeZone: String?
        /// Absolute path.
        public var stateDirectory: String
        /// Whether the system clock is taken as good without proof.
        public var trustsClock: Bool
    }

    public struct Bluetooth: Sendable, Equatable {
        public enum Adapter: Sendable, Hashable {
            case any
            /// By the kernel's index: 0 for hci0.
            case index(UInt16)
            case address(BluetoothAddress)
        }

        public var adapter: Adapter
        /// 2.5 ms to 10.24 s; nil leaves the kernel's default alone.
        public var scanInterval: Duration?
        /// 2.5 ms to the interval; nil leaves the kernel's default alone.
        public var scanWindow: Duration?

        /// A duration in the unit of the management defaults and of HCI LE Set Scan Parameters,
        /// 0.625 ms (Core Specification Vol 4 Part E 7.8.10), rounded down.
        /// - Parameter duration: 0 to 10.24 s.
        public static func scanUnits(_ duration: Duration) -> UInt16 {
            UInt16(clamping: Int64(duration / .microseconds(625)))
        }
    }

    public struct Passive: Sendable, Equatable {
        /// Silence after which a device may be read again.
        public var quietPeriod: Duration
        /// Pause between that silence and the next read.
        public var cooldown: Duration
        /// Time between the records of a streaming profile.
        public var streamInterval: Duration
        /// Longest time that a streaming profile holds its link.
        public var streamMaximum: Duration
    }

    public struct Queue: Sendable, Equatable {
        /// In bytes.
        public var maximumSize: UInt64
        /// How long delivered records are kept.
        public var keepSubmitted: Duration
    }

    public struct Events: Sendable, Equatable {
        /// Whether events may hold measured values.
        public var includesValues: Bool
    }

    public var gateway: Gateway
    public var bluetooth: Bluetooth
    public var passive: Passive
    /// The allow-list; empty means that nothing is read.
    public var peripherals: [AllowedPeripheral]
    public var queue: Queue
    public var destinations: [DestinationSettings]
    public var events: Events
    public var hooks: HookSettings
    public var logging: LogSettings
    /// The models that it may name.
    public var catalogue: Catalogue
}

extension Configuration {
    /// Where packages install the file.
    public static let defaultPath = "/etc/ingestd/ingestd.yaml"

    /// A configuration that can be used, and what is suspicious about it.
    public struct Checked: Sendable, Equatable {
        public let configuration: Configuration
        /// In the order of the file.
        public let warnings: [Diagnostic]
    }

    /// Reads and checks a file. Blocks for as long as reading a small file takes.
    /// - Parameters:
    ///   - catalogue: the models that the allow-list may name.
    ///   - readableProfiles: names of the profiles that this program can read; an entry of another
    ///     profile is a warning.
    /// - Throws: every error of the file.
    public static func load(
        path: String = defaultPath, catalogue: Catalogue, readableProfiles: Set<String>,
        host: ConfigurationHost
    ) throws(ConfigurationError) -> Checked {
        try parse(
            text: YAMLDocument.contents(of: path), path: path, catalogue: catalogue,
            readableProfiles: readableProfiles, host: host)
    }

    /// As `load`, from text.
    /// - Parameter path: names the text in diagnostics.
    public static func parse(
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
