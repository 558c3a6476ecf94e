import FoundationEssentials
import Glibc

/// A folder into which another program, such as a sync client, puts files: those in `incoming` are to be imported, and
/// then go to `done`, or to `bad`. Both are bounded.
struct DropFolder: Sendable {
    enum Place: String, CaseIterable {
        case incoming
        case done
        case bad
    }

    /// Why the folder cannot be used.
    struct Failure: Error {
        let path: String
        let errno: Int32
    }

    /// Which file has a name, and in which state it is: two that are equal are the same file, unchanged.
    struct State: Sendable, Equatable {
        var isRegular: Bool
        var device: UInt64
        var number: UInt64
        var size: Int64
        /// Of the bytes, in nanoseconds since 1970. A program can set it as it likes.
        var modified: Int64
        /// Of the bytes, the name or the owner. The kernel sets it, also at a rename.
        var changed: Int64

        /// Whether nobody writes it any more, as far as that can be told: a file that is being written, and one that has
        /// just got its name, was changed a moment ago. One of a clock that was put back since is not waited for.
        func isWhole(at now: Int64) -> Bool {
            let last = max(modified, changed)
            return last > now || now - last >= DropFolder.rest
        }
    }

    /// How long a file has to rest before it is taken, in nanoseconds: longer than a sync client pauses while it writes.
    static let rest: Int64 = 10_000_000_000
    /// Of those in `done`, and in `bad`: files, and bytes.
    static let mostKept = 100
    static let mostBytes: Int64 = 1 << 30
    /// What an export is called. Sync clients give a file that they still write another name, or a hidden one.
    private static let endings = [".json", ".xml", ".zip"]

    let path: String

    func path(_ place: Place, _ name: String) -> String { "\(path)/\(place.rawValue)/\(name)" }

    /// Whether a name is one of an export that is there whole.
    static func isTaken(_ name: String) -> Bool {
        !name.hasPrefix(".") && endings.contains { name.hasSuffix($0) }
    }

    /// Makes `done` and `bad`, if they are missing.
    func prepare() throws(Failure) {
        for place in [Place.done, .bad] {
            let directory = path(place, "")
            guard unsafe mkdir(directory, 0o700) == 0 || errno == EEXIST else {
                throw Failure(path: directory, errno: errno)
            }
        }
        guard unsafe access(path(.incoming, ""), R_OK | W_OK | X_OK) == 0 else {
            throw Failure(path: path(.incoming, ""), errno: errno)
        }
    }

    /// The names of the files that are there to be imported, in their order.
    func names() -> [String] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: path(.incoming, ""))) ?? []
        return all.filter(Self.isTaken).sorted()
    }

    /// Nil for a file that is not there. A link is looked at itself.
    func state(_ place: Place, _ name: String) -> State? {
        var status = stat()
        guard unsafe lstat(path(place, name), &status) == 0 else { return nil }
        return State(
            isRegular: status.st_mode & S_IFMT == S_IFREG, device: UInt64(status.st_dev),
            number: UInt64(status.st_ino), size: Int64(status.st_size),
            modified: Self.nanoseconds(status.st_mtim), changed: Self.nanoseconds(status.st_ctim))
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Moves a file out of `incoming`, in the place of one of the same name.
    /// - Parameter state: of the file that was read.
    /// - Returns: false if it is another one now: that stays, or goes back.
    func move(_ name: String, _ state: State, to place: Place) throws(Failure) -> Bool {
        guard self.state(.incoming, name) == state else { return false }
        let (from, to) = (path(.incoming, name), path(place, name))
        guard unsafe rename(from, to) == 0 else {
            if errno == ENOENT { return false }
            throw Failure(path: from, errno: errno)
        }
        var moved = self.state(place, name)
        // The rename has changed it.
        moved?.changed = state.changed
        if moved == state { return true }
        // Another one had got its name in between. It goes back, under a name that no third one has.
        let back = path(.incoming, "\(UUID().uuidString)-\(name)")
        guard unsafe rename(to, back) == 0 else { throw Failure(path: to, errno: errno) }
        return false
    }

    /// Deletes the oldest files of `done` and `bad` that are more than are kept.
    func prune() {
        for place in [Place.done, .bad] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: path(place, ""))) ?? []
            let files = names.compactMap { name in state(place, name).map { (name, $0) } }
            var bytes: Int64 = 0
            for (index, file) in files.sorted(by: { $0.1.changed > $1.1.changed }).enumerated() {
                bytes += file.1.size
                if index >= Self.mostKept || bytes > Self.mostBytes { unsafe unlink(path(place, file.0)) }
            }
        }
    }
}
