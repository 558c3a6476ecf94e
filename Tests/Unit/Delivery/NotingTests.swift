import FoundationEssentials
import QueueTestSupport
import Synchronization
import Testing

@testable import IngestDelivery
@testable import IngestQueue

/// A backlog: the next request is on its way while it is noted that the last one was taken.
@Suite struct NotingTests {
    typealias Answer = TestReceiver.Answer

    private static let ids = (0..<12).map { "r\($0)" }

    @Test func theNextRequestDoesNotWaitForTheNote() async throws {
        try await withHarness(Answer(status: 200)) { harness, receiver in
            let notes = Notes(held: true)
            let running = try await harness.start(
                ids: Self.ids, queue: { NotingQueue(base: $0, notes: notes) })
            try await eventually("two requests") { receiver.received.count == 2 }
            #expect(try await running.count(.submitted) == 0)
            notes.release()
            try await running.eventually(12, .submitted)
            #expect(try receiver.received.map { try $0.ids }.flatMap(\.self) == Self.ids)
            #expect(try await running.names(.submitted).map { $0[.recordID] } == Self.ids)
            // The first and the second of three requests had one behind them.
            #expect(notes.count == 2)
            try await running.stop()
        }
    }

    /// As a full disk does it.
    @Test func aNoteThatTheStoreRefusesIsMadeBeforeTheNextAnswerCounts() async throws {
        try await withHarness(Answer(status: 200)) { harness, receiver in
            let notes = Notes(refused: 1)
            let running = try await harness.start(
                ids: Self.ids, queue: { NotingQueue(base: $0, notes: notes) })
            try await running.eventually(12, .submitted)
            #expect(try receiver.received.map { try $0.ids }.flatMap(\.self) == Self.ids)
            #expect(try await running.names(.submitted).map { $0[.recordID] } == Self.ids)
            try await running.stop()
        }
    }

    @Test func aStopWaitsForTheNote() async throws {
        try await withHarness(Answer(status: 200)) { harness, receiver in
            let notes = Notes(held: true)
            let running = try await harness.start(
                ids: Self.ids, queue: { NotingQueue(base: $0, notes: notes) })
            try await eventually("two requests") { receiver.received.count == 2 }
            running.task.cancel()
            notes.release()
            try await running.task.value
            // The second answer is abandoned, or has come and is noted as well.
            #expect(try await running.count(.submitted) == 4 * notes.count)
            #expect(notes.count >= 1)
            try await running.store.close()
        }
    }

    @Test func whatFollowsIsActedOnByItself() async throws {
        let answer: @Sendable (TestReceiver.Received) -> Answer = {
            Answer(status: $0.text.contains("\"r5\"") ? 400 : 200)
        }
        try await withHarness(answer) { harness, _ in
            let running = try await harness.start(ids: Self.ids)
            try await running.eventually(11, .submitted)
            try await running.eventually(1, .failed)
            #expect(try await running.names(.failed).map { $0[.recordID] } == ["r5"])
            #expect(
                try await running.names(.submitted).map { $0[.recordID] } == Self.ids.filter { $0 != "r5" })
            try await running.stop()
        }
    }

    /// As after a power cut between two answers and their notes.
    @Test func whatIsNotNotedGoesOutAgainInItsOrder() async throws {
        try await withHarness(Answer(status: 200)) { harness, receiver in
            let notes = Notes(held: true)
            let first = try await harness.start(
                ids: Self.ids, queue: { NotingQueue(base: $0, notes: notes) })
            try await eventually("two requests") { receiver.received.count == 2 }
            notes.lose()
            await #expect(throws: StoreError.self) { try await first.task.value }
            try await first.store.close()
            let second = try await harness.start()
            try await second.eventually(12, .submitted)
            let requests = receiver.received
            #expect(requests.count == 5)
            #expect(requests.prefix(2).map(\.key) == requests[2...3].map(\.key))
            #expect(requests.prefix(2).map(\.body) == requests[2...3].map(\.body))
            #expect(try await second.names(.submitted).map { $0[.recordID] } == Self.ids)
            try await second.stop()
        }
    }

    @Test func whatIsSentAgainGoesBeforeTheBacklog() async throws {
        try await withTemporaryDirectory { directory in
            let store = try await SQLiteQueue.open(
                in: directory, clock: DrivenClock(),
                destinations: [DestinationRouting(name: "clinic", order: .strict)])
            try await store.fill(Self.ids)
            let settings = BatchSettings(maxRecords: 2, maxWait: .zero)
            func next() async throws -> StoredBatch? {
                guard
                    case .batch(let batch) = try await store.batches.nextBatch(
                        for: "clinic", settings: settings, gateway: "box")
                else { return nil }
                return batch
            }
            func ids(_ batch: StoredBatch?) -> [String] { batch?.items.map(\.header.id.text) ?? [] }

            let first = try #require(try await next())
            _ = try await store.take(first, settings)
            let second = try #require(try await next())
            let third = try #require(
                try await store.batches.batch(after: second, settings: settings, gateway: "box"))
            #expect(ids(third) == ["r4", "r5"])
            try await store.database.write { db in
                try BatchTable.insert(
                    positions: [1], destination: "clinic", lane: .backlog, gateway: "box", db)
            }
            let following = try await store.batches.acknowledge(
                second, httpStatus: 200, attempt: 1, whileSending: third, settings: settings, gateway: "box")
            #expect(following == nil)
            guard case .batch(let again) = try await store.take(third, settings) else {
                Issue.record("nothing follows")
                return
            }
            #expect(ids(again) == ["r0"])
            try await store.close()
        }
    }

    /// What was composed behind a request that failed stays as it is.
    @Test func afterAFailureNothingIsSentOutOfTurn() async throws {
        try await withHarness(Answer(status: 503)) { harness, receiver in
            let running = try await harness.start(ids: Self.ids)
            try await running.eventually(1, .retrying)
            try await running.untilWaiting()
            receiver.change { _ in Answer(status: 200) }
            harness.clock.advance(by: .seconds(1))
            try await running.eventually(12, .submitted)
            #expect(
                try receiver.received.map { try $0.ids }.flatMap(\.self) == Self.ids.prefix(4) + Self.ids)
            #expect(try await running.count(.destinationUp) == 1)
            try await running.stop()
        }
    }
}

/// What becomes of the notes that a request is followed by.
private final class Notes: Sendable {
    private struct State {
        var isHeld: Bool
        var refused: Int
        var isLost = false
        var count = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    /// - Parameter refused: how many are refused before one is taken.
    init(held: Bool = false, refused: Int = 0) {
        state = Mutex(State(isHeld: held, refused: refused))
    }

    /// Those that were let through.
    var count: Int { state.withLock { $0.count } }

    func pass() async throws {
        await withCheckedContinuation { continuation in
            let goesOn = state.withLock { state in
                if state.isHeld { state.waiting.append(continuation) }
                return !state.isHeld
            }
            if goesOn { continuation.resume() }
        }
        let refusal = state.withLock { state -> StoreError.Kind? in
            if state.isLost { return .ioError }
            guard state.refused == 0 else {
                state.refused -= 1
                return .full
            }
            state.count += 1
            return nil
        }
        if let refusal { throw StoreError(refusal, path: "queue.db") }
    }

    /// The disk fails for good.
    func lose() {
        state.withLock { $0.isLost = true }
        release()
    }

    func release() {
        let waiting = state.withLock { state in
            state.isHeld = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

private struct NotingQueue: DeliveryQueue {
    let base: DeliveryBatches
    let notes: Notes

    func acknowledge(
        _ batch: StoredBatch, httpStatus: Int?, attempt: Int, whileSending sent: StoredBatch,
        settings: BatchSettings, gateway: String
    ) async throws -> StoredBatch? {
        try await notes.pass()
        return try await base.acknowledge(
            batch, httpStatus: httpStatus, attempt: attempt, whileSending: sent, settings: settings,
            gateway: gateway)
    }

    func acknowledge(
        _ batch: StoredBatch, httpStatus: Int?, location: String?, attempt: Int, settings: BatchSettings,
        gateway: String
    ) async throws -> NextBatch {
        try await base.acknowledge(
            batch, httpStatus: httpStatus, location: location, attempt: attempt, settings: settings,
            gateway: gateway)
    }

    func order(of destination: String) -> DeliveryOrder { base.order(of: destination) }
    func wakeUp(for destination: String) -> WakeUp { base.wakeUp(for: destination) }
    func session(of destination: String) async throws -> SessionState {
        try await base.session(of: destination)
    }
    func nextBatch(
        for destination: String, lane: DeliveryLane, settings: BatchSettings, gateway: String
    ) async throws -> NextBatch {
        try await base.nextBatch(for: destination, lane: lane, settings: settings, gateway: gateway)
    }
    func batch(after sent: StoredBatch, settings: BatchSettings, gateway: String) async throws
        -> StoredBatch?
    {
        try await base.batch(after: sent, settings: settings, gateway: gateway)
    }
    func split(_ batch: StoredBatch, settings: BatchSettings, gateway: String) async throws -> NextBatch {
        try await base.split(batch, settings: settings, gateway: gateway)
    }
    func setAside(
        _ batch: StoredBatch, httpStatus: Int?, attempt: Int, reason: SetAsideReason, reply: String?,
        submission: FailedSubmission?, settings: BatchSettings, gateway: String
    ) async throws -> NextBatch {
        try await base.setAside(
            batch, httpStatus: httpStatus, attempt: attempt, reason: reason, reply: reply,
            submission: submission, settings: settings, gateway: gateway)
    }
    func note(
        _ state: DestinationState?, of destination: String, change: Event, event: Event?,
        batch: StoredBatch?, attempts: Int, leavesLane: Bool
    ) async throws {
        try await base.note(
            state, of: destination, change: change, event: event, batch: batch, attempts: attempts,
            leavesLane: leavesLane)
    }
    func noteSessionEnd(of destination: String, httpStatus: Int) async throws {
        try await base.noteSessionEnd(of: destination, httpStatus: httpStatus)
    }
    func beginImage() -> Bool { base.beginImage() }
    func endImage() { base.endImage() }
    func image(of batch: StoredBatch) async throws -> Data? { try await base.image(of: batch) }
    func noteImageDelivered() { base.noteImageDelivered() }
}
