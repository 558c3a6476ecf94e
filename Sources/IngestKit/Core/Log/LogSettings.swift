/// How much of the log is written.
package struct LogSettings: Sendable, Equatable {
    package var level: LogLevel
    /// Levels that differ from `level`.
    package var subsystems: [Subsystem: LogLevel]

    package init(level: LogLevel, subsystems: [Subsystem: LogLevel]) {
        self.level = level
        self.subsystems = subsystems
    }
}

/// The levels of the log, as the configuration names them.
package enum LogLevel: String, Sendable, Hashable, CaseIterable {
    case trace, debug, info, notice, warning, error, critical
}

/// The parts of the program that the log tells apart.
package enum Subsystem: String, Sendable, Hashable, CaseIterable {
    case bluetooth, passive, profiles, records, queue, delivery, control
}
