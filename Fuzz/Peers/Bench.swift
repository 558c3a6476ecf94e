import Dispatch
import Synchronization

@testable import BlueZBridge
@testable import IngestBluetooth
@testable import IngestConfiguration
@testable import IngestCore
@testable import IngestDelivery
@testable import IngestEntries
@testable import IngestEvents
@testable import IngestOperator
@testable import IngestPeripherals
@testable import IngestProfiles
@testable import IngestQueue
@testable import IngestReading
@testable import IngestRecords
@testable import IngestStorage
@testable import IngestSupervision

/// A clock that stands until it is moved; whoever sleeps moves it.
final class DrivenClock: GatewayClock {
    private static let start: UInt64 = 1_000_000_000_000
    private let nanoseconds = Atomic<UInt64>(start)

    var now: MonotonicInstant { MonotonicInstant(nanoseconds: nanoseconds.load(ordering: .relaxed)) }
    var wallNanoseconds: Int64 { 1_795_166_100_000_000_000 + Int64(now.nanoseconds) }

    func sleep(until deadline: MonotonicInstant) async throws {
        try Task.checkCancellation()
        if deadline > now { nanoseconds.store(deadline.nanoseconds, ordering: .relaxed) }
        await Task.yield()
    }

    func advance(by duration: Duration) {
        nanoseconds.store((now + duration).nanoseconds, ordering: .relaxed)
    }

    func reset() {
        nanoseconds.store(Self.start, ordering: .relaxed)
    }
}

/// The radio's loop, on which all of a check takes place.
enum Bench {
    static let clock = DrivenClock()
    static let loop: RadioLoop = {
        do { return try RadioLoop(clock: clock) } catch { fatalError("\(error)") }
    }()

    static func pair() -> (PacketChannel, PacketChannel) {
        do { return try PacketChannel.pair(on: loop) } catch { fatalError("\(error)") }
    }

    private static let stage = Stage()

    /// Runs the body on the loop, to its end; libFuzzer's time-out finds one that has none.
    static func run(_ body: @escaping @Sendable (isolated Stage) async -> Void) {
        let done = DispatchSemaphore(value: 0)
        loop.run { stage.assumeIsolated { $0.start(body) { done.signal() } } }
        done.wait()
    }
}

/// Where a check is isolated, so that it changes no threads.
actor Stage {
    nonisolated var unownedExecutor: UnownedSerialExecutor { Bench.loop.asUnownedSerialExecutor() }

    func start(
        _ body: @escaping @Sendable (isolated Stage) async -> Void, end: @escaping @Sendable () -> Void
    ) {
        Task {
            await body(self)
            // What timers are left find nobody any more.
            Bench.clock.advance(by: .seconds(100_000))
            await Bench.loop.turned()
            Bench.clock.reset()
            end()
        }
    }
}

/// The other end of a channel. It moves when it gets something, and when nothing has come for some turns of the loop, as
/// long as its script goes on. Belongs to the loop.
final class ScriptedPeer: @unchecked Sendable {
    enum Move {
        case send([UInt8], andMore: Bool)
        /// Lets the time pass that a request may take.
        case silence
        case hangUp
    }

    /// Turns of the loop in which whoever has something to do has done it.
    private static let patience = 3

    private let channel: PacketChannel
    private let next: (_ last: [UInt8]) -> Move
    private let patience: Duration
    private let movesAlone: Bool
    private var last: [UInt8] = []
    private var idle = 0
    private(set) var isOver = false
    /// Packets that came.
    private(set) var received = 0

    /// - Parameters:
    ///   - silence: how long a silence lasts.
    ///   - movesAlone: whether it moves when nothing happens.
    ///   - next: what to do, given what came last.
    init(
        _ channel: PacketChannel, silence: Duration, movesAlone: Bool = true,
        next: @escaping (_ last: [UInt8]) -> Move
    ) {
        self.movesAlone = movesAlone
        self.channel = channel
        self.next = next
        patience = silence
    }

    func open() {
        channel.open(
            onPacket: { [self] packet in
                last = packet.indices.map { packet[$0] }
                received += 1
                idle = 0
                move()
            }, onEnd: { [self] _ in isOver = true })
        if movesAlone { watch() }
    }

    func close() {
        isOver = true
        channel.close()
    }

    private func move() {
        while !isOver {
            switch next(last) {
            case .send(let packet, let andMore):
                do { try channel.send(packet) } catch { return close() }
                if !andMore { return }
            case .silence: return Bench.clock.advance(by: patience)
            case .hangUp: return close()
            }
        }
    }

    private func watch() {
        guard !isOver else { return }
        idle += 1
        if idle > Self.patience {
            idle = 0
            move()
        }
        Bench.loop.run { [self] in watch() }
    }
}
