import TestSupport
import Testing

@testable import IngestDelivery

@Suite struct BodyTests {
    @Test(arguments: [0, 1, 100, 100_000])
    func gzipGoesThereAndBackAndIsTheSameEveryTime(_ count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }
        let packed = try Gzip.compress(bytes)
        #expect(try Gzip.compress(bytes) == packed)
        // RFC 1952: magic, deflate, no flags, no time.
        #expect(packed.prefix(8) == [0x1F, 0x8B, 8, 0, 0, 0, 0, 0])
        #expect(try Gzip.decompress(packed, limit: max(count, 1)) == bytes)
    }

    @Test func gzipHasABoundAndRefusesWhatItIsNot() throws {
        let packed = try Gzip.compress([UInt8](repeating: 0, count: 1_000_000))
        #expect(throws: Gzip.Malformed.self) { try Gzip.decompress(packed, limit: 999_999) }
        #expect(throws: Gzip.Malformed.self) { try Gzip.decompress(Array("plain".utf8), limit: 100) }
    }

    @Test func aKeyIsTheVersionFiveUUIDOfTheBytes() {
        // python3: uuid.uuid5(uuid.UUID('02322d06-b248-45e8-8c81-81d8effc6022'), 'reading')
        #expect(IdempotencyKey.of(Array("reading".utf8)) == "206f62fc-4a72-5774-b4e9-52ba7c72457e")
    }

    @Test func theBodyHasTheRecordsAsTheyAre() {
        let batch = OutgoingBatch(gateway: "ward \"3\"", records: ["{\"value\":36.60}", "{\"value\":2.00}"])
        #expect(
            String(decoding: Webhook.body(of: batch, .json), as: UTF8.self)
                == #"{"version":1,"gateway":"ward \"3\"","records":[{"value":36.60},{"value":2.00}]}"#)
    }

    @Test func aReceivedBatchKeepsEveryDigit() throws {
        let body = """
            { "version": 1, "other": {"a": [1, {}, []]}, "gateway": "ward \\"3\\"",
              "records": [ {"value": 36.60, "text": "],}\\\\"} , {"value":
            1.0e-5}, 7, "x", null ] }
            """
        let batch = try ReceivedBatch(Array(body.utf8))
        #expect(batch.gateway == #""ward \"3\"""#)
        #expect(
            batch.records
                == [#"{"value": 36.60, "text": "],}\\"}"#, #"{"value": 1.0e-5}"#, "7", #""x""#, "null"])
        #expect(try ReceivedBatch(Array(#"{"records":[]}"#.utf8)).records.isEmpty)
    }

    @Test func aRecordIsSummedUpWithItsDigits() throws {
        let json = try record("a", alias: "bedroom").json
        #expect(
            ReceivedBatch.summary(of: json)
                == "2026-11-20T09:15:00+00:00 body-temperature: body-temperature 36.60 Cel (bedroom)")
        #expect(ReceivedBatch.summary(of: "[7]") == "[7]")
        #expect(ReceivedBatch.summary(of: #"{"kind":"x"}"#) == #"{"kind":"x"}"#)
    }

    @Test(arguments: [
        "", "{", "[]", "null", "{}", #"{"records":{}}"#, #"{"records":[}"#, #"{"records":[1,]}"#,
        #"{"records":[1]"#, #"{"records":["a]}"#, #"{"records":[1]} x"#, #"{records:[]}"#,
        #"{"records":[1 2]}"#, #"{"records":["\"#, "{\"records\":[\"a\nb\"]}",
        #"{"records":"# + String(repeating: "[", count: 100_000),
    ])
    func whatIsNoBatchIsRefused(_ body: String) {
        #expect(throws: ReceivedBatch.Malformed.self) { try ReceivedBatch(Array(body.utf8)) }
    }
}
