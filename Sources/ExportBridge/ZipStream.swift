import CArchive
import Glibc

/// Why a file cannot be read as an archive.
public enum ZipError: Error, Equatable {
    case missing
    case notAllowed
    case unreadable(errno: Int32)
    /// No file, or one with nothing in it.
    case noArchive
    /// No member of it is what was looked for.
    case noMember
    /// It is broken off or damaged, from here on.
    case damaged
}

/// One member of a zip, unpacked as it is read, or a plain file. Holds one block of it at a time.
///
/// Stands on archive_read(3). Safe: the archive is this object's alone, freed with it, and libarchive keeps no pointer of
/// ours beyond a call.
@safe
public final class ZipStream {
    /// What is read of the file at once, in bytes.
    private static let blockSize = 64 << 10
    /// Members that are passed over in search of one.
    private static let mostMembers = 100_000

    private var archive: OpaquePointer?
    /// Of the file, in bytes.
    public let size: Int64

    /// Opens the first member that `accepts` takes by its path. A file that is no zip is itself the member.
    public init(path: String, accepts: (String) -> Bool) throws(ZipError) {
        var status = stat()
        guard unsafe stat(path, &status) == 0, unsafe access(path, R_OK) == 0 else { throw Self.error(errno) }
        size = Int64(status.st_size)
        guard status.st_mode & S_IFMT == S_IFREG, size > 0 else { throw .noArchive }
        unsafe archive = archive_read_new()
        unsafe archive_read_support_format_zip(archive)
        unsafe archive_read_support_format_raw(archive)
        guard unsafe archive_read_open_filename(archive, path, Self.blockSize) == ARCHIVE_OK else {
            throw .unreadable(errno: unsafe archive_errno(archive))
        }
        try find(accepts)
    }

    deinit {
        unsafe archive_read_free(archive)
    }

    private func find(_ accepts: (String) -> Bool) throws(ZipError) {
        for _ in 0..<Self.mostMembers {
            var entry: OpaquePointer?
            let result = unsafe CArchive_next_header(archive, &entry)
            if result == ARCHIVE_EOF { throw .noMember }
            guard result == ARCHIVE_OK || result == ARCHIVE_WARN else { throw .damaged }
            if unsafe archive_format(archive) == ARCHIVE_FORMAT_RAW { return }
            // Nil where its bytes are no UTF-8, and do not say so.
            guard let name = unsafe archive_entry_pathname(entry) else { continue }
            if accepts(unsafe String(cString: name)) { return }
        }
        throw .noMember
    }

    /// Reads on into a block.
    /// - Returns: how many bytes of it; 0 at the end of the member.
    public func read(into block: inout [UInt8]) throws(ZipError) -> Int {
        let count = unsafe block.withUnsafeMutableBytes { buffer in
            unsafe archive_read_data(archive, buffer.baseAddress, buffer.count)
        }
        guard count >= 0 else { throw .damaged }
        return count
    }

    /// How much of the file was read, in bytes.
    public var position: Int64 { unsafe archive_filter_bytes(archive, -1) }

    private static func error(_ number: Int32) -> ZipError {
        switch number {
        case ENOENT, ENOTDIR: .missing
        case EACCES, EPERM: .notAllowed
        default: .unreadable(errno: number)
        }
    }
}
