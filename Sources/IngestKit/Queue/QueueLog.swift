import FoundationEssentials

/// The write-ahead log beside the queue's file, as bytes (sqlite.org/fileformat2.html, section 4).
///
/// SQLite takes of a log what comes before the first frame that fails its checksum, and says nothing of the rest: that is
/// what a commit looks like that a power cut interrupted. Commits that were whole and come after such a frame were lost to
/// damage, and so is all of a log whose header is damaged.
struct QueueLog {
    private static let (headerSize, frameHeaderSize, pageSize) = (32, 24, 4096)
    private static let frameSize = frameHeaderSize + pageSize

    private let bytes: [UInt8]
    /// What tells frames of this round of the log from earlier ones.
    private let salt: ArraySlice<UInt8>
    private let isHeaderIntact: Bool
    private let isBigEndian: Bool

    init(_ content: Data) {
        bytes = [UInt8](content)
        guard bytes.count >= Self.headerSize else {
            (salt, isHeaderIntact, isBigEndian) = ([], true, false)
            return
        }
        let magic = Self.number(bytes, 0)
        isBigEndian = magic == 0x377F_0683
        var sum = Checksum()
        sum.add(bytes[0..<24], isBigEndian: isBigEndian)
        isHeaderIntact =
            (magic == 0x377F_0682 || isBigEndian) && Self.number(bytes, 8) == UInt32(Self.pageSize)
            && sum.first == Self.number(bytes, 24) && sum.second == Self.number(bytes, 28)
        // Without its header a log is of the round of its first frame.
        let first = isHeaderIntact ? 16 : Self.headerSize + 8
        salt = first + 8 <= bytes.count ? bytes[first..<first + 8] : []
    }

    private var frameCount: Int { max(0, bytes.count - Self.headerSize) / Self.frameSize }

    /// Whether commits are in it that SQLite does not find. Of the last one that cannot be told: it may have been interrupted.
    var isDamaged: Bool {
        guard isHeaderIntact else { return (0..<frameCount).contains { isOfThisRound($0) && !isEmpty($0) } }
        guard let first = firstBadFrame else { return false }
        guard let end = (first..<frameCount).first(where: { isOfThisRound($0) && isEnd($0) }) else {
            return false
        }
        // Each commit was synced before the next one began.
        return (end + 1..<frameCount).contains(where: isOfThisRound)
    }

    /// The newest copy of each page, by the page's number, as offsets in the log: of whole transactions alone.
    var pages: [Int: Int] {
        var (pages, begun): ([Int: Int], [Int: Int]) = ([:], [:])
        for frame in 0..<frameCount where isOfThisRound(frame) {
            begun[Int(Self.number(bytes, offset(frame)))] = offset(frame) + Self.frameHeaderSize
            guard isEnd(frame) else { continue }
            pages.merge(begun) { $1 }
            begun = [:]
        }
        return pages
    }

    /// The first frame of this round that fails its checksum.
    private var firstBadFrame: Int? {
        var sum = Checksum(first: Self.number(bytes, 24), second: Self.number(bytes, 28))
        for frame in 0..<frameCount {
            let start = offset(frame)
            sum.add(bytes[start..<start + 8], isBigEndian: isBigEndian)
            sum.add(
                bytes[start + Self.frameHeaderSize..<start + Self.frameSize], isBigEndian: isBigEndian)
            guard isOfThisRound(frame), sum.first == Self.number(bytes, start + 16),
                sum.second == Self.number(bytes, start + 20)
            else { return frame }
        }
        return nil
    }

    private func offset(_ frame: Int) -> Int { Self.headerSize + frame * Self.frameSize }

    private func isOfThisRound(_ frame: Int) -> Bool {
        bytes[offset(frame) + 8..<offset(frame) + 16].elementsEqual(salt)
    }

    /// Whether the frame ends a transaction: it has the size of the database after it.
    private func isEnd(_ frame: Int) -> Bool { Self.number(bytes, offset(frame) + 4) != 0 }

    private func isEmpty(_ frame: Int) -> Bool {
        bytes[offset(frame)..<offset(frame) + Self.frameHeaderSize].allSatisfy { $0 == 0 }
    }

    private static func number(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The checksum of a log (section 4.2).
    private struct Checksum {
        var first: UInt32 = 0
        var second: UInt32 = 0

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
