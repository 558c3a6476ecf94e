// count-benchmark WHAT COUNT [DIRECTORY]: does WHAT COUNT times, for a count of the instructions that one takes
// (Benchmarks/quick). It is one of
//     dropped     an advert of a device that is not listed
//     decoded     an advert that says a reading
//     decode      ten payloads, each of another characteristic
//     commit      a commit of 100 records, to a queue in the directory
//     deliver     the same, and the delivery of the records by a worker, to a destination that takes all
import BlueZBridge
import FoundationEssentials
import IngestBluetooth
import IngestConfiguration
import IngestCore
import IngestDelivery
import IngestEvents
import IngestPeripherals
import IngestProfiles
import IngestQueue
import IngestRecords
import IngestStorage
import Synchronization

/// A clock that goes on by a microsecond with each look, so that each run takes the same way.
final class CountedClock: GatewayClock {
    private let looks = Atomic<UInt64>(0)

    var now: MonotonicInstant {
        let look = looks.add(1, ordering: .relaxed).newValue
        return MonotonicInstant(nanoseconds: 1_000_000_000_000 + look * 1_000)
    }

    var wallNanoseconds: Int64 { 1_795_166_100_000_000_000 }

    func sleep(until deadline: MonotonicInstant) async throws {
        try await Task.sleep(for: .milliseconds(1))
    }
}

/// Device Found as the kernel sends it (BlueZ doc/mgmt-api.txt): of a telephone.
func drop(_ count: Int) {
    let data: [UInt8] = [2, 1, 6, 10, 0xFF, 0x4C, 0, 0x10, 5, 1, 0x18, 0x2E, 0x6F, 0x31]
    let event: [UInt8] = [1, 0x22, 0x33, 0x44, 0x55, 0xC6, 2, 0xC4, 0, 0, 0, 0, UInt8(data.count), 0] + data
    let receiver = AdvertReceiver(clock: CountedClock())
    receiver.filter = AdvertisementFilter(
        addresses: [BluetoothAddress("F1:F1:F1:F1:F1:F1")!],
        models: [[.service(0x1809)], [.service(0x1810), .namePrefix(Array("BM77".utf8))]])
    for _ in 0..<count {
        guard receiver.receive(event.span, hasHandle: false, index: 0) else { fatalError("no advert") }
    }
}

/// A thermometer's and hygrometer's advert in BTHome.
func decodeAdverts(_ count: Int) throws {
    let data: [UInt8] = [
        2, 1, 6, 12, 0x16, 0xD2, 0xFC, 0x40, 0x00, 0x09, 0x02, 0xCA, 0x09, 0x03, 0xBF, 0x13,
    ]
    for _ in 0..<count { _ = try BroadcastFormats.decode(data, key: nil, address: nil) }
}

/// One payload each of ten characteristics.
func decodePayloads(_ count: Int) {
    let payloads: [(BluetoothUUID, String)] = [
        (0x2A35, "1E8A0055006600E80706 0F11111B48000104 00"), (0x2A1C, "07842600FEEA070B14090E3903"),
        (0x2A19, "5A"), (0x2A18, "1B0700EA070B14090E39FBFF69B0120100"),
        (0x2A37, "165A0003000104"), (0x2A5E, "0062004800"), (0x2A9D, "0E3A39E8070C1F173B3B02FA00E606"),
        (0x2A2B, "E8070C1F173B3B020000"), (0x2A9C, "0400C800"), (0x2A49, "2400"),
    ].map { ($0.0, $0.1.filter { $0 != " " }) }
    for _ in 0..<count {
        for (characteristic, hex) in payloads {
            guard !DecodeAnswer(characteristic: characteristic, hex: hex).json.isEmpty else { fatalError() }
        }
    }
}

/// Takes all, and builds the request that a webhook gets.
final class Taker: Destination {
    let taken = Atomic(0)

    func deliver(_ batch: OutgoingBatch) async -> DeliveryAnswer {
        guard !Webhook.body(of: batch, .json).isEmpty else { fatalError() }
        taken.add(batch.records.count, ordering: .relaxed)
        return .taken(httpStatus: 200)
    }
}

/// Commits records of a cuff, a hundred at once, and has them delivered.
func commit(_ count: Int, in directory: String, delivers: Bool) async throws {
    let clock = CountedClock()
    let address = BluetoothAddress("F1:F1:F1:F1:F1:F1")!
    let model = PeripheralModel(
        id: 1001, name: "cuff", type: "blood-pressure-monitor", manufacturer: nil, model: nil,
        profile: "blood-pressure", recognised: [], bonding: .none,
        instructions: .init(pairing: "", beforeMeasurement: "", duringMeasurement: ""),
        readyBeforeMeasurement: false, rearm: nil, quirks: [])
    let entry = AllowedPeripheral(model: model, address: address, alias: "cuff", subject: "patient-17")
    let device = DeviceBlock(peripheralID: 1001, address: address, alias: "cuff")
    let factory = RecordFactory(gateway: "box", zone: .utc, bootID: "boot", isSimulated: false)
    let store = try await SQLiteQueue.open(
        path: directory + "/queue.db", bootID: "boot", clock: clock,
        destinations: [DestinationRouting(name: "receiver", order: .strict)])
    for number in 0..<count {
        let records = try (0..<100).map { part in
            let second = number * 100 + part
            let (day, time) = (second / 86_400, second % 86_400)
            let bytes: [UInt8] =
                [0x06, 120, 0, 80, 0, 93, 0, 0xE9, 0x07, 1, UInt8(1 + day)]
                + [UInt8(time / 3600), UInt8(time / 60 % 60), UInt8(time % 60), 64, 0]
            return factory.make(
                try Profiles.decode(characteristic: 0x2A35, bytes: bytes),
                raw: RawPayload(characteristic: 0x2A35, bytes: bytes),
                reception: .init(instant: clock.now, wallNanoseconds: clock.wallNanoseconds),
                subjects: entry.subjects, device: device
            ).record
        }
        _ = try await store.records.commit(
            QueueTransaction(
                submissions: records.map {
                    RecordSubmission(
                        record: $0, repetition: .identified, received: clock.now, decodeError: nil)
                }))
        try await store.records.freeze(records)
    }
    if delivers {
        let taker = Taker()
        let worker = DeliveryWorker(
            name: "receiver", gateway: "box", store: store.batches, destination: taker,
            batching: BatchSettings(maxRecords: 100, maxWait: .zero), clock: clock,
            events: EventLog(sink: NoSink()))
        let task = Task { try await worker.run() }
        while taker.taken.load(ordering: .relaxed) < count * 100 || worker.activity != .idle {
            try await Task.sleep(for: .milliseconds(5))
        }
        task.cancel()
        try await task.value
    }
    try await store.close()
}

struct NoSink: EventSink {
    func write(_ entry: JournalEntry) {}
}

let arguments = CommandLine.arguments
guard arguments.count >= 3, let count = Int(arguments[2]), count > 0 else {
    fatalError("usage: count-benchmark dropped|decoded|decode|commit|deliver COUNT [DIRECTORY]")
}
switch arguments[1] {
case "dropped": drop(count)
case "decoded": try decodeAdverts(count)
case "decode": decodePayloads(count)
case let what: try await commit(count, in: arguments[3], delivers: what == "deliver")
}
