import CArchive
import Glibc

/// Why a file cannot be read as an archive.
package enum ZipError: Error, Equatable {
    case missing
    case notAllowed
    case unreadable(errno: Int32)
    /// No file, or one with nothing in it.
    case noArchive
    /// No member of it is what was looked for.
    case noMember
    /// More than a bound allows.
    case tooManyMembers
    case tooLarge
    /// It is packed by another method than those of every zip program, or encrypted.
    case unknownMethod
    /// It is broken off or damaged, from here on.
    case damaged
}

/// One member of a zip, unpacked as it is read, or a plain file. Holds one block of it at a time, and what libarchive
/// keeps of each member: a few hundred bytes.
///
/// Stands on archive_read(3). Safe: the archive is this object's alone, freed with it, and libarchive keeps no pointer of
/// ours beyond a call.
@safe
package final class ZipStream {
    /// Members that are passed over in search of one.
    private static let mostMembers = 100_000
    /// How much of the file is read for the list of members, in bytes: 46 of each and its name (APPNOTE.TXT 4.3.12). An
    /// export has one member for each workout's route; libarchive takes four times as much memory at most.
    package static let longestList = 8 << 20
    /// What a document unpacks to, in bytes: ten times what decades of a watch give.
    package static let largestMember: Int64 = 64 << 30
    /// Libarchive's names of the methods 0 and 8. Others have dictionaries as large as the file says, in memory.
    private static let methods = ["(uncompressed)", "(deflation)"]

    private var archive: OpaquePointer?
    private let file: OpaquePointer
    private let most: Int64
    private var unpacked: Int64 = 0
    /// Of the file, in bytes.
    package let size: Int64

    /// Opens the first member that `accepts` takes by its path. A file that is no zip is itself the member.
    /// - Parameter most: how many bytes of the member are given.
    package init(
        path: String, most: Int64 = ZipStream.largestMember, accepts: (String) -> Bool
    ) throws(ZipError) {
        self.most = most
        var status = stat()
        guard unsafe stat(path, &status) == 0, unsafe access(path, R_OK) == 0 else { throw Self.error(errno) }
        size = Int64(status.st_size)
        guard status.st_mode & S_IFMT == S_IFREG, size > 0 else { throw .noArchive }
        let archive = unsafe archive_read_new()
        unsafe archive_read_support_format_zip(archive)
        unsafe archive_read_support_format_raw(archive)
        guard let file = unsafe CArchive_open(archive, path, Int64(Self.longestList)) else {
            let number = errno
            unsafe archive_read_free(archive)
            throw .unreadable(errno: number)
        }
        unsafe self.file = file
        unsafe self.archive = archive
        try find(accepts)
    }

    deinit {
        unsafe archive_read_free(archive)
    }

    private func find(_ accepts: (String) -> Bool) throws(ZipError) {
        for _ in 0..<Self.mostMembers {
            var entry: OpaquePointer?
            let result = unsafe CArchive_next_header(archive, &entry)
            if unsafe CArchive_is_exhausted(file) != 0 { throw .tooManyMembers }
            // Every member is listed.
            unsafe CArchive_lift_bound(file)
            if result == ARCHIVE_EOF { throw .noMember }
            guard result == ARCHIVE_OK || result == ARCHIVE_WARN else { throw .damaged }
            if unsafe archive_format(archive) == ARCHIVE_FORMAT_RAW { return }
            // Nil where its bytes are no UTF-8, and do not say so.
            guard let name = unsafe archive_entry_pathname(entry) else { continue }
            guard accepts(unsafe String(cString: name)) else { continue }
            guard let format = unsafe archive_format_name(archive) else { throw .unknownMethod }
            let method = unsafe String(cString: format)
            guard Self.methods.contains(where: method.hasSuffix),
                unsafe archive_entry_is_data_encrypted(entry) == 0
            else { throw .unknownMethod }
            return
        }
        throw .tooManyMembers
    }

    /// Reads on into a block.
    /// - Returns: how many bytes of it; 0 at the end of the member.
    package func read(into block: inout [UInt8]) throws(ZipError) -> Int {
        let count = unsafe block.withUnsafeMutableBytes { buffer in
            unsafe archive_read_data(archive, buffer.baseAddress, buffer.count)
        }
        guard count >= 0 else { throw .damaged }
        unpacked += Int64(count)
        guard unpacked <= most else { throw .tooLarge }
        return count
    }

    /// How much of the file was read, in bytes.
    package var position: Int64 { unsafe archive_filter_bytes(archive, -1) }

    private static func error(_ number: Int32) -> ZipError {
        switch number {
        case ENOENT, ENOTDIR: .missing
        case EACCES, EPERM: .notAllowed
        default: .unreadable(errno: number)
        }
    }
}
