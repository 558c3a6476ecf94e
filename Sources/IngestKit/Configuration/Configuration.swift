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

    /// The file and the line, from 1, of an entry.
    package struct EntryPlace: Sendable, Equatable {
        package let path: String
        package let line: Int
    }

    /// A configuration that can be used, and what is suspicious about it.
    package struct Checked: Sendable, Equatable {
        package let configuration: Configuration
        /// In the order of the files.
        package let warnings: [Diagnostic]
        /// How many files of `conf.d` are a part of it.
        package let pieces: Int
        /// Where each entry of the allow-list stands, in the order of `peripherals`.
        package let places: [EntryPlace]
    }

    /// Reads and checks a file and those of `conf.d` beside it. Blocks for as long as reading a few small files takes.
    /// - Parameters:
    ///   - catalogue: the models that the allow-list may name.
    ///   - readableProfiles: names of the profiles that this program can read; an entry of another
    ///     profile is a warning.
    ///   - change: a file of `conf.d` as it would be, to see what came of it; nil text: without it.
    /// - Throws: every error of every file.
    package static func load(
        path: String = defaultPath, change: (path: String, text: String?)? = nil, catalogue: Catalogue,
        readableProfiles: Set<String>,
        host: ConfigurationHost
    ) throws(ConfigurationError) -> Checked {
        let pieces = ConfigurationPieces(beside: path)
        var findings = pieces.findings
        var documents: [YAMLDocument] = []
        var files = pieces.paths
        if let change {
            files.removeAll { $0 == change.path }
            if change.text != nil { files = (files + [change.path]).sorted() }
        }
        for file in [path] + files {
            if let obstacle = host.service?.obstacle(file) {
                findings.append(Diagnostic(host.fileSeverity, path: file, message: obstacle))
            }
            do throws(ConfigurationError) {
                var text = file == change?.path ? change?.text : nil
                if text == nil { text = try YAMLDocument.contents(of: file) }
                documents.append(try YAMLDocument(text: text ?? "", path: file))
            } catch {
                findings += error.diagnostics
            }
        }
        // What another file refers to may stand in the one that cannot be read.
        guard !findings.contains(where: { $0.severity == .error }) else {
            throw ConfigurationError(diagnostics: findings)
        }
        let checked = try read(
            documents, catalogue: catalogue, readableProfiles: readableProfiles, host: host)
        return Checked(
            configuration: checked.configuration, warnings: findings + checked.warnings,
            pieces: checked.pieces,
            places: checked.places)
    }

    /// As `load`, from text.
    /// - Parameters:
    ///   - path: names the text in diagnostics.
    ///   - pieces: the texts of the files beside it, with their paths.
    package static func parse(
        text: String, path: String, pieces: [(text: String, path: String)] = [], catalogue: Catalogue,
        readableProfiles: Set<String>, host: ConfigurationHost
    ) throws(ConfigurationError) -> Checked {
        var documents = [try YAMLDocument(text: text, path: path)]
        for piece in pieces { documents.append(try YAMLDocument(text: piece.text, path: piece.path)) }
        return try read(documents, catalogue: catalogue, readableProfiles: readableProfiles, host: host)
    }

    /// - Parameter documents: at least one.
    private static func read(
        _ documents: [YAMLDocument], catalogue: Catalogue, readableProfiles: Set<String>,
        host: ConfigurationHost
    ) throws(ConfigurationError) -> Checked {
        var root = documents[0].root
        root.others = documents.dropFirst().map(\.root)
        let reader = ConfigurationReader(
            log: documents[0].log, catalogue: catalogue, readableProfiles: readableProfiles, host: host)
        let (configuration, places) = reader.read(root)
        let diagnostics = documents.flatMap(\.log.diagnostics)
        guard !diagnostics.contains(where: { $0.severity == .error }) else {
            throw ConfigurationError(diagnostics: diagnostics)
        }
        return Checked(
            configuration: configuration, warnings: diagnostics, pieces: documents.count - 1,
            places: places)
    }
}
