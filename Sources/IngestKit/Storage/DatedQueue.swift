/// The queue's port for the judgement of the gateway's clock: what an earlier run found, and the records that wait for a
/// date.
package protocol DatedQueue: Sendable {
    /// The kernel's name of this boot.
    var bootID: String { get }
    /// Raised when a record waits for a date. One waiter.
    var undatedWakeUp: WakeUp { get }

    /// By how much the wall clock was ahead of the monotonic one in this boot when it was last found right, in nanoseconds.
    func foundLead() async throws -> Int64?
    func noteFound(lead: Int64) async throws
    /// When the newest record with a date was committed, in seconds since 1970.
    func newestDatedCommit() async throws -> Int64?
    /// Sets moments right that a wrong clock has written.
    /// - Parameter now: in seconds since 1970, by a clock that is synchronised over the network.
    func correctMoments(by now: Int64) async throws
    /// Dates the records that wait for it.
    func date(by time: BootTime, in zone: TimeZoneRules) async throws
}
