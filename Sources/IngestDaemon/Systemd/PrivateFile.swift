import Glibc

/// A small file that only the service may read (mode 0600). It is replaced as a whole: whoever reads it, also after a
/// power cut, finds what was written last or what was there before.
struct PrivateFile: Sendable {
    struct Failure: Error {
        let errno: Int32
    }

    /// In bytes.
    private static let maximumSize = 2 * 1024 * 1024

    let directory: String
    let name: String

    private var path: String { directory + "/" + name }
    private var draft: String { path + ".new" }

    struct Content {
        let bytes: [UInt8]
        let status: stat
    }

    /// Nil where there is none.
    /// - Throws: `ELOOP` for a link in its place, `EINVAL` for whatever else is no file.
    func content() throws(Failure) -> Content? {
        // A pipe in its place would be waited for.
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw Failure(errno: errno)
        }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { throw Failure(errno: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Failure(errno: EINVAL) }
        var bytes = [UInt8](repeating: 0, count: Self.maximumSize)
        var count = 0
        while count < bytes.count {
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(file, buffer.baseAddress.map { unsafe $0 + count }, buffer.count - count)
            }
            if got < 0 {
                if errno == EINTR { continue }
                throw Failure(errno: errno)
            }
            if got == 0 { break }
            count += got
        }
        return Content(bytes: Array(bytes.prefix(count)), status: status)
    }

    /// Reads the file's bytes; nil if there is no file.
    /// - Throws: as `content`, and `EPERM` if another user owns the file, unless this process is root's.
    func read() throws(Failure) -> [UInt8]? {
        guard let content = try content() else { return nil }
        guard geteuid() == 0 || content.status.st_uid == geteuid() else { throw Failure(errno: EPERM) }
        return content.bytes
    }

    func write(_ bytes: [UInt8]) throws(Failure) {
        // What is read back is cut there.
        guard bytes.count <= Self.maximumSize else { throw Failure(errno: EFBIG) }
        // What an interrupted call has left may be another's to read.
        unlink(draft)
        let file = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw Failure(errno: errno) }
        do throws(Failure) {
            try Self.fill(file, bytes)
        } catch {
            close(file)
            unlink(draft)
            throw error
        }
        close(file)
        guard unsafe rename(draft, path) == 0 else { throw Failure(errno: errno) }
        try syncDirectory()
    }

    func remove() throws(Failure) {
        unlink(draft)
        guard unlink(path) == 0 || errno == ENOENT else { throw Failure(errno: errno) }
        try syncDirectory()
    }

    private static func fill(_ file: Int32, _ bytes: [UInt8]) throws(Failure) {
        var count = 0
        while count < bytes.count {
            let put = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(file, buffer.baseAddress.map { unsafe $0 + count }, buffer.count - count)
            }
            if put < 0, errno != EINTR { throw Failure(errno: errno) }
            count += max(0, put)
        }
        guard fsync(file) == 0 else { throw Failure(errno: errno) }
    }

    /// A name is on the disk when its directory is (fsync(2)).
    private func syncDirectory() throws(Failure) {
        let file = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { throw Failure(errno: errno) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw Failure(errno: errno) }
    }

    @discardableResult
    private func unlink(_ path: String) -> Int32 { unsafe Glibc.unlink(path) }
}

extension JunctionVault {
    /// In a file of the state directory.
    init(destination: String, stateDirectory: String) {
        let file = PrivateFile(directory: stateDirectory, name: "session-\(destination).json")
        self.init(
            load: { try file.read() }, save: { try file.write($0) }, erase: { try file.remove() })
    }
}
