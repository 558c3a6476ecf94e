import CSystemd
import Glibc

/// Writes events to the systemd journal, with their fields (sd_journal_sendv).
struct JournalSink: EntryOutput {
    /// Where journald listens. sd_journal_sendv reports success also where nobody does.
    static let socket = "/run/systemd/journal/socket"

    /// Whether a journal takes entries on this machine.
    static var isAvailable: Bool {
        unsafe access(socket, W_OK) == 0
    }

    func write(_ entry: JournalEntry) {
        var fields = [
            "MESSAGE=\(entry.message)", "MESSAGE_ID=\(entry.messageID)",
            "PRIORITY=\(entry.priority.rawValue)", "SYSLOG_IDENTIFIER=ingestd",
        ]
        fields += entry.fields.map { "\($0.0.rawValue)=\($0.1)" }
        // One buffer for all fields, so that their addresses hold while the call lasts.
        var bytes: [UInt8] = []
        var ranges: [Range<Int>] = []
        for field in fields {
            let start = bytes.count
            bytes += Array(field.utf8)
            ranges.append(start..<bytes.count)
        }
        unsafe bytes.withUnsafeMutableBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            var vectors = unsafe [iovec]()
            for range in ranges {
                unsafe vectors.append(iovec(iov_base: base + range.lowerBound, iov_len: range.count))
            }
            // A journal that takes nothing is nobody's to tell: there is no other place for it.
            _ = unsafe sd_journal_sendv(vectors, Int32(vectors.count))
        }
    }
}
