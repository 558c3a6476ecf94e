import FoundationEssentials
import SystemPackage

/// Reads small regular files without trusting their size.
package enum BoundedFile {
    package enum Failure: Error, Equatable {
        case missing
        case notAFile
        case tooLarge
        /// Not for this user, if it is there.
        case unreadable
    }

    /// Whether this user may not see if there is a file, because of a directory on the way to it (stat(2), EACCES).
    package static func isHidden(_ path: String) -> Bool {
        do {
            _ = try Stat(FilePath(path))
            return false
        } catch {
            return error == .permissionDenied
        }
    }

    /// - Parameter limit: in bytes; a longer file is refused, not cut.
    package static func read(_ path: String, limit: Int) throws(Failure) -> [UInt8] {
        guard let status = FileStatus(path) else {
            throw isHidden(path) ? .unreadable : .missing
        }
        // Anything but a regular file may block for ever or claim no size.
        guard status.isRegular else { throw .notAFile }
        guard status.size <= limit else { throw .tooLarge }
        guard let data = FileManager.default.contents(atPath: path) else { throw .unreadable }
        guard data.count <= limit else { throw .tooLarge }
        return [UInt8](data)
    }
}

/// What stat(2) tells of a file, symbolic links followed.
package struct FileStatus {
    let size: Int
    /// The lower nine bits of the mode.
    package let permissions: Int
    package let isRegular: Bool

    package init?(_ path: String) {
        guard let status = try? Stat(FilePath(path)) else { return nil }
        size = Int(status.size)
        permissions = Int(status.permissions.rawValue & 0o777)
        isRegular = status.type == .regular
    }
}

/// Which file is at a path, and in which state. It differs after the file was replaced or written.
package struct FileIdentity: Sendable, Equatable {
    private let status: Stat

    /// Asks stat(2), symbolic links followed. Nil if there is no file, or none that can be seen.
    package init?(_ path: String) {
        guard var status = try? Stat(FilePath(path)) else { return nil }
        // When it was read last is no part of it.
        status.st_atim = status.st_mtim
        self.status = status
    }
}

/// Files that may be replaced while they are in use.
package struct WatchedFiles: Sendable {
    private let paths: [String]

    package init(_ paths: [String]) {
        self.paths = paths
    }

    /// Two looks differ if a file was replaced, written, made or removed between them.
    package func look() -> [FileIdentity?] { paths.map { FileIdentity($0) } }
}
