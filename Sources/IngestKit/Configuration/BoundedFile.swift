import FoundationEssentials

/// Reads small regular files without trusting their size.
enum BoundedFile {
    enum Failure: Error, Equatable {
        case missing
        case notAFile
        case tooLarge
        /// There, but not for this user.
        case unreadable
    }

    /// - Parameter limit: in bytes; a longer file is refused, not cut.
    static func read(_ path: String, limit: Int) throws(Failure) -> [UInt8] {
        guard let status = FileStatus(path) else {
            throw FileManager.default.fileExists(atPath: path) ? .unreadable : .missing
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
struct FileStatus {
    let size: Int
    /// The lower nine bits of the mode.
    let permissions: Int
    let isRegular: Bool

    init?(_ path: String) {
        var path = path
        // Linux itself follows at most 40 links (path_resolution(7)).
        for _ in 0..<40 {
            guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
            let type = attributes[.type] as? FileAttributeType
            if type == .typeSymbolicLink {
                guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else {
                    return nil
                }
                path = target.hasPrefix("/") ? target : Self.directory(of: path) + "/" + target
                continue
            }
            size = Self.number(attributes[.size])
            permissions = Self.number(attributes[.posixPermissions])
            isRegular = type == .typeRegular
            return
        }
        return nil
    }

    /// An integer, or where all of Foundation is loaded a number object, whose type cannot be named
    /// here. Both are written in digits.
    private static func number(_ value: Any?) -> Int {
        value.flatMap { Int("\($0)") } ?? 0
    }

    private static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }
}
