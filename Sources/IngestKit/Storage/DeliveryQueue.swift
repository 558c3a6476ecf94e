package import FoundationEssentials
package import IngestEvents

/// The queue's port for delivery: what a destination is owed, and what became of it.
///
/// Each answer is committed with its events and gives what comes next, in one transaction. Of a backlog the next batch may
/// be on its way by then.
package protocol DeliveryQueue: Sendable {
    func order(of destination: String) -> DeliveryOrder
    /// Raised when there may be records for a destination. One waiter.
    func wakeUp(for destination: String) -> WakeUp
    /// Where the sign-in of a destination stands.
    func session(of destination: String) async throws -> SessionState

    /// What a destination gets next on a lane. A batch stays composed as it is until it is answered.
    func nextBatch(
        for destination: String, lane: DeliveryLane, settings: BatchSettings, gateway: String
    ) async throws -> NextBatch
    /// What follows a batch that is on its way; nil where nothing is ready, or something goes before it. It stays composed
    /// as well.
    func batch(after sent: StoredBatch, settings: BatchSettings, gateway: String) async throws -> StoredBatch?
    /// The destination has taken a batch: it is up.
    /// - Parameter location: what it calls an image, where it says so.
    func acknowledge(
        _ batch: StoredBatch, httpStatus: Int?, location: String?, attempt: Int, settings: BatchSettings,
        gateway: String
    ) async throws -> NextBatch
    /// The same, while the next batch of the lane is on its way already.
    /// - Returns: what follows that one.
    func acknowledge(
        _ batch: StoredBatch, httpStatus: Int?, attempt: Int, whileSending sent: StoredBatch,
        settings: BatchSettings, gateway: String
    ) async throws -> StoredBatch?
    /// The destination does not take a batch of several: each record is sent alone.
    func split(_ batch: StoredBatch, settings: BatchSettings, gateway: String) async throws -> NextBatch
    /// The destination does not take a record: it is kept, and not sent again by itself.
    func setAside(
        _ batch: StoredBatch, httpStatus: Int?, attempt: Int, reason: SetAsideReason, reply: String?,
        submission: FailedSubmission?, settings: BatchSettings, gateway: String
    ) async throws -> NextBatch
    /// Notes the state of a destination: `change` is told if the state is new, `event` always.
    func note(
        _ state: DestinationState?, of destination: String, change: Event, event: Event?,
        batch: StoredBatch?, attempts: Int, leavesLane: Bool
    ) async throws
    /// The server has ended the session.
    func noteSessionEnd(of destination: String, httpStatus: Int) async throws

    /// Whether this destination may send an image now: one destination does at a time. `endImage` follows.
    func beginImage() -> Bool
    func endImage()
    /// The bytes of the image that a batch is; nil if it is not there any more, or damaged.
    func image(of batch: StoredBatch) async throws -> Data?
    func noteImageDelivered()
}
