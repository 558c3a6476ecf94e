extension LogLevel {
    /// As syslog and the journal count it, which know nothing below debug.
    package var priority: EventPriority {
        switch self {
        case .trace, .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        case .critical: .critical
        }
    }
}
