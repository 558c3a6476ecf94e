import FoundationEssentials
import TestSupport
import Testing

@testable import IngestDelivery
@testable import IngestRecords

/// The request that each destination gets for each kind, whole, as Tests/System/Delivery/requests.ndjson has it. The table
/// in docs/destinations.md names these and no others. Whether a request is what a backend takes, the fakes and judges of
/// each destination's own tests say, which are written from public documents. `RECORDS=write` in the environment writes
/// the file anew.
@Suite struct GoldenRequestTests {
    /// The columns of the table.
    private enum Column: String, CaseIterable {
        case fhir, junction
        case inform = "validic (Inform)"
        case v1 = "validic (V1)"
        case spike

        var settings: any DestinationForm {
            switch self {
            case .fhir: FHIRSettings(url: "")
            case .junction:
                JunctionSettings(user: FakeJunction.user, timeZone: "Europe/London", providers: [:])
            case .inform: ValidicSettings(user: FakeJunction.user)
            case .v1: ValidicSettings(user: FakeJunction.user, api: .v1(organization: "o", userID: "u"))
            case .spike: SpikeSettings(url: "https://x")
            }
        }
    }

    private struct Request {
        let kind: RecordKind
        /// Where it goes within the destination, in its words.
        let place: String
        let body: String

        func line(_ column: Column) -> String {
            #"{"kind":"\#(kind.rawValue)","type":"\#(column.rawValue)","place":"\#(place)","body":\#(body)}"#
        }
    }

    /// What a kind can hold beside its sample in docs/samples, each in a record of its own: type, number and unit.
    private static let further: [(RecordKind, [(String, String, String)])] = [
        (.healthObservation, [("respiratory-rate", "15.5", "/min")]),
        (.mibeacon, [("weight", "70.0", "kg")]),
        (
            .activity,
            [
                ("flights-climbed", "3", "1"), ("wheelchair-pushes", "31", "1"),
                ("distance-wheelchair", "0.5", "km"), ("mindful-time", "10", "min"),
                ("distance-walking-running", "0.61", "km"), ("distance-cycling", "2.50", "km"),
                ("active-energy", "12.5", "kcal"), ("basal-energy", "71.5", "kcal"),
                ("exercise-time", "1", "min"), ("resting-heart-rate", "58", "/min"),
                ("heart-rate-variability-sdnn", "44.2", "ms"),
                ("vo2-max", "45.2", "mL/(kg.min)"), ("day-active-energy", "312.5", "kcal"),
            ]
        ),
        (.nutrition, [("water", "0.25", "L"), ("energy", "480", "kcal")]),
        (.reproductiveHealth, [("basal-body-temperature", "36.5", "Cel")]),
        (.laboratory, [("triglycerides", "140", "mg/dL")]),
    ]

    private static func records() throws -> [RecordContent] {
        try RecordKind.allCases.filter { $0.isDelivered && $0 != .battery }.flatMap { kind in
            let path = "\(Repository.root)/docs/samples/\(kind.rawValue).json"
            var sample = try #require(
                RecordContent(json: try String(contentsOfFile: path, encoding: .utf8)), "\(kind)")
            sample.subject = FakeJunction.user
            if kind == .reproductiveHealth { sample.flags.insert("menstrual-cycle-start", at: 1) }
            let others = further.filter { $0.0 == kind }.flatMap(\.1).map { type, number, unit in
                var record = sample
                let code: UInt32? = type == "weight" ? 188736 : nil
                record.values = [RecordContent.Value(type: type, unit: unit, number: number, code: code)]
                record.flags.removeAll { $0.hasPrefix("menstrual-") }
                return record
            }
            return [sample] + others
        }
    }

    private static func requests(for record: RecordContent, to column: Column) throws -> [Request] {
        let settings = column.settings
        guard settings.kinds?.contains(record.kind) ?? true,
            !settings.kindsInPart.contains(record.kind) || settings.hasForm(for: record)
        else { return [] }
        func request(_ place: String, _ body: [UInt8]) -> Request {
            Request(kind: record.kind, place: place, body: String(decoding: body, as: UTF8.self))
        }
        switch column {
        case .fhir:
            guard FHIRBundle.obstacle(record, patientSystem: "urn:oid:2.999.1") == nil else { return [] }
            return [request("", FHIRBundle(records: [record], patientSystem: "urn:oid:2.999.1").bytes)]
        case .junction:
            let junction = try #require(settings as? JunctionSettings)
            let found = (try? JunctionForm.requests(for: [record], junction)) ?? []
            for request in found {
                _ = try FakeJunction.check(
                    String(decoding: request.body, as: UTF8.self), resource: request.series.name)
            }
            return found.map { request($0.series.name, $0.body) }
        case .inform:
            guard let body = Validic.body(of: record, sourceType: "ingestd") else { return [] }
            let resource = Validic.Resource(record)
            #expect(try FakeValidic.check(body, type: resource.rawValue) == record.id)
            return [request(resource.rawValue, body)]
        case .v1:
            return ValidicRecord(record).map { [request($0.form.rawValue, $0.body(token: "t"))] } ?? []
        case .spike: return SpikeNotification(record).map { [request($0.dataType, $0.body)] } ?? []
        }
    }

    private static func all() throws -> [Column: [Request]] {
        let records = try records()
        return try Dictionary(
            uniqueKeysWithValues: Column.allCases.map { column in
                (column, try records.flatMap { try requests(for: $0, to: column) })
            })
    }

    @Test func requestsAreThoseOfTheFile() throws {
        let file = Repository.root + "/Tests/System/Delivery/requests.ndjson"
        let all = try Self.all()
        let lines = Column.allCases.flatMap { column in (all[column] ?? []).map { $0.line(column) } }
        if ProcessInfo.processInfo.environment["RECORDS"] == "write" {
            try lines.map { $0 + "\n" }.joined().write(toFile: file, atomically: true, encoding: .utf8)
        }
        let written = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(
            String.init)
        #expect(written.count == lines.count)
        for (line, expected) in zip(lines, written) { #expect(line == expected) }
    }

    @Test func theTableNamesTheseRequestsAndNoOthers() throws {
        let text = try String(contentsOfFile: Repository.root + "/docs/destinations.md", encoding: .utf8)
        let rows = text.split(separator: "\n").drop { $0 != "## What becomes of each kind" }
            .prefix { !$0.hasPrefix("## What goes") }.filter { $0.hasPrefix("| ") }
            .map { $0.dropFirst(2).split(separator: "|", omittingEmptySubsequences: false).map(Self.trimmed) }
        let head = try #require(rows.first)
        #expect(head.dropFirst().dropLast() == Column.allCases.map(\.rawValue)[...])
        let all = try Self.all()
        var kinds: Set<RecordKind> = []
        for row in rows.dropFirst() {
            let kind = try #require(RecordKind(rawValue: row[0].replacing("`", with: "")), "\(row)")
            kinds.insert(kind)
            for (column, cell) in zip(Column.allCases, row.dropFirst()) {
                let places = Set((all[column] ?? []).filter { $0.kind == kind }.map(\.place))
                #expect(cell.isEmpty == places.isEmpty, "\(kind) at \(column): \(cell)")
                // Names in the destination's words; where there are none, the page of the destination has them.
                let named = cell.matches(of: /`([a-z_]+)`/).map { String($0.output.1) }
                if !named.isEmpty { #expect(Set(named) == places, "\(kind) at \(column)") }
            }
        }
        #expect(kinds == Set(RecordKind.allCases.filter { $0.isDelivered && $0 != .battery }))
        for column in Column.allCases {
            let sent = Set((all[column] ?? []).map(\.kind))
            #expect(try #require(column.settings.kinds).intersection(kinds) == sent, "\(column)")
        }
    }

    private static func trimmed(_ cell: Substring) -> String {
        String(cell.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
