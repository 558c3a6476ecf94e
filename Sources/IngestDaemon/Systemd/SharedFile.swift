import FoundationEssentials
import Glibc

/// A small file for root and the group of its directory, and for nobody else (mode 0640). It appears whole, or not at all.
enum SharedFile {
    /// Makes the directory too if it is missing, for the group that the one above it is for.
    /// - Parameter replaces: whether a file of this name gives way.
    /// - Throws: if it cannot be written; nothing is left then.
    static func write(_ bytes: Data, to path: String, replaces: Bool) throws {
        let directory = parent(of: path)
        try make(directory)
        let hidden = "\(directory)/.\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: hidden) }
        guard
            FileManager.default.createFile(
                atPath: hidden, contents: bytes, attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteNoPermission) }
        var attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o640]
        attributes[.groupOwnerAccountID] = try group(of: directory)
        try FileManager.default.setAttributes(attributes, ofItemAtPath: hidden)
        guard replaces else { return try FileManager.default.moveItem(atPath: hidden, toPath: path) }
        guard unsafe rename(hidden, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    private static func make(_ directory: String) throws {
        guard !FileManager.default.fileExists(atPath: directory) else { return }
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        var attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o750]
        attributes[.groupOwnerAccountID] = try group(of: parent(of: directory))
        try FileManager.default.setAttributes(attributes, ofItemAtPath: directory)
    }

    private static func group(of path: String) throws -> Any? {
        try FileManager.default.attributesOfItem(atPath: path)[.groupOwnerAccountID]
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
