import QueueTestSupport
import Testing

@testable import IngestProfiles
@testable import IngestReading
@testable import IngestRecords

/// How long a link waits for more of what a device has kept.
@Suite struct FurtherValuesTests {
    /// Another maker's app waits for 2.0 s.
    @Test(arguments: [
        (Duration.milliseconds(2_000), 3), (.milliseconds(2_500), 3), (.milliseconds(2_600), 1),
    ])
    func aSlowCuffGivesAllThatItHasOnOneLink(pause: Duration, count: Int) async throws {
        try await withMemoryDirectory { directory in
            let bench = try await SessionBench(.bloodPressure, in: directory)
            let values: [[UInt8]] = [120, 121, 122].map { [0x00, $0, 0, 60, 0, 80, 0] }
            try await bench.read(values, of: 0x2A35, pause: pause)
            #expect(bench.new.count == count)
            try await bench.store.close()
        }
    }
}
