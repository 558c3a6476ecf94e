import FoundationEssentials
import TestSupport
import Testing

@testable import IngestDaemon

@Suite struct DoctorReportTests {
    @Test func everyLineIsWithoutWhatTheConfigurationHides() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/c.yaml"
            try
                "peripherals: [{id: 1001, address: \"F1:F1:F1:F1:F1:F1\", alias: kitchen cuff, subject: smith}]"
                .write(toFile: path, atomically: true, encoding: .utf8)
            let report = DoctorReport(
                configuration: RedactedConfiguration(path: path), secrets: ["s3cret-token"])
            let text = report.text(
                [DoctorReport.Section(title: "Part", lines: ["kitchen cuff of smith"])],
                journal: DoctorReport.Section(
                    title: "Journal",
                    lines: ["took s3cret-token from a1:b1:c1:d1:e1:f1 and dev_A1_B1_C1_D1_E1_F1"]))
            #expect(text.contains("\n== Part ==\n[removed] of [removed]\n"))
            #expect(
                text.hasSuffix("\n== Journal ==\ntook [removed] from [removed] and dev_[removed]\n"))
        }
    }

    @Test func theNewestOfALongJournalIsKept() {
        let report = DoctorReport(configuration: RedactedConfiguration(path: "/nowhere"), secrets: [])
        let long = (0..<10_000).map { "\($0) " + String(repeating: "x", count: 100) }
        let text = report.text(
            [DoctorReport.Section(title: "Part", lines: long)],
            journal: DoctorReport.Section(title: "Journal", lines: long))
        #expect(text.utf8.count <= DoctorReport.limit)
        #expect(text.contains("(the rest of this part is left out)"))
        #expect(text.hasSuffix("\(long.last ?? "")\n"))
    }
}
