/// A moment that the gateway noted: on the wall clock, or, while that was not known to be right, on the
/// monotonic clock of a boot.
package enum NotedMoment: Sendable, Hashable, Codable {
    /// In seconds since 1970.
    case wall(Int64)
    /// - Parameter id: the kernel's name of the boot.
    case boot(id: String, instant: MonotonicInstant)
}

/// Where on the wall clock a boot lies, once that clock is known to be right.
package struct BootTime: Sendable, Equatable {
    /// The kernel's name of the boot.
    package var bootID: String
    /// The wall time at which the boot's monotonic clock was 0, in nanoseconds since 1970.
    package var startNanoseconds: Int64

    /// - Parameter wallNanoseconds: what the wall clock showed at `instant`, in nanoseconds since 1970.
    package init(bootID: String, wallNanoseconds: Int64, at instant: MonotonicInstant) {
        self.bootID = bootID
        let (start, overflow) = wallNanoseconds.subtractingReportingOverflow(
            Int64(clamping: instant.nanoseconds))
        startNanoseconds = overflow ? .min : start
    }

    /// - Parameter reading: of both clocks in this boot.
    package init(bootID: String, _ reading: ClockReading) {
        self.init(bootID: bootID, wallNanoseconds: reading.wallNanoseconds, at: reading.instant)
    }

    /// When a moment was, at the latest, in seconds since 1970, rounded down. Of a moment of an earlier
    /// boot nothing more is known than that it was before this one.
    package func latest(_ moment: NotedMoment) -> Int64 {
        switch moment {
        case .wall(let seconds): return seconds
        case .boot(let id, let instant):
            let age = id == bootID ? Int64(clamping: instant.nanoseconds) : 0
            let (sum, overflow) = startNanoseconds.addingReportingOverflow(age)
            return (overflow ? Int64.max : sum).wholeSeconds
        }
    }

    /// Whether `latest` is when the moment was, and not only the latest that it can have been.
    package func isExact(_ moment: NotedMoment) -> Bool {
        if case .boot(let id, _) = moment { id == bootID } else { true }
    }
}

extension Int64 {
    /// Nanoseconds in seconds, rounded down.
    fileprivate var wholeSeconds: Int64 {
        self / 1_000_000_000 - (self % 1_000_000_000 < 0 ? 1 : 0)
    }
}
