package import Logging
import Synchronization

/// The program's log, by subsystem. Its levels can change while it runs.
///
/// A line names peripherals by model and alias, and records by tag, as events do. It holds no measured value, address,
/// person, token or id of a record, at any level.
package struct SubsystemLog: Sendable {
    /// A log that says nothing.
    package static let silent = SubsystemLog(
        LogSettings(level: .critical, subsystems: [:]), write: { _, _, _ in })

    private let levels: Levels
    private let loggers: [Subsystem: Logger]
    /// Of the tags of records; without one, lines do not name them.
    package private(set) var key: TagKey?

    /// - Parameter write: takes a line, without its end.
    package init(
        _ configured: LogSettings,
        write: @escaping @Sendable (LogLevel, Subsystem, String) -> Void
    ) {
        let levels = Levels(configured)
        self.levels = levels
        loggers = Dictionary(
            uniqueKeysWithValues: Subsystem.allCases.map { subsystem in
                let handler = LineHandler(subsystem: subsystem, levels: levels, write: write)
                return (subsystem, Logger(label: "ingestd.\(subsystem.rawValue)", factory: { _ in handler }))
            })
    }

    package subscript(subsystem: Subsystem) -> Logger {
        // There is one of each.
        loggers[subsystem] ?? Logger(label: "ingestd", factory: { _ in SwiftLogNoOpLogHandler() })
    }

    /// The same log, whose lines name records by their tags.
    package func tagging(by key: TagKey) -> SubsystemLog {
        var log = self
        log.key = key
        return log
    }

    /// Takes other levels from now on.
    package func apply(_ configured: LogSettings) {
        levels.configured.withLock { $0 = configured }
    }
}

/// The levels in force.
private final class Levels: Sendable {
    let configured: Mutex<LogSettings>

    init(_ configured: LogSettings) {
        self.configured = Mutex(configured)
    }

    subscript(subsystem: Subsystem) -> Logger.Level {
        configured.withLock { Logger.Level($0.subsystems[subsystem] ?? $0.level) }
    }
}

/// Makes a line of each message.
private struct LineHandler: LogHandler {
    let subsystem: Subsystem
    let levels: Levels
    let write: @Sendable (LogLevel, Subsystem, String) -> Void

    var metadata: Logger.Metadata = [:]

    /// The operator sets it, and nobody else.
    var logLevel: Logger.Level {
        get { levels[subsystem] }
        set {}
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        write(LogLevel(event.level), subsystem, "\(event.message)")
    }
}

// Both have the same levels.
extension Logger.Level {
    fileprivate init(_ level: LogLevel) {
        self =
            switch level {
            case .trace: .trace
            case .debug: .debug
            case .info: .info
            case .notice: .notice
            case .warning: .warning
            case .error: .error
            case .critical: .critical
            }
    }
}

extension LogLevel {
    fileprivate init(_ level: Logger.Level) {
        self =
            switch level {
            case .trace: .trace
            case .debug: .debug
            case .info: .info
            case .notice: .notice
            case .warning: .warning
            case .error: .error
            case .critical: .critical
            }
    }
}
