import FoundationEssentials

/// The program's log on standard error, a line each, which the journal takes with its level (sd-daemon(3)).
enum LogLines {
    /// Set by systemd where standard error is the journal's (systemd.exec(5)).
    private static let isJournal = ProcessInfo.processInfo.environment["JOURNAL_STREAM"] != nil

    static func write(_ level: LogLevel, _ subsystem: Subsystem, _ words: String) {
        let prefix = isJournal ? "<\(level.priority.rawValue)>" : "\(level.rawValue) "
        StandardError.print("\(prefix)\(subsystem.rawValue): \(words)")
    }
}

extension Gateway {
    /// A destination whose requests are in the log.
    func logged(_ destination: any Destination, _ name: String) -> LoggedDestination {
        LoggedDestination(destination, name: name, clock: clock, log: log)
    }
}
