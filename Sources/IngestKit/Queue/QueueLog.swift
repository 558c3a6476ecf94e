import FoundationEssentials

/// The write-ahead log beside the queue's file, as bytes (sqlite.org/fileformat2.html, section 4).
///
/// SQLite takes of a log what comes before the first frame that fails its checksum, and says nothing of the rest: that is
/// what a commit looks like that a power cut interrupted. Commits that were whole and come after such a frame were lost to
/// damage, and so is all of a log whose header is damaged.
struct QueueLog {
    private static let (headerSize, frameHeaderSize, pageSize) = (32, 24, 4096)
    private static let frameSize = frameHeaderSize + pageSize

    private let content: Data
    /// What tells frames of this round of the log from earlier ones.
    private let salt: ArraySlice<UInt8>
    private let headerChecksum: Checksum?
    private let isBigEndian: Bool

    init(_ content: Data) {
        self.content = content
        let header = [UInt8](content.prefix(Self.headerSize))
        if let found = Self.checksum(ofHeader: header) {
            (headerChecksum, isBigEndian, salt) = (found.0, found.isBigEndian, header[16..<24])
        } else {
            headerChecksum = nil
            (isBigEndian, salt) = Self.round(Self.frames(content))
        }
    }

    /// Whether commits are in it that SQLite does not find. Of the last one that cannot be told: it may have been interrupted.
    /// - Parameter isOpen: whether the queue was open, and not closed. Then the header was on the disk before the first
    ///   commit was, and no power cut takes it away.
    func isDamaged(isOpen: Bool) -> Bool {
        guard headerChecksum != nil else {
            return isOpen && !content.isEmpty || frames.contains { isOfThisRound($0) && !$0.isEmpty }
        }
        var isAfterBadFrame = false
        var sum = headerChecksum ?? Checksum()
        var before: Frame?
        for frame in frames {
            if !isAfterBadFrame {
                sum.add(frame, isBigEndian: isBigEndian)
                isAfterBadFrame = !isOfThisRound(frame) || sum != frame.checksum
            } else if let before, isOfThisRound(before), before.isEnd, isOfThisRound(frame),
                !frame.repeats(before), frame.follows(before, isBigEndian: isBigEndian)
            {
                // Each commit was synced before the next one began. What an earlier interrupted commit has left
                // behind this one does not follow from it.
                return true
            }
            before = frame
        }
        return false
    }

    /// Whether the log is one that was about to be begun anew, and its header alone is not right: a write of it failed half
    /// way. SQLite begins a log anew when all of it is in the file, so nothing is lost with it.
    /// - Parameter file: the database file.
    func isInFile(_ file: Data) -> Bool {
        guard headerChecksum == nil, let first = frames.first(where: { _ in true }), isOfThisRound(first)
        else {
            return false
        }
        // Behind a first frame that is damaged too there may be older ones, which are in the file whatever was lost.
        var before = first
        for frame in frames.dropFirst().prefix(while: isOfThisRound) {
            guard frame.follows(before, isBigEndian: isBigEndian) else { return false }
            before = frame
        }
        let pages = pages
        return !pages.isEmpty
            && pages.allSatisfy { page, offset in
                let start = (page - 1) * Self.pageSize
                return start >= 0 && start + Self.pageSize <= file.count
                    && file[start..<start + Self.pageSize] == content[offset..<offset + Self.pageSize]
            }
    }

    /// The newest copy of each page, by the page's number, as offsets in the log: of whole transactions alone.
    var pages: [Int: Int] {
        var (pages, begun): ([Int: Int], [Int: Int]) = ([:], [:])
        for (number, frame) in frames.enumerated() where isOfThisRound(frame) {
            begun[frame.page] = Self.offset(number) + Self.frameHeaderSize
            guard frame.isEnd else { continue }
            pages.merge(begun) { $1 }
            begun = [:]
        }
        return pages
    }

    private var frames: some Sequence<Frame> { Self.frames(content) }

    private func isOfThisRound(_ frame: Frame) -> Bool { frame.salt.elementsEqual(salt) }

    private static func frames(_ content: Data) -> some Sequence<Frame> {
        (0..<max(0, content.count - headerSize) / frameSize).lazy.map { number in
            Frame(bytes: [UInt8](content[offset(number)..<offset(number) + frameSize]))
        }
    }

    private static func offset(_ frame: Int) -> Int { headerSize + frame * frameSize }

    /// Its checksum, and whether this is over big-endian words; nil if it is none.
    private static func checksum(ofHeader bytes: [UInt8]) -> (Checksum, isBigEndian: Bool)? {
        guard bytes.count == headerSize else { return nil }
        let magic = number(bytes, 0)
        let isBigEndian = magic == 0x377F_0683
        var sum = Checksum()
        sum.add(bytes[0..<24], isBigEndian: isBigEndian)
        guard magic == 0x377F_0682 || isBigEndian, number(bytes, 8) == UInt32(pageSize),
            sum == Checksum(first: number(bytes, 24), second: number(bytes, 28))
        else { return nil }
        return (sum, isBigEndian)
    }

    /// Without its header a log is of the round of the first frame whose checksum follows from that of the frame before
    /// it; if there is none, of its first frame that says anything.
    private static func round(
        _ frames: some Sequence<Frame>
    ) -> (isBigEndian: Bool, salt: ArraySlice<UInt8>) {
        var said: Frame?
        var before: Frame?
        for current in frames {
            if let before, before.salt == current.salt {
                for isBigEndian in [false, true] where current.follows(before, isBigEndian: isBigEndian) {
                    return (isBigEndian, current.salt)
                }
            }
            if said == nil, !current.isEmpty { said = current }
            before = current
        }
        return (false, said?.salt ?? [])
    }

    private static func number(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// A page as a transaction wrote it, behind its header of 24 bytes.
    private struct Frame {
        let bytes: [UInt8]

        var page: Int { Int(number(bytes, 0)) }
        /// Whether it ends a transaction: it has the size of the database after it.
        var isEnd: Bool { number(bytes, 4) != 0 }
        var salt: ArraySlice<UInt8> { bytes[8..<16] }
        var checksum: Checksum { Checksum(first: number(bytes, 16), second: number(bytes, 20)) }
        var isEmpty: Bool { bytes[0..<frameHeaderSize].allSatisfy { $0 == 0 } }
        /// What its checksum is over.
        var head: ArraySlice<UInt8> { bytes[0..<8] }
        var content: ArraySlice<UInt8> { bytes[frameHeaderSize...] }

        /// On a disk whose writes may harm what is beside them SQLite repeats the last frame up to the end of a sector.
        func repeats(_ before: Frame) -> Bool {
            isEnd && page == before.page && content == before.content
        }

        func follows(_ before: Frame, isBigEndian: Bool) -> Bool {
            var sum = before.checksum
            sum.add(self, isBigEndian: isBigEndian)
            return sum == checksum
        }
    }

    /// The checksum of a log (section 4.2).
    private struct Checksum: Equatable {
        var first: UInt32 = 0
        var second: UInt32 = 0

        mutating func add(_ frame: Frame, isBigEndian: Bool) {
            add(frame.head, isBigEndian: isBigEndian)
            add(frame.content, isBigEndian: isBigEndian)
        }

        mutating func add(_ slice: ArraySlice<UInt8>, isBigEndian: Bool) {
            var index = slice.startIndex
            while index + 8 <= slice.endIndex {
                first = first &+ word(slice, index, isBigEndian) &+ second
                second = second &+ word(slice, index + 4, isBigEndian) &+ first
                index += 8
            }
        }

        private func word(_ slice: ArraySlice<UInt8>, _ index: Int, _ isBigEndian: Bool) -> UInt32 {
            let (a, b) = (UInt32(slice[index]), UInt32(slice[index + 1]))
            let (c, d) = (UInt32(slice[index + 2]), UInt32(slice[index + 3]))
            return isBigEndian ? a << 24 | b << 16 | c << 8 | d : d << 24 | c << 16 | b << 8 | a
        }
    }
}
