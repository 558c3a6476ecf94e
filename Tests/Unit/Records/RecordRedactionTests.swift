import IngestCore
import Testing

@testable import IngestRecords

/// What is left out of a record, and that all else keeps its bytes.
struct RecordRedactionTests {
    private static let record =
        #"{"version":1,"id":"a","measurements":[{"value":36.60,"raw":1}],"subject":"p \"1\"","device":"#
        + #"{"peripheral_id":1,"address":"F1:F1:F1:F1:F1:F1","serial":"0a","system_id":"0B","udi":{"label":"x"},"#
        + #""battery":80},"gateway":"g","raw":{"hex":"00"}}"#

    private static let parts: [RedactedField: [String]] = [
        .raw: [#","raw":{"hex":"00"}"#], .subject: [#","subject":"p \"1\"""#],
        .address: [#","address":"F1:F1:F1:F1:F1:F1""#, #","system_id":"0B""#],
        .serial: [#","serial":"0a""#, #","udi":{"label":"x"}"#],
    ]

    @Test(
        arguments: [
            [], [.raw], [.subject], [.address], [.serial], [.raw, .serial], Set(RedactedField.allCases),
        ] as [Set<RedactedField>])
    func theFieldsAreLeftOutAndAllElseStays(fields: Set<RedactedField>) {
        var expected = Self.record
        for part in fields.flatMap({ Self.parts[$0] ?? [] }) {
            expected = expected.replacing(part, with: "")
        }
        #expect(RecordContent.json(Self.record, without: fields) == expected)
    }

    /// A record that cannot be taken apart goes nowhere, as nothing tells what is in it.
    @Test(arguments: ["", "[]", #"{"raw":1"#, #"{"device":7}"#, #"{"raw":1} {"#])
    func whatIsNoRecordIsNone(json: String) {
        #expect(RecordContent.json(json, without: [.raw, .address]) == nil)
    }
}
