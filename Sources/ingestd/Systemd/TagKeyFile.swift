import Glibc
import IngestKit

/// Keeps the key of tags in the state directory, mode 0600. It is made once: another key makes other tags, which lead
/// from the journal to no record, and name each device anew in the metrics. Whatever else than such a key is in its
/// place stays there, and is told.
struct TagKeyFile {
    static let name = "tag-key"
    /// Rights of the group and of others.
    private static let foreignRights: mode_t = 0o077

    let directory: String
    private var path: String { directory + "/" + Self.name }

    /// The key; makes one if there is none. The caller holds the lock of the state directory.
    func readOrMake() throws(CommandFailure) -> TagKey {
        if let key = try read() { return key }
        let key = TagKey.random()
        do throws(PrivateFile.Failure) {
            try PrivateFile(directory: directory, name: Self.name).write(key.stored)
        } catch {
            throw CommandFailure(
                .cannotCreate,
                "\(path): the key of the tags in events cannot be made (errno \(error.errno)); the state "
                    + "directory must have room and belong to the user of the service")
        }
        return key
    }

    /// Nil where there is none.
    func read() throws(CommandFailure) -> TagKey? {
        // A pipe in its place would be waited for.
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            switch errno {
            case ENOENT: return nil
            case ELOOP: throw failure("a link is in the place of the key of tags")
            case let errno:
                throw failure("the key of the tags in events cannot be read (errno \(errno))")
            }
        }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else {
            throw failure("the key of the tags in events cannot be read (errno \(errno))")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw failure("something else than a file is in the place of the key of tags")
        }
        guard geteuid() == 0 || status.st_uid == geteuid() else {
            throw failure("the key of the tags in events belongs to another user, who knows it")
        }
        guard status.st_mode & Self.foreignRights == 0 else {
            throw failure("others than the service may read the key of the tags in events")
        }
        // One more tells what is too long.
        var bytes = [UInt8](repeating: 0, count: TagKey.size + 1)
        var count = 0
        while count < bytes.count {
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(file, buffer.baseAddress.map { unsafe $0 + count }, buffer.count - count)
            }
            if got < 0 {
                if errno == EINTR { continue }
                throw failure("the key of the tags in events cannot be read (errno \(errno))")
            }
            if got == 0 { break }
            count += got
        }
        guard let key = TagKey(Array(bytes.prefix(count))) else {
            throw failure("expected \(TagKey.size) bytes, the key of the tags in events")
        }
        return key
    }

    private func failure(_ words: String) -> CommandFailure {
        CommandFailure(
            .cannotCreate,
            "\(path): \(words); put back what was there (mode 0600), or remove it and restart the service, which "
                + "makes a new key: the tags of events so far then lead to no record")
    }
}
