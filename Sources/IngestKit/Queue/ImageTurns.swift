import Synchronization

/// Which destination may send an image, and whether one was taken.
final class ImageTurns: Sendable {
    private let isUnderWay = Atomic(false)
    private let isDelivered = Atomic(false)

    /// Has whoever asks send an image, if no other destination does: one at a time is in memory, with all that is made
    /// of it for a request. `end` goes with it.
    /// - Returns: whether it is their turn.
    func begin() -> Bool {
        isUnderWay.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
    }

    func end() { isUnderWay.store(false, ordering: .relaxed) }

    /// A destination has taken an image: it may be that none waits for it any more.
    func noteDelivered() { isDelivered.store(true, ordering: .relaxed) }

    /// - Returns: whether that was since it was asked last.
    func takeDelivered() -> Bool { isDelivered.exchange(false, ordering: .relaxed) }
}
