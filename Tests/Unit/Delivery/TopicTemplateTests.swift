import Testing

@testable import IngestDelivery
@testable import IngestRecords

@Suite struct TopicTemplateTests {
    private static func record(
        subject: String?, device: String = #"{"peripheral_id":1001,"address":"F1:F1:F1:F1:F1:F1"}"#
    ) throws -> RecordContent {
        let owner = subject.map { ",\"subject\":\"\($0)\"" } ?? ""
        return try #require(
            RecordContent(
                json: """
                    {"version":1,"id":"a","kind":"blood-pressure","stage":"historical",\
                    "time":{"value":"2026-11-20T09:15:00+00:00","source":"device","received":"2026-11-20T09:15:04Z"}\(owner),\
                    "device":\(device),"gateway":"ward-3-box-1"}
                    """))
    }

    @Test(arguments: [
        ("{gateway}", "ward-3-box-1"), ("{kind}", "blood-pressure"), ("{stage}", "historical"),
        ("{subject}", "patient-17"), ("{address}", "F1:F1:F1:F1:F1:F1"), ("{peripheral_id}", "1001"),
        ("plain", "plain"),
        ("wards/{gateway}/{kind}/x-{subject}", "wards/ward-3-box-1/blood-pressure/x-patient-17"),
    ])
    func aPlaceholderStandsForWhatTheRecordSays(_ text: String, _ topic: String) throws {
        #expect(try TopicTemplate(text).topic(of: Self.record(subject: "patient-17")) == topic)
    }

    @Test func aRecordOfNobodyIsUnassigned() throws {
        #expect(try TopicTemplate("p/{subject}").topic(of: Self.record(subject: nil)) == "p/unassigned")
        #expect(
            try TopicTemplate.standard.topic(of: Self.record(subject: nil))
                == "ingestd/ward-3-box-1/blood-pressure")
    }

    @Test func aRecordOfNoDeviceHasNoEmptyLevel() throws {
        let record = try Self.record(subject: nil, device: #"{"manufacturer":"Beurer"}"#)
        #expect(try TopicTemplate("{address}/{peripheral_id}").topic(of: record) == "none/none")
    }

    @Test(arguments: [
        ("a/b", "a%2Fb"), ("+", "%2B"), ("#", "%23"), ("$SYS", "%24SYS"), ("50%", "50%25"),
        ("Jörg", "J%C3%B6rg"),
        ("a b", "a%20b"), ("\u{0}\n", "%00%0A"), ("{kind}", "%7Bkind%7D"), ("A-z_0.9~:", "A-z_0.9~:"),
    ])
    func noValueMakesALevelAWildcardOrAControlCharacter(_ value: String, _ level: String) throws {
        #expect(TopicTemplate.level(value) == level)
    }

    @Test func aSubjectCannotLeaveItsLevel() throws {
        let topic = try TopicTemplate("p/{subject}/r").topic(of: Self.record(subject: "../#/+"))
        #expect(topic == "p/..%2F%23%2F%2B/r")
    }

    @Test(arguments: [
        ("", "a topic: printable text of at most 1024 bytes"),
        ("a\u{7}b", "a topic: printable text of at most 1024 bytes"),
        (String(repeating: "ä", count: 513), "a topic: printable text of at most 1024 bytes"),
        ("a/+/b", "a topic without + and #"), ("a/#", "a topic without + and #"),
        ("$SYS/a", "a topic that does not begin with $"),
        ("{patient}", "no braces but those of {gateway} or {kind}"),
        ("{subject}", "no braces but those of {gateway} or {kind}"),
        ("a/{kind", "no braces but those of {gateway} or {kind}"),
        ("a}", "no braces but those of {gateway} or {kind}"),
        ("{{kind}}", "no braces but those of {gateway} or {kind}"),
    ])
    func whatIsNoTemplateIsSaid(_ text: String, _ expected: String) {
        #expect(throws: TopicTemplate.Malformed(expected: expected)) {
            try TopicTemplate(text, allowed: [.gateway, .kind])
        }
    }

    @Test func theStatusIsKeptUnderATopicOfTheGateway() throws {
        let status = try BrokerStatus(
            topic: TopicTemplate("s/{gateway}", allowed: [.gateway]), gateway: "box")
        #expect(status.topic == "s/box")
        #expect(status.online == #"{"version":1,"gateway":"box","status":"online"}"#)
        #expect(status.offline == #"{"version":1,"gateway":"box","status":"offline"}"#)
    }
}
