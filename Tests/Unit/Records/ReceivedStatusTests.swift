import Testing

@testable import IngestRecords

/// What `ingestd receive` shows of status documents.
struct ReceivedStatusTests {
    @Test(arguments: [
        (
            #"{"version":1,"gateway":"box","status":"online","problems":[]}"#,
            "box is online: nothing needs somebody"
        ),
        (
            #"{"status":"online","gateway":"box","problems":["a is down","b is full"]}"#,
            "box is online: a is down; b is full"
        ),
    ])
    func aDocumentIsShownInALine(_ json: String, _ expected: String) throws {
        let status = try ReceivedStatus(Array(json.utf8))
        #expect(status.summary == expected && status.json == json)
    }

    @Test func aDocumentOfSeveralLinesIsPutOnOne() throws {
        let status = try ReceivedStatus(Array("{\n\"gateway\":\"box\",\r\n\"status\":\"online\"}".utf8))
        #expect(!status.json.contains { $0.isNewline })
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"gateway":"box"}"#, #"{"gateway":"box","status":"online"} x"#,
        #"{"gateway":"box","status":"online","records":[]}"#,
        #"{"gateway":"box","status":"online","problems":3}"#,
    ])
    func anythingElseIsNone(_ text: String) {
        #expect(throws: JSONScanner.Malformed.self) { try ReceivedStatus(Array(text.utf8)) }
    }
}
