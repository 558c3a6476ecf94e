import Glibc

/// Keeps the key of tags in the state directory, mode 0600. It is made once: another key makes other tags, which lead
/// from the journal to no record, and name each device anew in the metrics. Whatever else than such a key is in its
/// place stays there, and is told.
struct TagKeyFile {
    static let name = "tag-key"
    /// Rights of the group and of others.
    private static let foreignRights: mode_t = 0o077

    let directory: String
    private var file: PrivateFile { PrivateFile(directory: directory, name: Self.name) }
    private var path: String { directory + "/" + Self.name }

    /// The key; makes one if there is none. The caller holds the lock of the state directory.
    func readOrMake() throws(CommandFailure) -> TagKey {
        if let key = try read() { return key }
        let key = TagKey.random()
        do throws(PrivateFile.Failure) {
            try file.write(key.stored)
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
        let content: PrivateFile.Content?
        do throws(PrivateFile.Failure) {
            content = try file.content()
        } catch {
            switch error.errno {
            case ELOOP: throw failure("a link is in the place of the key of tags")
            case EINVAL: throw failure("something else than a file is in the place of the key of tags")
            case let errno:
                throw failure("the key of the tags in events cannot be read (errno \(errno))")
            }
        }
        guard let content else { return nil }
        guard geteuid() == 0 || content.status.st_uid == geteuid() else {
            throw failure("the key of the tags in events belongs to another user, who knows it")
        }
        guard content.status.st_mode & Self.foreignRights == 0 else {
            throw failure("others than the service may read the key of the tags in events")
        }
        guard let key = TagKey(content.bytes) else {
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
