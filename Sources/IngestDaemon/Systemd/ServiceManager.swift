import CSystemd
import Glibc

/// The service manager that started this process, if one did (sd_notify, sd_watchdog_enabled).
enum ServiceManager {
    /// Says that the gateway is up: queue open, radio listening or waiting for an adapter.
    static func ready() {
        notify("READY=1")
    }

    /// Says that the start takes longer, and that more is told within this time.
    static func extendStart(by duration: Duration) {
        notify("EXTEND_TIMEOUT_USEC=\(Int64(duration / .microseconds(1)))")
    }

    /// Shows `status` in systemctl(1); one line.
    static func status(_ status: String) {
        notify("STATUS=\(status)")
    }

    static func stopping() {
        notify("STOPPING=1")
    }

    /// Feeds the watchdog.
    static func alive() {
        notify("WATCHDOG=1")
    }

    /// How long the watchdog may go unfed; nil where there is none.
    static var watchdogTimeout: Duration? {
        var microseconds: UInt64 = 0
        guard unsafe sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
        return .microseconds(Int64(clamping: microseconds))
    }

    private static func notify(_ state: String) {
        // Does nothing, successfully, where no service manager listens.
        _ = unsafe sd_notify(0, state)
    }
}
