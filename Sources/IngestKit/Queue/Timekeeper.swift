/// Judges the system's wall clock, and sees that the records which came while it was not known to be
/// right get their times when it is.
///
/// While the clock is right it sleeps until the clock was set, or a record waits; otherwise it looks
/// again every 30 s. No record is refused meanwhile.
package struct Timekeeper: Sendable {
    /// What the system says of its clocks.
    package struct Sources: Sendable {
        /// Whether the clock is synchronised over the network; nil where nobody answers.
        package var isSynchronized: @Sendable () async -> Bool?
        /// What each real-time clock shows, in seconds since 1970.
        package var realTimeClocks: @Sendable () async -> [Int64]

        package init(
            isSynchronized: @escaping @Sendable () async -> Bool?,
            realTimeClocks: @escaping @Sendable () async -> [Int64]
        ) {
            self.isSynchronized = isSynchronized
            self.realTimeClocks = realTimeClocks
        }
    }

    /// How often a clock that the configuration trusts is asked whether it is synchronised.
    private static let correctionInterval = Duration.seconds(3600)

    private let clock: JudgedClock
    private let store: any DatedQueue
    private let zone: LocalZone
    private let sources: Sources
    private let isConfigured: Bool
    private let released: Int64
    private let events: EventLog
    private let told: @Sendable (ClockTrust?) -> Void

    /// - Parameters:
    ///   - isConfigured: whether `gateway.trust_clock` is set.
    ///   - released: when this version was released, in seconds since 1970.
    ///   - told: hears how the clock was judged, at first and whenever that has changed.
    package init(
        clock: JudgedClock, store: any DatedQueue, zone: LocalZone, sources: Sources,
        isConfigured: Bool, released: Int64, events: EventLog,
        told: @escaping @Sendable (ClockTrust?) -> Void
    ) {
        self.clock = clock
        self.store = store
        self.zone = zone
        self.sources = sources
        self.isConfigured = isConfigured
        self.released = released
        self.events = events
        self.told = told
    }

    /// Judges the clock until the task is cancelled. Reading does not wait for it: what comes before the
    /// first judgement is dated after it.
    /// - Throws: `StoreError` when the queue is not to be trusted any more.
    package func run() async throws {
        var isFirst = true
        var wasRight = false
        while !Task.isCancelled {
            // Lowered before anything is looked at: what comes then raises them again.
            _ = clock.doubts.consume()
            _ = store.undatedWakeUp.consume()
            let trust = await judge()
            if isFirst || wasRight != (trust != nil) { told(trust) }
            (isFirst, wasRight) = (false, trust != nil)
            if wasRight, try await dateRecords() {
                // A clock that is trusted whatever it shows raises no doubts when it is set.
                await waitForNeed(atMost: isConfigured ? Self.correctionInterval : nil)
            } else {
                // Records that come while the clock is not right are no reason to look.
                try? await clock.sleep(for: JudgedClock.interval)
            }
        }
    }

    /// Judges the clock once.
    package func judge() async -> ClockTrust? {
        // Before the questions: if it is set while they are asked, that will be seen.
        let lead = clock.reading.lead
        let found = try? await store.foundLead()
        let newest = try? await store.newestDatedCommit()
        let wall = clock.wallNanoseconds / 1_000_000_000
        let isSynchronized = await sources.isSynchronized()
        let evidence = ClockEvidence(
            wall: wall, isConfigured: isConfigured, isSynchronized: isSynchronized,
            isUnchanged: found.map { JudgedClock.isSame($0, lead) } ?? false,
            realTimeClocks: isConfigured ? [] : await sources.realTimeClocks(), released: released,
            newestRecord: newest)
        let trust = evidence.trust
        clock.judge(trust, lead: lead)
        switch trust {
        case .synchronized, .realTimeClock:
            if found.map({ !JudgedClock.isSame($0, lead) }) ?? true { try? await store.noteFound(lead: lead) }
        case .configured, .unchanged, nil: break
        }
        // That the configuration trusts the clock is not enough to give moments up.
        if isSynchronized == true {
            let now = clock.wallNanoseconds / 1_000_000_000
            if now > released { try? await store.correctMoments(by: now) }
        }
        return trust
    }

    /// - Returns: false if that has to be tried again.
    private func dateRecords() async throws -> Bool {
        // The clock may be in doubt again: then this is tried when it is judged.
        guard let reading = clock.trustedReading else { return true }
        do {
            try await store.date(by: BootTime(bootID: store.bootID, reading), in: zone.rules)
            return true
        } catch let error as StoreError where error.isFatal {
            throw error
        } catch {
            if !Task.isCancelled { events.emit(storeError: error) }
            return false
        }
    }

    /// Returns when the clock was set, a record waits, or the time is over.
    private func waitForNeed(atMost duration: Duration?) async {
        await withTaskGroup { group in
            group.addTask { await store.undatedWakeUp.wait() }
            group.addTask { await clock.doubts.wait() }
            if let duration { group.addTask { try? await clock.sleep(for: duration) } }
            await group.next()
            group.cancelAll()
        }
    }
}
