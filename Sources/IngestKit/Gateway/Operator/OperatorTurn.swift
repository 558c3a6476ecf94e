internal import Synchronization

/// Whose turn the radio is, of those that an operator asks for: one pairing, scan or read at a time.
final class OperatorTurn: Sendable {
    private let isTaken = Mutex(false)

    /// - Returns: false when another has it.
    func take() -> Bool {
        isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
    }

    func giveBack() {
        isTaken.withLock { $0 = false }
    }
}
