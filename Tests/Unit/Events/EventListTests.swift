import FoundationEssentials
import TestSupport
import Testing

@testable import IngestEvents

@Suite struct EventListTests {
    /// The file of the project at this path from its root.
    private static func project(_ path: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test func everyNameHasAMessageIDOfItsOwn() {
        let ids = EventName.allCases.map(\.messageID)
        #expect(Set(ids).count == ids.count)
        #expect(ids.allSatisfy { $0.utf8.count == 32 && $0.allSatisfy { "0123456789abcdef".contains($0) } })
    }

    @Test func theDocumentListsTheEventsWithTheirIDs() throws {
        let rows = try Self.project("docs/events.md").split(separator: "\n").compactMap { line -> String? in
            let cells = line.split(separator: "|").map { String($0.filter { !" `".contains($0) }) }
            guard cells.count >= 2, cells[1].count == 32 else { return nil }
            return cells[0] + " " + cells[1]
        }
        #expect(Set(rows) == Set(SampleEvents.all.map { "\($0.name.rawValue) \($0.name.messageID)" }))
        #expect(rows.count == EventName.allCases.count)
    }

    @Test func eachNameIsTold() {
        #expect(Set(SampleEvents.all.map(\.name)) == Set(EventName.allCases))
    }

    @Test func theCatalogHasATextForEachEvent() throws {
        let entries = try Self.project("systemd/ingestd.catalog").components("\n-- ")
        var ids: [String] = []
        for entry in entries.dropFirst() {
            let lines = entry.split(separator: "\n", omittingEmptySubsequences: false)
            ids.append(String(lines[0]))
            #expect(lines.contains { $0.hasPrefix("Subject: ") }, "\(lines[0])")
            #expect(lines.last { !$0.isEmpty }?.hasPrefix("Subject: ") == false, "\(lines[0])")
        }
        #expect(Set(ids) == Set(SampleEvents.all.map(\.name.messageID)))
        #expect(ids.count == EventName.allCases.count)
    }

    @Test(arguments: SampleEvents.all)
    func anEntryOutlivesTheOutbox(_ event: Event) {
        let entry = event.entry(sequence: 7)
        #expect(JournalEntry(stored: entry.stored) == entry)
        #expect(entry[.event] == event.name.rawValue)
        #expect(entry[.sequence] == "7")
        #expect(event.entry()[.sequence] == nil)
    }

    @Test func wordsOutliveTheOutboxWhateverTheyHold() {
        for words in [#"a "quoted" \ word"#, #"":""#, "a\nb", "", "µ"] {
            let entry = Event.storeError(error: words).entry(sequence: 7)
            #expect(JournalEntry(stored: entry.stored) == entry)
        }
    }

    @Test func whatIsNotAStoredEntryIsNone() {
        let text = Event.storeError(error: "reason").entry(sequence: 7).stored
        #expect(JournalEntry(stored: text) != nil)
        for cut in 0..<text.utf8.count {
            let (beginning, end) = (text.utf8.prefix(cut), text.utf8.dropFirst(cut))
            #expect(JournalEntry(stored: String(Substring(beginning))) == nil)
            #expect(cut == 0 || JournalEntry(stored: String(Substring(end))) == nil)
        }
        for (mark, other) in [(":", ";"), (",", ":"), ("{", ","), ("}", ",")] {
            #expect(JournalEntry(stored: text.replacing(mark, with: other)) == nil, "\(mark)")
        }
        #expect(JournalEntry(stored: text.replacing("\"7\"", with: "7")) == nil)
    }

    @Test func broadcastsThatCannotBeUsedHaveNoRecord() {
        let event = Event.decodeError(
            recordID: nil, PeripheralReference(peripheralID: 1008, alias: nil), error: "reason")
        let entry = event.entry()
        #expect(entry.name == "decode-error")
        #expect(entry.message == "Could not use a broadcast from a peripheral of model 1008: reason")
        #expect(entry[.recordID] == nil)
        #expect(entry[.kind] == nil)
        #expect(entry[.error] == "reason")
    }

    @Test func anEventIsOneLineOfTheJournalsFields() {
        let event = Event.read(
            recordID: RecordID(text: "a"), kind: .bloodPressure,
            PeripheralReference(peripheralID: 1001, alias: "kitchen \"cuff\"\n"))
        #expect(
            JournalEntry.line(event.entry(sequence: 3), realtimeMicroseconds: 1_795_000_000_000_001)
                == """
                {"__REALTIME_TIMESTAMP":"1795000000000001",\
                "MESSAGE":"Read blood-pressure from kitchen \\"cuff\\"\\n",\
                "MESSAGE_ID":"2b83473c578e4c96b841be5dd39550fb","PRIORITY":"6","INGEST_EVENT":"read",\
                "INGEST_RECORD_ID":"a","INGEST_KIND":"blood-pressure","INGEST_PERIPHERAL_ID":"1001",\
                "INGEST_PERIPHERAL":"kitchen \\"cuff\\"\\n","INGEST_SEQ":"3"}
                """)
    }
}

extension String {
    fileprivate func components(_ separator: String) -> [String] {
        var parts: [String] = []
        var rest = self[...]
        while let range = rest.firstRange(of: separator) {
            parts.append(String(rest[..<range.lowerBound]))
            rest = rest[range.upperBound...]
        }
        return parts + [String(rest)]
    }
}
