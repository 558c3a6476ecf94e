import FoundationEssentials
import SystemPackage

/// The queue's file, those that SQLite keeps beside it, and those that stand in for it while it is mended.
struct QueueFile: Sendable {
    /// Which files the names stand for.
    struct Identity: Sendable, Equatable {
        fileprivate struct Number: Sendable, Equatable {
            let device: DeviceID
            let inode: Inode
        }

        /// In the order of `names`; nil where there is none.
        fileprivate let numbers: [Number?]
    }

    let path: String

    /// What is not yet checkpointed into the file (sqlite.org/walformat.html).
    var log: String { path + "-wal" }
    /// Where SQLite finds things in the log.
    var logIndex: String { path + "-shm" }
    /// A new file that is being written; of no use if that was interrupted.
    var draft: String { path + ".draft" }
    /// A new file that is whole and takes the place of the queue's.
    var replacement: String { path + ".mended" }

    /// Left by a run that found the file damaged, for the next one.
    private var mark: String { directory + "queue.suspect" }
    private var directory: String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }
    private var names: [String] { [path, log, logIndex] }

    /// Damaged files kept; whoever looks after the box removes them.
    var asideCount: Int { (1...).first { !exists(aside($0)) }.map { $0 - 1 } ?? 0 }

    // MARK: - Whether it is still the same

    /// Which files the names stand for now (stat(2)).
    var identity: Identity {
        Identity(
            numbers: names.map { name in
                (try? Stat(FilePath(name))).map { Identity.Number(device: $0.deviceID, inode: $0.inode) }
            })
    }

    // MARK: - The mark

    var isMarked: Bool { exists(mark) }

    /// What the mark says.
    enum Mark: String {
        case damaged
        /// The file is read in a way in which an error of the disk ends the process (SIGBUS, mmap(2)).
        case mapping
    }

    /// Whether no process has ended by that.
    var mayBeMapped: Bool {
        FileManager.default.contents(atPath: mark) != Data(Mark.mapping.rawValue.utf8)
    }

    /// Has the next start look at the file; a disk that takes no mark is one that is asked again.
    func setMark(_ content: Mark = .damaged) {
        _ = FileManager.default.createFile(atPath: mark, contents: Data(content.rawValue.utf8))
    }

    func removeMark() {
        try? FileManager.default.removeItem(atPath: mark)
    }

    // MARK: - Replacing

    /// Whether there is a log without the file that it belongs to. SQLite would empty it.
    var hasStrayLog: Bool { size(path) == 0 && size(log) > 0 }

    /// The name that the file gets when it is put aside now.
    var nextAside: String {
        (1...).lazy.map(aside).first { !exists($0) && !(exists(log) && exists($0 + "-wal")) }
            ?? path + ".damaged"
    }

    /// Puts what is at the queue's name aside and the replacement in its place, if there is one. What an
    /// interrupted call has done is not done again.
    /// - Throws: what `FileManager` throws.
    func takeReplacement() throws {
        guard hasReplacement else { return }
        let name = nextAside
        // The file itself comes last: as long as it is there the number is not taken. SQLite makes the index anew.
        if exists(log) { try FileManager.default.moveItem(atPath: log, toPath: name + "-wal") }
        if exists(logIndex) { try FileManager.default.removeItem(atPath: logIndex) }
        if exists(path) { try FileManager.default.moveItem(atPath: path, toPath: name) }
        try FileManager.default.moveItem(atPath: replacement, toPath: path)
        removeMark()
    }

    var hasReplacement: Bool { exists(replacement) }

    /// Removes what an interrupted run has left of a draft.
    func removeDraft() {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: draft + suffix)
        }
    }

    /// The draft is whole.
    func finishDraft() throws {
        try FileManager.default.moveItem(atPath: draft, toPath: replacement)
    }

    private func aside(_ number: Int) -> String { "\(path).damaged-\(number)" }

    private func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: name) }

    /// In bytes; 0 where there is none.
    private func size(_ name: String) -> Int64 { (try? Stat(FilePath(name)))?.size ?? 0 }
}

extension String {
    /// The last part of a path.
    var lastPathPart: String { split(separator: "/").last.map(String.init) ?? self }
}
