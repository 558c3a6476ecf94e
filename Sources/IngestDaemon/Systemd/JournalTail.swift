import CSystemd
import Glibc

/// The last lines of a unit in the journal (sd-journal).
enum JournalTail {
    /// In bytes, of one line.
    private static let lineLimit = 2_000

    /// - Parameters:
    ///   - unit: such as ingestd.service.
    ///   - count: how many entries at most.
    /// - Returns: each entry's time, in seconds since 1970, and message, the oldest first; nil if there is no journal, or
    ///   none that this user may read.
    static func read(unit: String, count: Int) -> [(seconds: Int64, message: String)]? {
        var journal: OpaquePointer?
        guard unsafe sd_journal_open(&journal, Int32(SD_JOURNAL_LOCAL_ONLY)) >= 0 else { return nil }
        defer { unsafe sd_journal_close(journal) }
        let match = Array("_SYSTEMD_UNIT=\(unit)".utf8)
        let added = unsafe match.withUnsafeBytes { bytes in
            unsafe sd_journal_add_match(journal, bytes.baseAddress, bytes.count)
        }
        guard added >= 0, unsafe sd_journal_seek_tail(journal) >= 0,
            unsafe sd_journal_previous_skip(journal, UInt64(count)) >= 0
        else { return nil }
        var entries: [(seconds: Int64, message: String)] = []
        repeat {
            var microseconds: UInt64 = 0
            guard unsafe sd_journal_get_realtime_usec(journal, &microseconds) >= 0 else { break }
            if let message = unsafe message(journal) {
                entries.append((Int64(clamping: microseconds / 1_000_000), message))
            }
        } while entries.count < count && (unsafe sd_journal_next(journal)) > 0
        return entries
    }

    private static func message(_ journal: OpaquePointer?) -> String? {
        var data: UnsafeRawPointer?
        var length = 0
        guard unsafe sd_journal_get_data(journal, "MESSAGE", &data, &length) >= 0 else { return nil }
        let bytes = unsafe UnsafeRawBufferPointer(start: data, count: length)
        // MESSAGE= stands in front.
        let text = unsafe bytes.dropFirst(8).prefix(lineLimit)
        return unsafe String(decoding: text, as: UTF8.self)
    }
}
