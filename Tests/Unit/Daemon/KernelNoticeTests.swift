import TestSupport
import Testing

@testable import IngestDaemon

@Suite struct KernelNoticeTests {
    @Test func aDefectIsToldOnceInABoot() async throws {
        try await withTemporaryDirectory { directory in
            let defect = try #require(KernelDefect(procVersion: "Debian 6.1.192-2"))
            let sink = RecordingSink()
            let events = EventLog(sink: sink)
            for boot in ["first", "first", "second"] {
                KernelNotice(directory: directory, bootID: boot).tell(of: defect, to: events)
            }
            #expect(sink.names == ["kernel-defect", "kernel-defect"])
        }
    }
}
