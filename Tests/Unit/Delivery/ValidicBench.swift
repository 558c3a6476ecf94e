import QueueTestSupport
import Testing

@testable import IngestDelivery

/// A worker between a real store and Validic's side, over real HTTP.
struct ValidicBench {
    struct Running: RunningDelivery {
        static let destination = "validic"

        let store: SQLiteQueue
        let validic: Validic
        let worker: DeliveryWorker<Validic>
        let task: Task<Void, any Error>
        let clock: DrivenClock

        /// As a reload of the configuration does.
        func reload() async {
            if await validic.renew() { worker.retryNow() }
        }
    }

    let api: ValidicSettings.API
    let token = SharedSecret("token-1")
    let clock = DrivenClock()

    func start(
        _ place: DeliveryPlace, user: String = "patient-17", records: [Record] = []
    ) async throws -> Running {
        let store = try await SQLiteQueue.open(
            in: place.directory, clock: clock, destinations: [DestinationRouting(name: "validic")])
        try await store.fill(records)
        _ = try await store.sessions.adopt(user, at: "validic")
        let token = token
        let validic = Validic(
            settings: ValidicSettings(user: user, url: place.host + "/", api: api),
            transport: place.transport, clock: clock, token: { token.value })
        let worker = DeliveryWorker(
            name: "validic", gateway: "box", store: store.batches, destination: validic, account: user,
            batching: BatchSettings(maxRecords: 1, maxWait: .zero), clock: clock, random: { 1 },
            events: EventLog(sink: RecordingSink()))
        return Running(
            store: store, validic: validic, worker: worker, task: Task { try await worker.run() },
            clock: clock)
    }

    /// Blood pressures with these numbers in their ids.
    static func records(_ numbers: ClosedRange<Int>) throws -> [Record] {
        try numbers.map {
            try ValidicFormTests.record(
                .bloodPressure, [("systolic", 138, 0, "mm[Hg]"), ("diastolic", 875, -1, "mm[Hg]")], id: id($0)
            )
        }
    }

    static func id(_ number: Int) -> String { "00000000-0000-5000-8000-" + padded(number, 12) }
}
