import FoundationEssentials

/// Writes events to standard output, one JSON object a line, for boxes and tests without journald.
struct LineSink: EntryOutput {
    func write(_ entry: JournalEntry) -> Bool {
        let microseconds = Int64(Date().timeIntervalSince1970 * 1_000_000)
        let line = JournalEntry.line(entry, realtimeMicroseconds: microseconds) + "\n"
        // A reader that went away is no reason to stop reading peripherals.
        return (try? StandardOutput.write(line)) != nil
    }
}
