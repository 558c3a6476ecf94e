import FoundationEssentials

/// Finds the files of the catalogue.
enum CatalogueFiles {
    /// More than any operator has; bounds what a directory of rubbish can cost.
    static let maximumAdditions = 256

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: path)
    }

    /// Paths of the YAML files in a directory, by name; none when it cannot be listed.
    static func additions(in directory: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter { $0.hasSuffix(".yaml") && !$0.hasPrefix(".") }.sorted()
            .prefix(maximumAdditions).map { "\(directory)/\($0)" }
    }
}
