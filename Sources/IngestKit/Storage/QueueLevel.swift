/// How much room there is in the queue.
package enum QueueLevel: Sendable, Equatable {
    case normal
    /// Nearly as much as it may hold, and nothing of it can be dropped.
    case high
    /// As much as it may hold.
    case full
    /// The disk has no room left.
    case diskFull

    package var takesRecords: Bool { self == .normal || self == .high }
}
