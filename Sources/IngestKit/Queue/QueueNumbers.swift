import Crypto
import FoundationEssentials
import Glibc
import Synchronization
import SystemPackage

/// What is known of the queue outside of its file, in `queue.numbers` beside it: that there is a queue, and which
/// numbers its events have had. A file that is gone, or is older than it was, is missed by this.
///
/// Numbers are reserved in blocks, so that the file is written once in many commits. A block is on the disk before the
/// first event of it is committed.
struct QueueNumbers: Sendable, Equatable {
    /// How many numbers are reserved at a time.
    static let block: Int64 = 1000

    /// No event has had a higher number.
    var reserved: Int64
    /// Every event up to this one was committed.
    var used: Int64
    /// Whether the queue was opened and not closed since.
    var isOpen: Bool

    // MARK: - The file

    /// Nil if there is none, or none that says what was written.
    static func read(_ file: QueueFile) -> QueueNumbers? {
        guard let content = try? BoundedFile.read(file.numbers, limit: longest) else { return nil }
        let text = String(decoding: content, as: UTF8.self)
        let words = text.split(separator: " ").map(String.init)
        guard words.count == 4, let reserved = Int64(words[0]), let used = Int64(words[1]), used >= 0 else {
            return nil
        }
        let numbers = QueueNumbers(reserved: reserved, used: used, isOpen: words[2] == opened)
        return numbers.text == text ? numbers : nil
    }

    /// Writes the file; it is on the disk when this returns (O_DSYNC, open(2)).
    /// - Throws: `Errno`.
    func write(_ file: QueueFile) throws {
        let descriptor = try FileDescriptor.open(
            FilePath(file.numbers), .writeOnly, options: [.create, .closeOnExec, .noFollow, .dataSync],
            permissions: [.ownerReadWrite])
        try descriptor.closeAfter {
            // In place: one sector is written whole or not at all, and a full disk has no room for another file.
            let bytes = Array(text.utf8)
            try descriptor.writeAll(toAbsoluteOffset: 0, bytes)
        }
    }

    /// Notes that nobody has the queue open, as far as the disk takes it.
    func noteClosed(_ file: QueueFile) {
        guard isOpen else { return }
        try? QueueNumbers(reserved: reserved, used: used, isOpen: false).write(file)
    }

    /// In bytes; more than the file ever has.
    private static let longest = 200
    private static let (opened, closed) = ("open", "closed")

    /// As long for every number, so that nothing is left of a longer one.
    private var text: String {
        let state = (isOpen ? Self.opened : Self.closed).padding(to: 8)
        let said = "\(String(reserved).padding(to: 20))\(String(used).padding(to: 20))\(state)"
        return said + Hex.text(Array(SHA256.hash(data: Data(said.utf8)).prefix(8))) + "\n"
    }
}

extension String {
    /// With blanks behind it, at least one.
    fileprivate func padding(to count: Int) -> String {
        self + String(repeating: " ", count: max(1, count - utf8.count))
    }
}

/// Reserves numbers for events while the queue is open.
final class EventReserve: Sendable {
    private struct State {
        /// As the file says.
        var noted: QueueNumbers
        /// The number of the last event of the transaction under way.
        var pending: Int64 = 0
        /// And of the last one that is committed.
        var committed: Int64
    }

    private let file: QueueFile
    private let state: Mutex<State>

    /// - Parameters:
    ///   - remembered: what the file said before the queue was opened.
    ///   - isLost: whether something is missing. Then the file goes on saying that the queue is open until this start
    ///     has reported the loss. If this start ends before that, the next one reports it.
    init(_ remembered: QueueNumbers?, isLost: Bool, of file: QueueFile) {
        self.file = file
        var noted = remembered ?? QueueNumbers(reserved: 0, used: 0, isOpen: false)
        noted.isOpen = noted.isOpen && isLost
        state = Mutex(State(noted: noted, committed: noted.used))
    }

    /// Has the disk know of this number before an event with it is committed. Blocks.
    /// - Throws: `Errno`, if the disk does not take it: then the event must not be committed.
    func cover(_ number: Int64) throws {
        try state.withLock { state in
            state.pending = number
            guard number > state.noted.reserved else { return }
            try note(number + QueueNumbers.block, isOpen: state.noted.isOpen, &state)
        }
    }

    /// The transaction that was covered last is committed.
    func commit() {
        state.withLock { $0.committed = $0.pending }
    }

    /// Notes that the queue is open. Blocks.
    /// - Throws: `Errno`.
    func open() throws {
        try state.withLock { state in
            try note(max(state.noted.reserved, state.committed + QueueNumbers.block), isOpen: true, &state)
        }
    }

    /// Notes that the queue was closed, with its last event. If the disk does not take that, the next start misses the log.
    func close() {
        state.withLock { try? note($0.committed, isOpen: false, &$0) }
    }

    private func note(_ reserved: Int64, isOpen: Bool, _ state: inout State) throws {
        let numbers = QueueNumbers(reserved: reserved, used: state.committed, isOpen: isOpen)
        try numbers.write(file)
        state.noted = numbers
    }
}

extension FileDescriptor.OpenOptions {
    /// What is written is on the disk when the write returns.
    static var dataSync: Self { Self(rawValue: O_DSYNC) }
}
