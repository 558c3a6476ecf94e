// queue-benchmark commit DIRECTORY COUNT SIZE
//     Commits COUNT times SIZE records to the queue in the directory; prints the microseconds that a commit took, the
//     median and the mean, and the bytes of the log for each.
// queue-benchmark post URL FILE COUNT
//     Posts COUNT times the records that are the lines of the file, with the gateway's client and nothing beside it.
import AsyncHTTPClient
import FoundationEssentials
import Glibc
import IngestConfiguration
import IngestCore
import IngestPeripherals
import IngestProfiles
import IngestQueue
import IngestRecords
import IngestStorage
import NIOCore
import NIOHTTP1
import SystemPackage

/// The machine's clocks.
struct MachineClock: GatewayClock {
    private static let clock = ContinuousClock()

    var now: MonotonicInstant {
        MonotonicInstant(nanoseconds: 0) + Self.clock.systemEpoch.duration(to: Self.clock.now)
    }

    var wallNanoseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000_000) }

    func sleep(until deadline: MonotonicInstant) async throws {
        try await Self.clock.sleep(for: deadline.since(now))
    }
}

/// Blood pressures as a cuff indicates them: 120/80 at one second after the other.
struct Cuff {
    private static let characteristic: BluetoothUUID = 0x2A35
    private let factory = RecordFactory(gateway: "box", zone: .utc, bootID: "boot", isSimulated: false)
    private let entry: AllowedPeripheral
    private let device: DeviceBlock
    private let clock: MachineClock
    /// The second of the first, another one in each run on a queue.
    private let first = Int.random(in: 0..<24_000_000)

    init(clock: MachineClock) throws {
        guard let model = try Catalogue.load(path: "", additions: "").catalogue[1001],
            let address = BluetoothAddress("F1:F1:F1:F1:F1:F1")
        else { fatalError("the catalogue has no blood pressure monitor") }
        entry = AllowedPeripheral(
            model: model, address: address, alias: "kitchen cuff", subject: "patient-17",
            subjectSince: "2020-01-01")
        device = DeviceBlock(peripheralID: model.id, address: address, alias: entry.alias)
        self.clock = clock
    }

    func submission(_ number: Int) throws -> RecordSubmission {
        let (day, second) = ((first + number) / 86_400, (first + number) % 86_400)
        // Flags (time stamp, pulse rate), three SFLOATs, Date Time, SFLOAT: Blood Pressure Measurement.
        let bytes: [UInt8] =
            [0x06, 120, 0, 80, 0, 93, 0, 0xE9, 0x07, UInt8(1 + day / 28), UInt8(1 + day % 28)]
            + [UInt8(second / 3600), UInt8(second / 60 % 60), UInt8(second % 60), 64, 0]
        let now = clock.now
        let record = factory.make(
            try Profiles.decode(characteristic: Self.characteristic, bytes: bytes),
            raw: RawPayload(characteristic: Self.characteristic, bytes: bytes),
            reception: .init(instant: now, wallNanoseconds: clock.wallNanoseconds),
            subjects: entry.subjects, device: device
        ).record
        return RecordSubmission(record: record, repetition: .identified, received: now, decodeError: nil)
    }
}

/// What commits take.
func commit(directory: String, count: Int, size: Int) async throws {
    let clock = MachineClock()
    let cuff = try Cuff(clock: clock)
    let transactions = try (0..<count).map { commit in
        QueueTransaction(submissions: try (0..<size).map { try cuff.submission(commit * size + $0) })
    }
    let store = try await SQLiteQueue.open(
        path: directory + "/queue.db", bootID: "boot", clock: clock,
        destinations: [DestinationRouting(name: "receiver", order: .fresh)])
    let log = directory + "/queue.db-wal"
    let before = try Stat(FilePath(log)).size
    var times: [Duration] = []
    for transaction in transactions {
        let start = ContinuousClock.now
        _ = try await store.records.commit(transaction)
        times.append(ContinuousClock.now - start)
    }
    let logged = try Stat(FilePath(log)).size - before
    try await store.close()
    let mean = times.reduce(.zero, +) / count
    print(times.sorted()[count / 2] / .microseconds(1), mean / .microseconds(1), logged / Int64(count))
}

/// What requests take that nobody prepares and nobody notes.
func post(to url: String, count: Int, records: [Substring]) async throws {
    let body = ByteBuffer(
        string: "{\"version\":1,\"gateway\":\"box\",\"records\":[" + records.joined(separator: ",") + "]}")
    var configuration = HTTPClient.Configuration()
    configuration.httpVersion = .http1Only
    let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    var request = HTTPClientRequest(url: url)
    request.method = .POST
    request.headers.add(name: "Content-Type", value: "application/json")
    for _ in 0..<count {
        request.body = .bytes(body)
        let response = try await client.execute(request, timeout: .seconds(60))
        guard response.status == .ok else { fatalError("\(response.status)") }
        for try await _ in response.body {}
    }
    try await client.shutdown()
}

let arguments = CommandLine.arguments
guard arguments.count == 5, let last = Int(arguments[4]), last > 0 else {
    fatalError("usage: queue-benchmark commit DIRECTORY COUNT SIZE | post URL FILE COUNT")
}
if arguments[1] == "commit", let count = Int(arguments[3]), count > 0 {
    try await commit(directory: arguments[2], count: count, size: last)
} else {
    let lines = try String(contentsOfFile: arguments[3], encoding: .utf8).split(separator: "\n")
    try await post(to: arguments[2], count: last, records: lines)
}
