import TestSupport
import Testing

@testable import IngestEntries

@Suite struct EnteredRecordTests {
    private func record(_ entry: RecordEntry, gateway: String = "box") throws -> EnteredRecord {
        try #require(EnteredRecord(entry, gateway: gateway, received: 1_795_166_107))
    }

    /// Its id would be that of the reading: the reading would count as known, and be lost.
    @Test func anEntryWithTheNameOfADevicesReadingIsNone() throws {
        var entry = SampleEntries.steps
        for name in ["C0:00:00:00:00:16|2AA7|060048000c00", "MANUAL|steps|1795162500|steps=812 1", ""] {
            entry.name = name
            #expect(EnteredRecord(entry, gateway: "box", received: 1_795_166_107) == nil)
        }
    }

    @Test func anEntryIsARecordWithoutAPeripheral() throws {
        #expect(
            try record(SampleEntries.glucose).body == """
                {"version":1,"id":"\(try record(SampleEntries.glucose).id)","kind":"glucose","stage":"live",\
                "time":{"value":"2026-11-20T09:15:00+01:00","source":"entered",\
                "received":"2026-11-20T09:15:07Z"},\
                "measurements":[{"type":"glucose","code":"160020","value":5.40,"unit":"mmol/L"}],\
                "subject":"patient-17","origin":{"type":"manual"},"gateway":"box","software":"0.1.0"}
                """)
        #expect(
            try record(SampleEntries.steps).body == """
                {"version":1,"id":"\(try record(SampleEntries.steps).id)","kind":"activity","stage":"historical",\
                "time":{"value":"2026-11-20T09:15:00+01:00","end":"2026-11-20T09:25:00+01:00",\
                "source":"imported","received":"2026-11-20T09:15:07Z"},\
                "measurements":[{"type":"steps","value":812,"unit":"1"}],"flags":["user-entered"],\
                "device":{"manufacturer":"Apple Inc.","model":"Watch","firmware":"10.1"},\
                "origin":{"type":"apple-health","name":"Anna's \\"Watch\\"","version":"10.1"},\
                "gateway":"box","software":"0.1.0"}
                """)
    }

    @Test func destinationsReadItLikeAnyOther() throws {
        let content = try #require(RecordContent(json: record(SampleEntries.steps).body))
        #expect(content.origin == .appleHealth)
        #expect(content.kind == .activity)
        #expect(content.time == 1_795_162_500)
        #expect(content.model == "Watch")
        #expect(content.values.map(\.number) == ["812"])
    }

    /// docs/records.md shows this one.
    @Test func theNameIsTheOneThatIsDocumented() throws {
        #expect(SampleEntries.glucose.name == "MANUAL|glucose|1795162500|glucose=5.40 mmol/L")
        #expect(try record(SampleEntries.glucose).id.text == "9ab4f547-07a0-59d9-aad2-ff5669307d16")
    }

    @Test func aKnownPersonsEntryHasOneNameAtEveryGateway() throws {
        #expect(
            try record(SampleEntries.glucose, gateway: "a").id
                == record(SampleEntries.glucose, gateway: "b").id)
        #expect(
            try record(SampleEntries.steps, gateway: "a").id != record(SampleEntries.steps, gateway: "b").id)
        var other = SampleEntries.glucose
        other.subject = "patient-18"
        #expect(try record(other).id != record(SampleEntries.glucose).id)
    }

    @Test func anEntryOfNobodyThatGetsAPersonIsWrittenAsThatPersons() throws {
        var withoutDevice = SampleEntries.steps
        withoutDevice.source = RecordEntry.Source(name: "Phone")
        for entry in [SampleEntries.glucose, SampleEntries.steps, withoutDevice] {
            var nobodys = entry
            nobodys.subject = nil
            var somebodys = entry
            somebodys.subject = "patient-17"
            let (before, after) = (try record(nobodys), try record(somebodys))
            #expect(
                RecordContent.assigning("patient-17", to: before.body)
                    == after.body.replacing(after.id.text, with: before.id.text))
        }
    }

    @Test func whatIsNoRecordIsRefused() throws {
        func isRefused(_ change: (inout RecordEntry) -> Void) -> Bool {
            var entry = SampleEntries.steps
            change(&entry)
            return EnteredRecord(entry, gateway: "box", received: 1_795_166_107) == nil
        }
        #expect(!isRefused { _ in })
        #expect(isRefused { $0.kind = .undecoded })
        #expect(isRefused { $0.values[0].number = "8\",\"x\":1" })
        #expect(isRefused { $0.values[0].number = "1e3" })
        #expect(isRefused { $0.values[0].unit = "" })
        #expect(isRefused { $0.end = $0.start - 1 })
        #expect(isRefused { $0.start = .min })
        #expect(
            isRefused {
                $0.start = .max
                $0.end = nil
            })
        #expect(isRefused { $0.source.name = String(repeating: "x", count: 257) })
        #expect(isRefused { $0.values = Array(repeating: $0.values[0], count: 33) })
        for number in ["+5", ".5", "5.", "007", "-0", "-", ""] {
            #expect(isRefused { $0.values[0].number = number }, "\(number)")
        }
        for number in ["0", "-0.50", "5.00", "9223372036854775807"] {
            #expect(!isRefused { $0.values[0].number = number }, "\(number)")
        }
        for offset in [86_400, -86_400, .max, .min] { #expect(isRefused { $0.utcOffset = offset }) }
        for subject in ["", "unassigned", "|box", "a\nb", "\u{1B}[2J", String(repeating: "x", count: 129)] {
            #expect(isRefused { $0.subject = subject })
        }
    }
}
