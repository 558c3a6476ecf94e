/// How much of the log is written.
public struct LogSettings: Sendable, Equatable {
    public var level: LogLevel
    /// Levels that differ from `level`.
    public var subsystems: [Subsystem: LogLevel]

    public init(level: LogLevel, subsystems: [Subsystem: LogLevel]) {
        self.level = level
        self.subsystems = subsystems
    }
}

/// The levels of the log, as the configuration names them.
public enum LogLevel: String, Sendable, Hashable, CaseIterable {
    case trace, debug, info, notice, warning, error, critical
}

/// The parts of the program that the log tells apart.
public enum Subsystem: String, Sendable, Hashable, CaseIterable {
    case bluetooth, passive, profiles, records, queue, delivery, control
}
