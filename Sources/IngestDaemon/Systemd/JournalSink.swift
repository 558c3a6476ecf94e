import CSystemd
import Glibc

/// Writes events to the systemd journal, with their fields (sd_journal_sendv).
struct JournalSink: EntryOutput {
    /// Where journald listens.
    static let socket = "/run/systemd/journal/socket"

    /// What sd_journal_sendv says of an entry that it cannot send at all.
    private static let refusals: Set<Int32> = [EINVAL, E2BIG, EMSGSIZE]

    /// Whether a journal takes entries on this machine.
    static var isAvailable: Bool {
        unsafe access(socket, W_OK) == 0
    }

    /// Which file the socket is; nil if there is none.
    private static var identity: (device: UInt, number: UInt)? {
        var status = stat()
        guard unsafe stat(socket, &status) == 0 else { return nil }
        return (UInt(status.st_dev), UInt(status.st_ino))
    }

    /// Blocks while the socket is full.
    func write(_ entry: JournalEntry) -> Bool {
        // Without a socket sd_journal_sendv does nothing and reports success. If the same socket is there before and after
        // the call, the entry went there.
        guard let before = Self.identity else { return false }
        let result = send(entry)
        guard let after = Self.identity, before == after else { return false }
        // What is wrong with the entry itself stays wrong.
        return result >= 0 || Self.refusals.contains(-result)
    }

    private func send(_ entry: JournalEntry) -> Int32 {
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
        return unsafe bytes.withUnsafeMutableBytes { buffer in
            guard let base = buffer.baseAddress else { return -EINVAL }
            var vectors = unsafe [iovec]()
            for range in ranges {
                unsafe vectors.append(iovec(iov_base: base + range.lowerBound, iov_len: range.count))
            }
            return unsafe sd_journal_sendv(vectors, Int32(vectors.count))
        }
    }
}
