import FoundationEssentials
import SystemPackage

/// The first 100 bytes of the queue's file (sqlite.org/fileformat2.html, section 1.3). Most of them are the same in every
/// queue. One flipped bit in them has SQLite refuse the file, or read it wrongly, although nothing else is damaged.
struct QueueHeader {
    private static let size = 100
    private static let pageSize = 4096
    private static let largestRoot = 52..<56

    private var bytes: [UInt8]
    private let original: [UInt8]
    private let file: QueueFile

    /// Nil if the file has no header that can be read.
    private init?(_ file: QueueFile) {
        guard file.mayBeMapped else { return nil }
        // An error of the disk would end the process.
        file.setMark(.mapping)
        let content = try? Data(contentsOf: URL(filePath: file.path), options: .mappedIfSafe)
        bytes = [UInt8](content?.prefix(Self.size) ?? Data())
        file.setMark()
        guard bytes.count == Self.size else { return nil }
        (original, self.file) = (bytes, file)
    }

    /// Sets right what every queue has the same, in a file that SQLite refuses. Nothing is changed in another program's.
    /// If something was wrong, the file is marked: all of it is to be looked through.
    /// - Parameter largestRoot: the number of the largest root page, if the file could be asked.
    /// - Returns: whether something was wrong.
    /// - Throws: `Errno`.
    static func mend(_ file: QueueFile, largestRoot: Int? = nil) throws -> Bool {
        let wasMarked = file.isMarked
        guard var header = QueueHeader(file), header.isOurs else {
            if !wasMarked { file.removeMark() }
            return false
        }
        header.setRight(largestRoot: largestRoot)
        guard header.bytes != header.original else {
            if !wasMarked { file.removeMark() }
            return false
        }
        try header.write()
        return true
    }

    /// Whether the file is one of ours.
    private var isOurs: Bool { number(68..<72) == UInt32(QueueSchema.applicationID) }

    private mutating func setRight(largestRoot: Int?) {
        set(0, Array("SQLite format 3\0".utf8))
        set(16, [UInt8(Self.pageSize >> 8), UInt8(Self.pageSize & 0xFF)])
        // 1 and 1 until the first transaction has begun a log.
        if original[18] != 1 || original[19] != 1 { set(18, [2, 2]) }
        set(20, [0, 64, 32, 32])
        set(44, [0, 0, 0, 4])
        set(56, [0, 0, 0, 1])
        set(72, [UInt8](repeating: 0, count: 20))
        // Files of the first versions give no space back, and have neither number.
        if let largestRoot, number(64..<68) != 0 {
            set(Self.largestRoot.lowerBound, Self.big(UInt32(clamping: largestRoot)))
        }
        if number(Self.largestRoot) != 0 { set(64, [0, 0, 0, 1]) }
        // With a log the file need not be as long as it will be.
        if file.logByteCount == 0, bytes[24..<28].elementsEqual(bytes[92..<96]) {
            set(28, Self.big(UInt32(clamping: file.byteCount / Int64(Self.pageSize))))
        }
    }

    private func write() throws {
        let descriptor = try FileDescriptor.open(
            FilePath(file.path), .writeOnly, options: [.closeOnExec, .dataSync])
        try descriptor.closeAfter { _ = try descriptor.writeAll(toAbsoluteOffset: 0, bytes) }
    }

    private mutating func set(_ offset: Int, _ values: [UInt8]) {
        bytes.replaceSubrange(offset..<offset + values.count, with: values)
    }

    private func number(_ range: Range<Int>) -> UInt32 { bytes[range].reduce(0) { $0 << 8 | UInt32($1) } }

    private static func big(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
