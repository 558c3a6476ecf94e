import QueueTestSupport
import Testing

@testable import IngestProfiles
@testable import IngestReading

/// What a session tells the scheduler of its progress.
@Suite struct SessionProgressTests {
    /// 36.60, without a date.
    private static let fever: [UInt8] = [0, 0x4C, 0x0E, 0, 0xFE]

    /// A device that waits for the confirmation of what it sent is not silent, however long the commit takes: its link is
    /// not for another one.
    @Test func aReadingIsUsableBeforeItIsCommitted() async throws {
        try await withMemoryDirectory { directory in
            let bench = try await SessionBench(.thermometer, in: directory)
            try await bench.read([Self.fever])
            let usable = try #require(bench.told.first { $0.0 == .usable })
            #expect(usable.known == 0)
            let committed = try #require(bench.told.first { $0.0 == .committed })
            #expect(committed.known == 1)
            try await bench.store.close()
        }
    }
}
