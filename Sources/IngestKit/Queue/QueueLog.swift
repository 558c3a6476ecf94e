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
        if let isBigEndian = Self.byteOrder(bytes) {
            (isHeaderIntact, self.isBigEndian, salt) = (true, isBigEndian, bytes[16..<24])
        } else {
            isHeaderIntact = false
            (isBigEndian, salt) = Self.round(bytes)
        }
    }

    /// Whether checksums are over big-endian words; nil if the header is not one.
    private static func byteOrder(_ bytes: [UInt8]) -> Bool? {
        guard bytes.count >= headerSize else { return nil }
        let magic = number(bytes, 0)
        let isBigEndian = magic == 0x377F_0683
        var sum = Checksum()
        sum.add(bytes[0..<24], isBigEndian: isBigEndian)
        guard magic == 0x377F_0682 || isBigEndian, number(bytes, 8) == UInt32(pageSize),
            sum.first == number(bytes, 24), sum.second == number(bytes, 28)
        else { return nil }
        return isBigEndian
    }

    /// Without its header a log is of the round of the first frame whose checksum follows from that of the frame before
    /// it; if there is none, of its first frame that says anything.
    private static func round(_ bytes: [UInt8]) -> (isBigEndian: Bool, salt: ArraySlice<UInt8>) {
        let frames = 0..<frameCount(bytes)
        for frame in frames.dropFirst() {
            let before = offset(frame - 1)
            for isBigEndian in [false, true] {
                var sum = Checksum(first: number(bytes, before + 16), second: number(bytes, before + 20))
                sum.add(bytes, frameAt: offset(frame), isBigEndian: isBigEndian)
                if sum.isThat(of: bytes, frameAt: offset(frame)), salt(bytes, frame) == salt(bytes, frame - 1)
                {
                    return (isBigEndian, salt(bytes, frame))
                }
            }
        }
        return (false, frames.first { !isEmpty(bytes, $0) }.map { salt(bytes, $0) } ?? [])
    }

    private var frameCount: Int { Self.frameCount(bytes) }

    /// Whether commits are in it that SQLite does not find. Of the last one that cannot be told: it may have been interrupted.
    /// - Parameter isOpen: whether the queue was open, and not closed. Then the header was on the disk before the first
    ///   commit was, and no power cut takes it away.
    func isDamaged(isOpen: Bool) -> Bool {
        guard isHeaderIntact else {
            return isOpen && !bytes.isEmpty
                || (0..<frameCount).contains { isOfThisRound($0) && !Self.isEmpty(bytes, $0) }
        }
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
            sum.add(bytes, frameAt: offset(frame), isBigEndian: isBigEndian)
            guard isOfThisRound(frame), sum.isThat(of: bytes, frameAt: offset(frame)) else { return frame }
        }
        return nil
    }

    private func offset(_ frame: Int) -> Int { Self.offset(frame) }

    private func isOfThisRound(_ frame: Int) -> Bool { Self.salt(bytes, frame).elementsEqual(salt) }

    /// Whether the frame ends a transaction: it has the size of the database after it.
    private func isEnd(_ frame: Int) -> Bool { Self.number(bytes, offset(frame) + 4) != 0 }

    private static func frameCount(_ bytes: [UInt8]) -> Int { max(0, bytes.count - headerSize) / frameSize }

    private static func offset(_ frame: Int) -> Int { headerSize + frame * frameSize }

    private static func salt(_ bytes: [UInt8], _ frame: Int) -> ArraySlice<UInt8> {
        bytes[offset(frame) + 8..<offset(frame) + 16]
    }

    private static func isEmpty(_ bytes: [UInt8], _ frame: Int) -> Bool {
        bytes[offset(frame)..<offset(frame) + frameHeaderSize].allSatisfy { $0 == 0 }
    }

    private static func number(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The checksum of a log (section 4.2).
    private struct Checksum {
        var first: UInt32 = 0
        var second: UInt32 = 0

        /// Adds what the checksum of a frame is over.
        mutating func add(_ log: [UInt8], frameAt start: Int, isBigEndian: Bool) {
            add(log[start..<start + 8], isBigEndian: isBigEndian)
            add(log[start + frameHeaderSize..<start + frameSize], isBigEndian: isBigEndian)
        }

        func isThat(of log: [UInt8], frameAt start: Int) -> Bool {
            first == number(log, start + 16) && second == number(log, start + 20)
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
