import FoundationEssentials
import SystemPackage

/// The disk that the queue is on, and what is kept of it for a moment when it is full.
///
/// On a full disk SQLite cannot even note that a record was delivered. So a file lies beside the queue whose space is
/// given free then.
package protocol DiskSpace: Sendable {
    /// Its size in bytes.
    func totalBytes() throws -> UInt64
    /// What is free on it for the service, in bytes.
    func freeBytes() throws -> UInt64
    /// Sets so many bytes aside, if they are not yet.
    func makeReserve(bytes: UInt64) throws
    /// Gives them free.
    func releaseReserve() throws
}

/// The disk of a directory, with the reserve in its file `reserve`.
package struct DirectorySpace: DiskSpace {
    private let directory: String
    private var reserve: String { directory + "/reserve" }
    private static let chunk = [UInt8](repeating: 0, count: 64 << 10)

    package init(directory: String) {
        self.directory = directory
    }

    package func totalBytes() throws -> UInt64 { try attribute(.systemSize) }

    package func freeBytes() throws -> UInt64 { try attribute(.systemFreeSize) }

    /// - Throws: what statvfs(3) reports.
    private func attribute(_ key: FileAttributeKey) throws -> UInt64 {
        let attributes = try FileManager.default.attributesOfFileSystem(forPath: directory)
        switch attributes[key] {
        case let value as UInt64: return value
        case let value as Int: return UInt64(clamping: value)
        default: return 0
        }
    }

    package func makeReserve(bytes: UInt64) throws {
        let attributes = try? FileManager.default.attributesOfItem(atPath: reserve)
        if let attributes, attributes[.type] as? FileAttributeType == .typeRegular {
            if let size = attributes[.size] as? UInt64, size >= bytes { return }
            if let size = attributes[.size] as? Int, size >= bytes { return }
        }
        // Anything else with this name, such as a link to another file, is removed unopened.
        try? FileManager.default.removeItem(atPath: reserve)
        let file = try FileDescriptor.open(
            FilePath(reserve), .writeOnly, options: [.create, .exclusiveCreate],
            permissions: [.ownerReadWrite])
        do {
            // Written, because a file of holes sets nothing aside.
            var left = bytes
            while left > 0 {
                let count = Int(min(left, UInt64(Self.chunk.count)))
                try file.writeAll(Self.chunk.prefix(count))
                left -= UInt64(count)
            }
            try file.close()
        } catch {
            try? file.close()
            try? releaseReserve()
            throw error
        }
    }

    package func releaseReserve() throws {
        guard (try? FileManager.default.attributesOfItem(atPath: reserve)) != nil else { return }
        try FileManager.default.removeItem(atPath: reserve)
    }
}
