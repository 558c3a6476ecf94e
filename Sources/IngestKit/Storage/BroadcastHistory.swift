package import IngestProfiles

/// What is remembered of a device's broadcasts from one run to the next.
package struct BroadcastMemory: Sendable, Equatable, Codable {
    /// The last reading of one sort of content.
    package struct Known: Sendable, Equatable, Codable {
        var content: Broadcast.Content
        var packetID: UInt8?
    }

    /// Of each sort one, the newest last.
    var known: [Known] = []
    /// The last counter of an encrypted device.
    var counter: UInt32?

    package init(known: [Known] = [], counter: UInt32? = nil) {
        self.known = known
        self.counter = counter
    }
}

/// Tells a device's new readings from what it only says again, and from what somebody else plays
/// back (docs/peripherals.md, "Broadcast sensors"). Pure; the clock is the caller's.
package struct BroadcastHistory: Sendable {
    /// A device that sends only when there is something to tell, and was silent for so long, has
    /// something to tell: the same values again are another reading.
    static let wakeUp = Duration.seconds(60)
    /// The same packet ID with other content is a repetition within this time; after it the count
    /// has come round, or the device does not count at all.
    static let packetIDLife = Duration.seconds(60)
    /// For so long no counter may have risen before lower ones are believed.
    static let restartSilence = Duration.seconds(600)
    /// Sorts of content that are remembered of a device; one that rotates its values among adverts
    /// has two or three.
    static let mostKnown = 8

    /// What an encrypted broadcast's counter says.
    package enum Order: Equatable {
        case rises
        /// What is sent again several times has the same counter.
        case repeats
        /// Late, or played back by somebody.
        case falls
        /// Lower than what came from the device before, but it rises again: its battery was changed.
        case restarts
    }

    private(set) var memory: BroadcastMemory
    private let start: MonotonicInstant
    /// When the counter last rose; the start at first.
    private var rose: MonotonicInstant
    /// The last counter that was too low.
    private var low: UInt32?
    /// By sort of content: when it was last heard, and when last taken as a reading, in this run.
    private var heard: [[UInt8]: MonotonicInstant] = [:]
    private var taken: [[UInt8]: MonotonicInstant] = [:]
    private var allowance: BroadcastAllowance

    /// - Parameter start: since when the device would have been heard.
    package init(_ memory: BroadcastMemory = BroadcastMemory(), at start: MonotonicInstant) {
        self.memory = memory
        self.start = start
        rose = start
        allowance = BroadcastAllowance(at: start)
    }

    /// Decides by the counter alone. A counter that falls is not believed before none has risen for
    /// `restartSilence` and it rises itself: the device that was there before would be heard
    /// meanwhile.
    package mutating func order(of counter: UInt32, at instant: MonotonicInstant) -> Order {
        guard let last = memory.counter, counter <= last else {
            low = nil
            return .rises
        }
        guard counter != last else { return .repeats }
        let rises = low.map { counter > $0 } ?? false
        low = counter
        guard rises, instant.since(rose) >= Self.restartSilence else { return .falls }
        low = nil
        return .restarts
    }

    /// Whether it is a reading that was not there before.
    /// - Parameter rearm: after this time the same content is a new reading; nil is never.
    package mutating func isNew(_ broadcast: Broadcast, rearm: Duration?, at instant: MonotonicInstant)
        -> Bool
    {
        guard let content = broadcast.contents.first else { return false }
        guard let known = memory.known.first(where: { $0.content.sort == content.sort }) else { return true }
        let silence = instant.since(heard.updateValue(instant, forKey: content.sort) ?? start)
        let age = taken[content.sort].map { instant.since($0) }
        guard known.content.bytes == content.bytes else {
            return broadcast.packetID == nil || broadcast.packetID != known.packetID
                || (age.map { $0 >= Self.packetIDLife } ?? true)
        }
        if broadcast.isRenewedByPacketID, broadcast.packetID != known.packetID { return true }
        // A date says which reading it is.
        guard broadcast.reading.deviceTime == nil else { return false }
        if broadcast.isTriggered, silence >= Self.wakeUp { return true }
        if let rearm, age ?? instant.since(start) >= rearm { return true }
        return false
    }

    /// Whether one more reading is allowed now; if so, it is counted.
    package mutating func allows(at instant: MonotonicInstant) -> Bool {
        allowance.take(at: instant)
    }

    /// What is to be remembered once this is a reading.
    package func memory(with broadcast: Broadcast) -> BroadcastMemory {
        var next = memory
        for content in broadcast.contents.reversed() {
            next.known.removeAll { $0.content.sort == content.sort }
            next.known.append(BroadcastMemory.Known(content: content, packetID: broadcast.packetID))
        }
        next.known = Array(next.known.suffix(Self.mostKnown))
        next.counter = broadcast.counter ?? next.counter
        return next
    }

    /// It is a reading, and remembered so.
    package mutating func took(_ broadcast: Broadcast, at instant: MonotonicInstant) {
        memory = memory(with: broadcast)
        for content in broadcast.contents {
            taken[content.sort] = instant
            heard[content.sort] = instant
        }
        let sorts = Set(memory.known.map(\.content.sort))
        taken = taken.filter { sorts.contains($0.key) }
        heard = heard.filter { sorts.contains($0.key) }
        counted(broadcast, at: instant)
    }

    /// It was authentic, and is done with.
    package mutating func counted(_ broadcast: Broadcast, at instant: MonotonicInstant) {
        guard let counter = broadcast.counter else { return }
        memory.counter = counter
        rose = instant
    }
}

/// How many readings one device may give: a bucket of tokens. It does not bound what a device
/// measures in good order, but a flood that would fill the disk.
package struct BroadcastAllowance: Sendable {
    /// What may come at once.
    private let most: Int
    /// One more is allowed after this time.
    private let interval = Duration.seconds(10)
    private var left: Int
    private var filled: MonotonicInstant

    package init(most: Int = 20, at start: MonotonicInstant) {
        self.most = most
        left = most
        filled = start
    }

    package mutating func take(at instant: MonotonicInstant) -> Bool {
        let steps = Int(instant.since(filled) / interval)
        if left + max(0, steps) >= most {
            left = most
            filled = instant
        } else if steps > 0 {
            left += steps
            filled = filled + interval * steps
        }
        guard left > 0 else { return false }
        left -= 1
        return true
    }
}
