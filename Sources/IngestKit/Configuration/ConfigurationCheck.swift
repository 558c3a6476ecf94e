/// What `ingestd check` has to say of a configuration and the catalogue beside it.
package struct ConfigurationCheck: Sendable, Equatable {
    /// Those of the catalogue first, then those of the configuration.
    package let diagnostics: [Diagnostic]
    /// Nil when there are errors.
    package let configuration: Configuration?
    /// Where each entry of the allow-list stands, in the order of the configuration.
    package let places: [Configuration.EntryPlace]
    private let path: String
    private let pieces: Int

    /// Reads and checks. Blocks for as long as reading a few small files takes.
    /// - Parameter change: as in `Configuration.load`.
    package init(
        path: String, change: (path: String, text: String?)? = nil,
        installedCatalogue: String = Catalogue.defaultPath, readableProfiles: Set<String>,
        host: ConfigurationHost
    ) {
        self.path = path
        let models = Catalogue.collect(
            path: installedCatalogue, additions: Catalogue.additions(besideConfiguration: path))
        do {
            let checked = try Configuration.load(
                path: path, change: change, catalogue: models.catalogue, readableProfiles: readableProfiles,
                host: host)
            configuration = models.catalogue.isPartial ? nil : checked.configuration
            pieces = checked.pieces
            places = checked.places
            diagnostics = models.diagnostics + checked.warnings
        } catch {
            configuration = nil
            pieces = 0
            places = []
            diagnostics = models.diagnostics + error.diagnostics
        }
    }

    /// One line with counts.
    package var summary: String {
        guard let configuration else {
            let errors = diagnostics.count { $0.severity == .error }
            return "\(path): " + errors.counted("error") + ", "
                + (diagnostics.count - errors).counted("warning")
        }
        let files = pieces == 0 ? "" : " and \(pieces.counted("file")) of conf.d"
        return "\(path)\(files): good: "
            + configuration.peripherals.count.counted("peripheral") + ", "
            + configuration.destinations.count.counted("destination") + ", "
            + diagnostics.count.counted("warning")
    }

    /// One JSON object: `ok`, `diagnostics`, and the counts when `ok`.
    package var json: String {
        struct Finding: Encodable {
            var severity: String
            var path: String
            var line: Int?
            var column: Int?
            var key: String?
            var message: String
        }
        struct Result: Encodable {
            var ok: Bool
            var diagnostics: [Finding]
            var peripherals: Int?
            var destinations: Int?
        }
        return JSONLine.encode(
            Result(
                ok: configuration != nil,
                diagnostics: diagnostics.map {
                    Finding(
                        severity: $0.severity.rawValue, path: $0.path, line: $0.line, column: $0.column,
                        key: $0.key, message: $0.message)
                }, peripherals: configuration?.peripherals.count,
                destinations: configuration?.destinations.count))
    }
}
