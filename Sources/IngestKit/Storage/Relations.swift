/// Finds which weight and which body composition are of one weighing, in whatever order they come.
package struct Relations: Sendable {
    /// A record that waits for its counterpart.
    package struct Member: Sendable, Hashable, Codable {
        package var id: String
        package var isWeight: Bool
        /// The device's wall time, written out; nil where the payload has none.
        package var time: String?
        package var user: Int?
        /// When it came, by the monotonic clock; nil in what earlier versions noted by the wall clock.
        package var arrived: NotedMoment?
    }

    /// One weighing.
    package struct Pair: Sendable, Hashable {
        package var weight: RecordID
        package var bodyComposition: RecordID
    }

    /// Members that are kept; the oldest give way.
    package static let mostWaiting = 16
    /// Records without a time belong together when they come within this time of each other: longer
    /// than a scale takes for both, shorter than the way of a second person onto it.
    static let longestPause = Duration.seconds(120)

    /// Those that have no counterpart yet, the oldest first.
    package private(set) var waiting: [Member]

    package init(waiting: [Member] = []) {
        self.waiting = waiting
    }

    /// Takes a record in.
    /// - Parameters:
    ///   - received: when it came, by the monotonic clock.
    ///   - isDated: whether its date says when it was, if it has one.
    /// - Returns: the weighing that it completes.
    package mutating func add(
        _ record: Record, id: RecordID, received: NotedMoment, isDated: Bool = true
    ) -> Pair? {
        guard record.kind == .weight || record.kind == .bodyComposition else { return nil }
        guard !waiting.contains(where: { $0.id == id.text }) else { return nil }
        let member = Member(
            id: id.text, isWeight: record.kind == .weight,
            time: isDated ? record.time.device?.description : nil,
            user: record.user, arrived: received)
        guard let index = waiting.lastIndex(where: { $0.isCounterpart(of: member) }) else {
            waiting.append(member)
            if waiting.count > Self.mostWaiting { waiting.removeFirst() }
            return nil
        }
        let other = waiting.remove(at: index)
        let (weight, composition) = member.isWeight ? (member, other) : (other, member)
        return Pair(weight: RecordID(text: weight.id), bodyComposition: RecordID(text: composition.id))
    }
}

extension Relations.Member {
    /// Whether both are of one weighing: of equal times where both have one, else close to each
    /// other; and never of two users.
    fileprivate func isCounterpart(of other: Self) -> Bool {
        guard isWeight != other.isWeight else { return false }
        if let user, let theirs = other.user, user != theirs { return false }
        if let time, let theirs = other.time { return time == theirs }
        // Of another boot nothing is known.
        guard case .boot(let ours, let instant) = arrived, case .boot(ours, let theirs) = other.arrived
        else { return false }
        return max(instant.since(theirs), theirs.since(instant)) <= Relations.longestPause
    }
}
