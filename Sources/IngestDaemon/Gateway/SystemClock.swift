import FoundationEssentials

/// The machine's clocks: CLOCK_BOOTTIME, which is what `ContinuousClock` reads on Linux, and the
/// system time.
struct SystemClock: GatewayClock {
    private static let clock = ContinuousClock()
    /// Of the whole process.
    static let sleeps = SleepQueue(
        now: { now },
        wait: { moment in
            let instant = clock.systemEpoch.advanced(by: .nanoseconds(Int64(clamping: moment.nanoseconds)))
            // Nobody cancels it.
            try? await clock.sleep(until: instant)
        })

    private static var now: MonotonicInstant {
        MonotonicInstant(nanoseconds: 0) + clock.systemEpoch.duration(to: clock.now)
    }

    package var now: MonotonicInstant { Self.now }

    package var wallNanoseconds: Int64 {
        Int64(nanosecondsOfSeconds: Date().timeIntervalSince1970)
    }

    var reading: ClockReading {
        ClockReading(monotonic: { now }, wall: { wallNanoseconds })
    }

    package func sleep(until deadline: MonotonicInstant) async throws {
        try await Self.sleeps.sleep(until: deadline)
    }
}
