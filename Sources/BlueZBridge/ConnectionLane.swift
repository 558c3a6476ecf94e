/// What must not overlap on one adapter: connection attempts, and the ends of links that the gateway ends. They come one
/// at a time, in the order in which they were asked for.
struct ConnectionLane {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Takes the lane if it is free.
    mutating func take() -> Bool {
        defer { isTaken = true }
        return !isTaken
    }

    /// Has `continuation` resumed when the lane has come to it.
    mutating func wait(_ continuation: CheckedContinuation<Void, Never>) { waiting.append(continuation) }

    /// Gives the lane to who has waited for the longest time.
    mutating func leave() {
        guard !waiting.isEmpty else {
            isTaken = false
            return
        }
        waiting.removeFirst().resume()
    }
}
