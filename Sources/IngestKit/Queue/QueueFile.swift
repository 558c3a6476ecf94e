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

    /// What is known of the queue outside of its file (`QueueNumbers`).
    var numbers: String { directory + "queue.numbers" }

    /// Left by a run that found the file damaged, for the next one.
    private var mark: String { directory + "queue.suspect" }
    var directory: String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }
    private var names: [String] { [path, log, logIndex] }

    /// A database has a header of 100 bytes, and a page of 512 at least.
    private static let smallestDatabase: Int64 = 512

    /// In bytes; 0 if there is no file.
    var byteCount: Int64 { size(path) }
    var logByteCount: Int64 { size(log) }

    /// Whether there is no file, or an empty one, of which SQLite makes a new database.
    var isGone: Bool { byteCount == 0 }

    /// Whether the file is too short to be a database. SQLite would make a new one of it.
    var isStub: Bool { (1..<Self.smallestDatabase).contains(byteCount) }

    /// The first of the queue's names that a directory, or anything else than a file, has.
    var obstacle: String? {
        (names + [numbers]).first { name in (try? Stat(FilePath(name))).map { $0.type != .regular } ?? false }
    }

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

    /// The name that the file gets when it is put aside now: numbers rise.
    var nextAside: String {
        let last = asideNumbers.last ?? 0
        // An interrupted call has moved the log alone; a log without its file has a number of its own.
        let isTaken = exists(aside(last)) || exists(log) && exists(aside(last) + "-wal")
        return aside(isTaken || last == 0 ? last + 1 : last)
    }

    /// The numbers of the files that were put aside, from the oldest to the newest.
    private var asideNumbers: [Int] {
        let names =
            (try? FileManager.default.contentsOfDirectory(atPath: directory.isEmpty ? "." : directory)) ?? []
        let prefix = path.lastPathPart + ".damaged-"
        let numbers = names.compactMap { name -> Int? in
            guard name.hasPrefix(prefix) else { return nil }
            return Int(name.dropFirst(prefix.count).prefix { $0 != "-" })
        }
        return Set(numbers).sorted()
    }

    /// How many damaged files are kept for whoever looks after the box.
    private static let mostAside = 3

    /// Removes the oldest of the files that were put aside, until there are no more than three and they take no more than so
    /// many bytes. The newest stays, however large it is.
    func pruneAside(downTo most: UInt64) {
        var (count, bytes) = (0, UInt64(0))
        for number in asideNumbers.reversed() {
            count += 1
            bytes += UInt64(clamping: size(aside(number)) + size(aside(number) + "-wal"))
            guard count > Self.mostAside || bytes > most && count > 1 else { continue }
            for suffix in ["", "-wal"] { try? FileManager.default.removeItem(atPath: aside(number) + suffix) }
        }
    }

    /// Puts what is at the queue's name aside and the replacement in its place, if there is one. What an
    /// interrupted call has done is not done again.
    /// - Returns: whether there was one.
    /// - Throws: what `FileManager` throws.
    @discardableResult
    func takeReplacement() throws -> Bool {
        guard hasReplacement else { return false }
        let name = nextAside
        // The file itself comes last: as long as it is there the number is not taken. SQLite makes the index anew.
        if exists(log) { try FileManager.default.moveItem(atPath: log, toPath: name + "-wal") }
        if exists(logIndex) { try FileManager.default.removeItem(atPath: logIndex) }
        if exists(path) { try FileManager.default.moveItem(atPath: path, toPath: name) }
        try FileManager.default.moveItem(atPath: replacement, toPath: path)
        removeMark()
        return true
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
