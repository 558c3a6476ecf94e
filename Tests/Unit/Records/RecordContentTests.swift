import Testing

@testable import IngestRecords

/// A record that is read out of its JSON, whatever else stands there.
struct RecordContentTests {
    private static func json(
        version: String = "1", kind: String = "\"heart-rate\"",
        time: String = #"{"value":"2026-11-20T09:15:00+01:00","source":"device"}"#, more: String = ""
    ) -> String {
        #"{"version":\#(version),"id":"a-1","kind":\#(kind),"time":\#(time)\#(more)}"#
    }

    @Test func textsKeepWhatTheirEscapesStandFor() throws {
        let record = try #require(
            RecordContent(
                json: Self.json(
                    more:
                        #","subject":"a\"b\\ \u00e9 é","device":{"manufacturer":"M\/N","model":"\ud83d\ude00"}"#
                )))
        #expect(record.subject == "a\"b\\ é é")
        #expect(record.manufacturer == "M/N")
        #expect(record.model == "😀")
        #expect((record.time, record.utcOffsetSeconds) == (1_795_162_500, 3_600))
    }

    /// Members may come in another order, with blanks, twice, and with others of any form among them.
    @Test func membersThatAreNotKnownArePassed() throws {
        let more = #"""
            , "new" : {"a":[1,{"b":"}"}],"time":null}, "measurements":[
              {"absent":"not-contacted" ,"value":null,"unit":"/min","type":"heart-rate","x":[]},
              {"type":"energy","value":36.60,"unit":"kJ","code":"8454263"}],
            "raw":{"hex":"00","characteristic":"2A37","n":1},"flags":["a","b"],"subject":"one","subject":"two"
            """#
        let record = try #require(RecordContent(json: Self.json(more: more)))
        #expect(record.values.map(\.number) == [nil, "36.60"])
        #expect(record.values.map(\.code) == [nil, 8_454_263])
        #expect(record.characteristic == "2A37")
        #expect(record.flags == ["a", "b"])
        #expect(record.subject == "two")
    }

    @Test(
        arguments: [
            json(version: "2"), json(kind: "\"mood\""), json(kind: "1"), json(time: "{}"), json(time: "null"),
            json(time: #"{"value":"2026-11-20","source":"device"}"#), json(more: #","subject":null"#),
            json(more: #","measurements":[{"type":"pulse"}]"#), json(more: #","origin":{"name":"x"}"#),
            json(more: #","subject":"\x""#), json(more: #","image":{"of":"meal"}"#), "", "[]", "{}",
            String(json().dropLast()),
        ])
    func whatIsNoRecordIsNone(json: String) {
        #expect(RecordContent(json: json) == nil)
    }

    @Test func whereItIsFromIsReadAlone() {
        let origin = #","origin":{"type":"apple-health","name":"Watch","version":"1"}"#
        #expect(RecordContent.origin(of: Self.json(more: origin)) == .appleHealth)
        #expect(RecordContent(json: Self.json(more: origin))?.originName == "Watch")
        #expect(RecordContent.origin(of: Self.json(more: #","origin":{"type":"manual"}"#)) == .manual)
        // Whoever is named so has not entered it.
        let subject = #","subject":"\"origin\":{\"type\":\"manual\"""#
        #expect(RecordContent.origin(of: Self.json(more: subject + origin)) == .appleHealth)
        #expect(RecordContent.origin(of: Self.json(more: subject)) == nil)
        #expect(RecordContent.origin(of: Self.json()) == nil)
        #expect(RecordContent.origin(of: "no record") == nil)
        #expect(RecordContent.origin(of: "") == nil)
    }
}
