extension Catalogue {
    /// A catalogue that can be used, and what is suspicious about its files.
    package struct Checked: Sendable, Equatable {
        package let catalogue: Catalogue
        package let warnings: [Diagnostic]
    }

    /// The installed catalogue, or the built-in one where none is installed, with the operator's
    /// own models. Blocks for as long as reading a few small files takes.
    /// - Parameters:
    ///   - path: the installed file; it may be missing.
    ///   - additions: a directory of further files, `*.yaml`, read by name; it may be missing.
    /// - Throws: every error of every file.
    package static func load(
        path: String = defaultPath, additions: String
    ) throws(ConfigurationError) -> Checked {
        try collect(path: path, additions: additions).conclude()
    }

    /// The same with whatever is wrong, for who goes on to the configuration.
    static func collect(path: String, additions: String) -> CatalogueCollector {
        var collector = CatalogueCollector()
        if CatalogueFiles.exists(path) {
            collector.add(fileAt: path, isOwn: false)
        } else {
            collector.addShipped(path: "built-in catalogue")
        }
        for file in CatalogueFiles.additions(in: additions) {
            collector.add(fileAt: file, isOwn: true)
        }
        return collector
    }

    /// One file's models.
    package static func parse(text: String, path: String) throws(ConfigurationError) -> Checked {
        var collector = CatalogueCollector()
        collector.add(text: text, path: path, isOwn: false)
        return try collector.conclude()
    }

    /// Where the operator's own models lie: `peripherals.d` beside the configuration.
    package static func additions(besideConfiguration path: String) -> String {
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        return directory + "peripherals.d"
    }
}
