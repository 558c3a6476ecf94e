import FoundationEssentials
import GRDB

/// Finds rows in the pages of a database file without the way that leads to them, which may be damaged
/// (sqlite.org/fileformat2.html).
///
/// It knows no table: whoever asks has to know the rows by their content.
struct DatabasePages {
    /// SQLite's own default, in bytes, which the queue has always had.
    private static let pageSize = 4096
    /// No row that the queue ever writes is longer: the largest image, and far more than all else of a row.
    private static let longestRow = EntryImage.largest + (1 << 20)

    private let file: Data
    private let log: Data
    /// Where the newest copy of a page is in the log.
    private let inLog: [Int: Int]

    /// - Parameters:
    ///   - path: the database file.
    ///   - log: what is not yet checkpointed into it.
    init(path: String, log: String) {
        file = (try? Data(contentsOf: URL(filePath: path), options: .mappedIfSafe)) ?? Data()
        self.log = (try? Data(contentsOf: URL(filePath: log), options: .mappedIfSafe)) ?? Data()
        inLog = QueueLog(self.log).pages
    }

    /// Calls `body` with the number and the values of each row that a page holds, the newest copies of pages first.
    func forEachRow(_ body: (Int64, [DatabaseValue]) throws -> Void) rethrows {
        for offset in inLog.values.sorted(by: >) { try rows(at: offset, of: log, body) }
        for offset in stride(from: 0, to: file.count - Self.pageSize + 1, by: Self.pageSize) {
            try rows(at: offset, of: file, body)
        }
    }

    // MARK: - Pages

    /// The rows of a page, if it is a leaf of a table (type 13).
    private func rows(
        at page: Int, of data: Data, _ body: (Int64, [DatabaseValue]) throws -> Void
    ) rethrows {
        guard data[page] == 13 else { return }
        let count = Int(Self.bigEndian(data, page + 3, 2))
        guard 8 + 2 * count <= Self.pageSize else { return }
        for index in 0..<count {
            let cell = Int(Self.bigEndian(data, page + 8 + 2 * index, 2))
            var cursor = Cursor(data, from: page + cell, to: page + Self.pageSize)
            guard let size = cursor.varint(), let number = cursor.varint(), size > 0, size < Self.longestRow,
                let content = content(of: Int(size), &cursor), let values = Self.values(content)
            else { continue }
            try body(number, values)
        }
    }

    /// A row's bytes, of which a page holds the first, and others the rest, each with the next one's number.
    private func content(of size: Int, _ cursor: inout Cursor) -> Data? {
        let (most, least) = (Self.pageSize - 35, (Self.pageSize - 12) * 32 / 255 - 23)
        if size <= most { return cursor.bytes(size) }
        let local = least + (size - least) % (Self.pageSize - 4)
        guard var content = cursor.bytes(local <= most ? local : least), var next = cursor.integer(4) else {
            return nil
        }
        while content.count < size {
            let (data, offset) =
                if let offset = inLog[Int(next)] {
                    (log, offset)
                } else {
                    (file, (Int(next) - 1) * Self.pageSize)
                }
            guard offset >= 0, offset + Self.pageSize <= data.count else { return nil }
            var page = Cursor(data, from: offset, to: offset + Self.pageSize)
            guard let following = page.integer(4),
                let part = page.bytes(min(size - content.count, Self.pageSize - 4))
            else { return nil }
            content += part
            next = following
        }
        return content
    }

    // MARK: - Rows

    /// The values of a row; nil where it is none.
    private static func values(_ content: Data) -> [DatabaseValue]? {
        var header = Cursor(content, from: 0, to: content.count)
        guard let length = header.varint(), length <= content.count else { return nil }
        var body = Cursor(content, from: Int(length), to: content.count)
        var values: [DatabaseValue] = []
        while header.position < Int(length) {
            guard let type = header.varint(), let value = value(ofType: type, &body) else { return nil }
            values.append(value)
        }
        return values
    }

    private static func value(ofType type: Int64, _ body: inout Cursor) -> DatabaseValue? {
        switch type {
        case 0: return .null
        case 1...4: return body.integer(Int(type))?.databaseValue
        case 5: return body.integer(6)?.databaseValue
        case 6: return body.integer(8)?.databaseValue
        case 8, 9: return (type - 8).databaseValue
        // Twice its length and 12 or 13.
        case 12...Int64(2 * longestRow):
            guard let bytes = body.bytes(Int(type - 12) / 2) else { return nil }
            return type.isMultiple(of: 2)
                ? bytes.databaseValue : String(data: bytes, encoding: .utf8)?.databaseValue
        // The queue has no numbers with a point.
        default: return nil
        }
    }

    private static func bigEndian(_ data: Data, _ offset: Int, _ count: Int) -> UInt64 {
        data[offset..<offset + count].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Reads numbers and bytes, never beyond its end.
    private struct Cursor {
        private let data: Data
        private let end: Int
        private(set) var position: Int

        init(_ data: Data, from start: Int, to end: Int) {
            self.data = data
            self.end = end
            position = start
        }

        mutating func bytes(_ count: Int) -> Data? {
            guard count >= 0, count <= end - position else { return nil }
            defer { position += count }
            return Data(data[position..<position + count])
        }

        /// Most significant byte first, with a sign.
        mutating func integer(_ count: Int) -> Int64? {
            guard let bytes = bytes(count), let first = bytes.first else { return nil }
            let start: Int64 = first & 0x80 == 0 ? 0 : -1
            return bytes.reduce(start) { $0 << 8 | Int64($1) }
        }

        /// Seven bits of each byte, most significant first, and all eight of the ninth.
        mutating func varint() -> Int64? {
            var value: UInt64 = 0
            for index in 0..<9 {
                guard let byte = bytes(1)?.first else { return nil }
                if index == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
                value = value << 7 | UInt64(byte & 0x7F)
                if byte & 0x80 == 0 { return Int64(bitPattern: value) }
            }
            return nil
        }
    }
}
