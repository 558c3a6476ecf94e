/// Everything that the operator decides (docs/configuration.md), checked and with defaults filled in.
package struct Configuration: Sendable, Equatable {
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
