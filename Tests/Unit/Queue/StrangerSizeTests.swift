import FoundationEssentials
import GRDB
import QueueTestSupport
import Synchronization
import Testing

@testable import IngestQueue

/// What the triggers count is no less than what the rows take of the file.
@Suite struct StrangerSizeTests {
    private typealias Bench = StrangerBench

    /// What one reading adds to a queue without bounds.
    struct Growth: CustomTestStringConvertible {
        let name: String
        /// In bytes, of the number of the reading.
        let length: @Sendable (Int) -> Int
        var repetition: @Sendable (Int) -> RecordSubmission.Repetition = { _ in .identified }
        var kind = RecordKind.bodyTemperature
        /// Whether a destination sets them aside.
        var isRefused = false
        /// Whether they are delivered and dropped, so that their ids are left.
        var isRetired = false

        var testDescription: String { name }
    }

    /// Lengths that leave most of a page empty are among them.
    static let growths = [
        Growth(name: "short", length: { _ in 5 }),
        Growth(name: "long", length: { _ in 180 }),
        Growth(name: "a little too long for two on a page", length: { _ in 530 }),
        Growth(name: "a little too long for a page", length: { _ in 1_200 }),
        Growth(name: "of many packets", length: { _ in 30_000 }),
        Growth(name: "short and long in turn", length: { $0.isMultiple(of: 2) ? 5 : 1_000 }),
        Growth(
            name: "without a date", length: { _ in 500 },
            repetition: { .storedUndated(ordinal: $0) }),
        Growth(name: "undecoded", length: { _ in 20 }, kind: .undecoded),
        Growth(name: "set aside", length: { _ in 5 }, isRefused: true),
        Growth(name: "ids", length: { _ in 5 }, isRetired: true),
        Growth(
            name: "ids without a date", length: { _ in 400 }, repetition: { .storedUndated(ordinal: $0) },
            isRetired: true),
    ]

    @Test(arguments: growths)
    func whatIsCountedIsNoLessThanWhatItTakes(_ growth: Growth) async throws {
        try await Bench.run { bench in
            bench.store.room.strangers.withLock { $0.share = nil }
            var dice = SeededGenerator(seed: 7)
            func add(_ range: Range<Int>) async throws {
                for number in range {
                    var bytes = [UInt8](repeating: 0, count: growth.length(number))
                    for index in bytes.indices { bytes[index] = UInt8.random(in: 0...255, using: &dice) }
                    // Ids in the order of the record names would come in order.
                    let id = RecordID.random(using: &dice)
                    try await bench.add(
                        id.text, from: number % 5, kind: growth.kind, bytes: bytes,
                        repetition: growth.repetition(number))
                }
                if growth.isRefused { try await bench.refuseAll() }
                if growth.isRetired {
                    try await bench.deliverAll()
                    try await bench.store.retireAll()
                }
                try await bench.store.outbox.markOutbox(through: Int64.max)
            }
            let count = growth.length(0) > 10_000 ? 60 : 600
            try await add(0..<count / 10)
            let (bytes, used) = (try await bench.bytes(), Int64(try await bench.store.retention.usedBytes()))
            try await add(count / 10..<count)
            let counted = try await bench.bytes() - bytes
            let taken = Int64(try await bench.store.retention.usedBytes()) - used
            #expect(taken <= counted + 8 * 4096, "\(taken) taken, \(counted) counted")
            // Not so much less that the share were worth nothing.
            #expect(counted <= taken * 5 / 2 + 8 * 4096, "\(taken) taken, \(counted) counted")
        }
    }
}

extension RecordID {
    fileprivate static func random(using dice: inout SeededGenerator) -> RecordID {
        let digits = String(UInt64.random(in: 0...UInt64.max, using: &dice), radix: 16)
        return RecordID(
            text: String(repeating: "0", count: 16 - digits.count) + digits + "-0000-5000-8000-000")
    }
}
