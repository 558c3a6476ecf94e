import FoundationEssentials

/// The machine's clocks: CLOCK_BOOTTIME, which is what `ContinuousClock` reads on Linux, and the
/// system time.
struct SystemClock: GatewayClock {
    private static let clock = ContinuousClock()

    package var now: MonotonicInstant {
        MonotonicInstant(nanoseconds: 0) + Self.clock.systemEpoch.duration(to: Self.clock.now)
    }

    package var wallNanoseconds: Int64 {
        Int64(nanosecondsOfSeconds: Date().timeIntervalSince1970)
    }

    var reading: ClockReading {
        ClockReading(monotonic: { now }, wall: { wallNanoseconds })
    }

    package func sleep(until deadline: MonotonicInstant) async throws {
        let instant = Self.clock.systemEpoch.advanced(by: .nanoseconds(Int64(clamping: deadline.nanoseconds)))
        try await Self.clock.sleep(until: instant)
    }
}
