import Glibc

/// Keeps the state directory to one process (flock(2)). Held until the process ends, however it
/// ends.
struct StateLock: ~Copyable {
    enum Failure: Error, Equatable {
        case heldByAnother
        case system(errno: Int32)
    }

    private let descriptor: Int32

    /// Takes the lock of an existing directory.
    init(directory: String) throws(Failure) {
        descriptor = unsafe open(directory + "/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .system(errno: errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let error = errno
            close(descriptor)
            throw error == EWOULDBLOCK ? .heldByAnother : .system(errno: error)
        }
    }

    deinit {
        close(descriptor)
    }
}
