import FoundationEssentials
import QueueTestSupport
import Synchronization
import Testing

@testable import IngestDelivery

/// A worker between a real store and Junction's fake, over real HTTP.
struct JunctionBench {
    struct Running: RunningDelivery {
        static let destination = "junction"

        let store: SQLiteQueue
        let session: JunctionSession
        let junction: Junction
        let worker: DeliveryWorker<Junction>
        let task: Task<Void, any Error>
        let clock: DrivenClock

        /// As `ingestd sign-in --token` does.
        func signIn(_ token: String) async throws {
            try await session.signIn(try JunctionSignInToken(token))
            _ = try await store.sessions.signIn(FakeJunction.user, at: "junction")
        }
    }

    /// The state directory's file, in memory.
    final class Vault: Sendable {
        private let bytes = Mutex<[UInt8]?>(nil)
        private let isFull = Atomic(false)

        var text: String? { bytes.withLock { $0 }.map { String(decoding: $0, as: UTF8.self) } }
        func fill(_ full: Bool) { isFull.store(full, ordering: .relaxed) }

        var vault: JunctionVault {
            JunctionVault(
                load: { self.bytes.withLock { $0 } },
                save: { bytes in
                    if self.isFull.load(ordering: .relaxed) { throw Full() }
                    self.bytes.withLock { $0 = bytes }
                },
                erase: { self.bytes.withLock { $0 = nil } })
        }
        private struct Full: Error {}
    }

    let fake = FakeJunction()
    let clock = DrivenClock()
    let vault = Vault()
    let key = SharedSecret(FakeJunction.apiKey)

    func run(_ body: (DeliveryPlace) async throws -> Void) async throws {
        try await withBackend(fake.answer, body)
    }

    static let providers = [2000: "omron_ble", 2050: "accuchek_ble"]

    func session(
        _ place: DeliveryPlace, _ auth: JunctionSettings.Authentication = .apiKey,
        user: String = FakeJunction.user
    ) async -> JunctionSession {
        let key = key
        let session = JunctionSession(
            settings: JunctionSettings(
                user: user, url: place.host, timeZone: "Europe/London", providers: Self.providers),
            access: auth == .apiKey ? .apiKey { key.value } : .signInToken, transport: place.transport,
            clock: clock, vault: vault.vault, told: { _ in })
        await session.open()
        return session
    }

    func start(
        _ place: DeliveryPlace, _ auth: JunctionSettings.Authentication = .apiKey,
        batch: BatchSettings = BatchSettings(maxRecords: 100, maxWait: .zero), records: [Record] = []
    ) async throws -> Running {
        let store = try await SQLiteQueue.open(
            in: place.directory, clock: clock, destinations: [DestinationRouting(name: "junction")])
        try await store.fill(records)
        let session = await session(place, auth)
        if await session.standing != .closed {
            _ = try await store.sessions.adopt(FakeJunction.user, at: "junction")
        }
        let junction = Junction(session: session)
        let worker = DeliveryWorker(
            name: "junction", gateway: "box", store: store.batches, destination: junction,
            account: FakeJunction.user, holdsSession: { await session.isOpen() }, batching: batch,
            clock: clock, random: { 1 }, events: EventLog(sink: RecordingSink()))
        return Running(
            store: store, session: session, junction: junction, worker: worker,
            task: Task { try await worker.run() }, clock: clock)
    }

    /// Heart rates of this many beats, a minute apart.
    static func records(_ numbers: ClosedRange<Int>) throws -> [Record] {
        try numbers.map { number in
            var record = try ValidicFormTests.record(
                .heartRate, [("heart-rate", Int64(number), 0, "/min")],
                id: "00000000-0000-5000-8000-" + padded(number, 12))
            record.time.value = "2026-11-20T09:\(padded(number % 60, 2)):00+00:00"
            return record
        }
    }

    /// The values that the fake keeps, in the order of their times.
    var values: [String] { fake.samples.sorted { $0.key < $1.key }.map(\.value) }

    static func batch(_ records: [Record]) -> OutgoingBatch {
        OutgoingBatch(gateway: "box", records: records.map(\.json))
    }
}
