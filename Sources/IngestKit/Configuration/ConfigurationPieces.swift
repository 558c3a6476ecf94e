import FoundationEssentials

/// The files beside a configuration that are a part of it: `conf.d/*.yaml`, in the order of their names.
package struct ConfigurationPieces {
    /// A file for each of more devices than a gateway can read; bounds what a directory of rubbish can cost.
    static let mostFiles = 1000

    let paths: [String]
    /// What is wrong with the directory, and what in it is not read.
    let findings: [Diagnostic]

    /// - Parameter path: of the configuration.
    init(beside path: String) {
        let directory = Self.directory(beside: path)
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
        } catch {
            paths = []
            findings =
                FileManager.default.fileExists(atPath: directory)
                ? [Diagnostic(.error, path: directory, message: "this user may not list it")] : []
            return
        }
        let visible = names.filter { !$0.hasPrefix(".") }
        let chosen = visible.filter { $0.hasSuffix(".yaml") }
        paths = chosen.prefix(Self.mostFiles).map { "\(directory)/\($0)" }
        guard chosen.count <= Self.mostFiles else {
            let message = "expected at most \(Self.mostFiles) files"
            findings = [Diagnostic(.error, path: directory, message: message, expectation: message)]
            return
        }
        // As an editor or dpkg names what it keeps, these are no mistakes.
        let leftovers = ["~", ".dpkg-old", ".dpkg-dist", ".dpkg-new", ".bak", ".disabled"]
        findings = visible.filter { name in
            !name.hasSuffix(".yaml") && !leftovers.contains(where: name.hasSuffix)
        }.map {
            Diagnostic(
                .warning, path: "\(directory)/\($0)",
                message: "is not read, because its name does not end in .yaml")
        }
    }

    /// Where the pieces of a configuration lie.
    package static func directory(beside path: String) -> String {
        (path.lastIndex(of: "/").map { String(path[...$0]) } ?? "") + "conf.d"
    }
}
