import TestSupport
import Testing

@testable import IngestEntries
@testable import IngestQueue
@testable import IngestRecords

/// The number that a sample has among its equals, wherever they stand in the document.
@Suite struct EqualSampleTests {
    typealias Element = HealthExportTests.Element

    /// A helping of protein.
    private static func helping(
        _ source: String, created: String?, _ value: String = "6",
        start: String = "2024-03-01 08:00:00 +0100",
        version: String = "1"
    ) -> Element {
        var element = HealthExportTests.sample(
            "HKQuantityTypeIdentifierDietaryProtein", value, "g", start: start)
        element.attributes["sourceName"] = source
        element.attributes["sourceVersion"] = version
        element.attributes["creationDate"] = created
        return element
    }

    private static func entries(_ elements: [Element], batch: Int = 1_000) throws -> [RecordEntry] {
        let export = HealthExport(HealthExportTests.all, equalSamples: TemporarySamples.init)
        elements.tell(export)
        export.beginAgain()
        elements.tell(export)
        var entries = try export.takeEntries()
        while case let more = try export.takeEqualEntries(batch), !more.isEmpty { entries += more }
        return entries
    }

    private static func byID(_ elements: [Element]) throws -> [String: RecordEntry] {
        let entries = try entries(elements)
        let found = Dictionary(entries.map { ($0.id(gateway: "box").text, $0) }) { first, _ in first }
        #expect(found.count == elements.count)
        return found
    }

    /// A, the same a day later, and B of the same value and time as A.
    @Test func equalsThatStandApartAreCountedTogether() throws {
        let one = Self.helping("A", created: "2024-03-01 08:05:00 +0100")
        let later = Self.helping("A", created: nil, start: "2024-03-02 08:00:00 +0100")
        let other = Self.helping("B", created: "2024-03-01 08:05:00 +0100")
        let expected = try Self.byID([one, later, other])
        for order in [[one, other, later], [other, later, one], [later, other, one]] {
            #expect(try Self.byID(order) == expected)
        }
    }

    @Test func sourceComesBeforeTheDateOfCreation() throws {
        let names = try Self.entries([
            Self.helping("B", created: "2024-03-01 08:01:00 +0100"),
            Self.helping("A", created: "2024-03-01 09:03:00 +0200"),
            Self.helping("A", created: "2024-03-01 08:02:00 +0100"),
            Self.helping("A", created: nil, version: "2"), Self.helping("A", created: nil, version: "1"),
        ]).sorted { $0.name < $1.name }.map {
            "\($0.name.last ?? "?") \($0.source.name ?? "") \($0.source.version ?? "") \($0.utcOffset)"
        }
        #expect(names == ["1 A 1 3600", "2 A 2 3600", "3 A 1 3600", "4 A 1 3600", "5 B 1 3600"])
    }

    /// Documents of any samples in any order: the same ids, and behind each the same record.
    @Test(arguments: 0..<20)
    func anyOrderGivesTheSameRecords(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var elements: [Element] = []
        for _ in 0..<60 {
            let minute = Int.random(in: 0..<3, using: &generator)
            let created: String? =
                Bool.random(using: &generator)
                ? nil : "2024-03-0\(Int.random(in: 1..<4, using: &generator)) 09:00:00 +0100"
            elements.append(
                Self.helping(
                    ["A", "B", "Ä", ""].randomElement(using: &generator) ?? "", created: created,
                    ["6", "7"].randomElement(using: &generator) ?? "",
                    start: "2024-03-01 08:0\(minute):00 +0100",
                    version: String(Int.random(in: 0..<3, using: &generator))))
        }
        let expected = try Self.byID(elements)
        for _ in 0..<5 {
            #expect(try Self.byID(elements.shuffled(using: &generator)) == expected)
        }
    }

    /// Numbers of a part of the document are among those of the whole, so that an import that broke off adds nothing
    /// twice.
    @Test func aPartHasIDsOfTheWhole() throws {
        let elements = (0..<9).map { Self.helping("A\($0 % 3)", created: nil, "\($0 % 2)") }
        let whole = Set(try Self.entries(elements).map(\.name))
        for count in 0...elements.count {
            #expect(whole.isSuperset(of: try Self.entries(Array(elements.prefix(count))).map(\.name)))
        }
    }

    @Test func manyEqualsAreGivenInPieces() throws {
        let elements = (0..<2_500).map { Self.helping("A", created: nil, version: "\($0)") }
        let entries = try Self.entries(elements, batch: 499)
        #expect(
            entries.map(\.name).map { $0.split(separator: "|").last ?? "" } == (1...2_500).map { "\($0)" })
        #expect(Set(entries.map(\.source.version)).count == 2_500)
    }

    @Test func aDocumentThatIsAnotherOneTheSecondTimeIsRefused() throws {
        let one = Self.helping("A", created: nil)
        let other = Self.helping("A", created: nil, "7")
        for second in [[one, one], [one, other], [other]] {
            let export = HealthExport(HealthExportTests.all, equalSamples: TemporarySamples.init)
            [one].tell(export)
            export.beginAgain()
            second.tell(export)
            #expect(throws: HealthExport.Failure.changed) { try export.takeEntries() }
        }
    }
}
