import FoundationEssentials

/// A file of conf.d, as commands write it.
struct ConfigurationPiece: Sendable {
    let path: String
    private let configuration: String

    /// - Parameters:
    ///   - name: the file's is made of its letters and digits.
    ///   - prefix: what the file's name begins with.
    init(besideConfiguration configuration: String, prefix: String = "", named name: String) {
        let words = name.lowercased().unicodeScalars.split { scalar in
            !("a"..."z" ~= scalar || "0"..."9" ~= scalar)
        }
        let stem = words.isEmpty ? "device" : words.map { String($0) }.joined(separator: "-")
        self.init(
            at: "\(ConfigurationPieces.directory(beside: configuration))/\(prefix)\(stem).yaml",
            of: configuration)
    }

    init(at path: String, of configuration: String) {
        self.path = path
        self.configuration = configuration
    }

    /// The whole configuration as it would be with this file.
    /// - Parameter text: nil is without it.
    func check(_ text: String?) -> ConfigurationCheck {
        ConfigurationCheck(
            path: configuration, change: (path, text), readableProfiles: Profiles.names,
            host: .current(environment: ProcessInfo.processInfo.environment, fileSeverity: .warning))
    }

    /// Writes the file, unless the configuration would be wrong with it.
    /// - Parameters:
    ///   - replaces: whether it is there already.
    ///   - wayOut: what to do if there is such a file and it may not be replaced.
    /// - Returns: what is suspicious in the new file.
    func write(
        _ text: String, replaces: Bool = false, wayOut: String
    ) throws(CommandFailure) -> [Diagnostic] {
        guard replaces || !FileManager.default.fileExists(atPath: path) else {
            throw CommandFailure(.cannotCreate, "\(path): there is such a file; \(wayOut)")
        }
        let check = check(text)
        try Self.refuse(check)
        do {
            // For the service's group as its directory is, and for nobody else: it says who has which device.
            try SharedFile.write(Data(text.utf8), to: path, replaces: replaces)
        } catch {
            throw CommandFailure(
                .noPermission,
                "\(path) cannot be written: run it as root, or write the entry there yourself:\n\(text)")
        }
        return check.diagnostics.filter { $0.path == path }
    }

    /// Deletes the file, unless the configuration would be wrong without it.
    func delete() throws(CommandFailure) {
        try Self.refuse(check(nil))
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            throw CommandFailure(.noPermission, "\(path) cannot be deleted: run it as root")
        }
    }

    private static func refuse(_ check: ConfigurationCheck) throws(CommandFailure) {
        guard check.configuration == nil else { return }
        let errors = check.diagnostics.filter { $0.severity == .error }.map(\.description)
        throw CommandFailure(.configuration, "nothing was changed:\n" + errors.joined(separator: "\n"))
    }
}
