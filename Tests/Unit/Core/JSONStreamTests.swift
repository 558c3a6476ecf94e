import Testing

@testable import IngestCore

/// A document read as it comes says the same wherever it is cut, and takes no more memory for what is hostile in it.
@Suite struct JSONStreamTests {
    private final class Listener: JSONStreamHandler {
        var heard: [String] = []
        func begin(isObject: Bool) { heard.append(isObject ? "{" : "[") }
        func end() { heard.append("end") }
        func name(_ name: String?) { heard.append("\(name ?? "too long"):") }
        func value(_ value: JSONStream.Value) {
            switch value {
            case .text(let text): heard.append("'\(text)'")
            case .number(let text): heard.append(text)
            case .other: heard.append("other")
            }
        }
    }

    /// - Parameter size: how many bytes it is fed at a time.
    private func read(_ bytes: [UInt8], by size: Int) throws -> [String] {
        let listener = Listener()
        let stream = JSONStream(listener)
        for start in stride(from: 0, to: bytes.count, by: size) {
            try stream.feed(bytes[start..<min(start + size, bytes.count)])
        }
        try stream.feed([], isLast: true)
        return listener.heard
    }

    private func failure(_ bytes: [UInt8], by size: Int = 7) -> JSONStream.Failure? {
        do {
            _ = try read(bytes, by: size)
            return nil
        } catch {
            return error as? JSONStream.Failure
        }
    }

    @Test(arguments: [1, 2, 3, 1000])
    func aDocumentSaysTheSameWhereverItIsCut(size: Int) throws {
        let text = #"""
            {"data" : {"metrics":[{"units":"count\/min","name":"caf\u00e9 \"é\"","data":[{"qty":72.50,"ok":true,
            "no":null},{"qty":-1.2e-05}, [], {} ,"", 0]}]}}
            """#
        #expect(
            try read(Array(text.utf8), by: size).joined(separator: " ")
                == """
                { data: { metrics: [ { units: 'count/min' name: 'café "é"' data: [ { qty: 72.50 ok: other no: other end \
                { qty: -1.2e-05 end [ end { end '' 0 end end end end end
                """)
    }

    @Test func aByteOrderMarkIsLeftOut() throws {
        #expect(try read([0xEF, 0xBB, 0xBF] + Array("[1]".utf8), by: 1000) == ["[", "1", "end"])
    }

    @Test(arguments: [
        "[1,]", "{\"a\" 1}", "{\"a\":1,}", "{1:2}", "[1 2]", "]", "[1}", "1 2", "{} {}", "[01]", "[1.]",
        "[.5]",
        "[+1]", "[1e]", "[--1]", "[NaN]", "[True]", "[1]x", "[\"a\nb\"]", "[\"\\q\"]", "[\"\\ud800\"]",
        "{:1}",
        "[,1]", "'a'", "[\"a\":1]",
    ])
    func whatIsNoJSONIsRefused(text: String) {
        guard case .malformed? = failure(Array(text.utf8)) else {
            Issue.record("\(text) was read")
            return
        }
    }

    @Test(arguments: ["", " ", "{", "[1,", "{\"a\"", "{\"a\":", "\"a", "\"a\\", "[[1]"])
    func whatBreaksOffIsToldAsThat(text: String) {
        #expect(failure(Array(text.utf8)) == .brokenOff(at: Int64(text.utf8.count)))
    }

    @Test(
        arguments: [
            [0x22, 0xFF, 0x22], [0x22, 0xC3, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
            [0x22, 0x5C, 0x6E, 0xFF, 0x22],
        ] as [[UInt8]])
    func whatIsNoUTF8IsRefused(bytes: [UInt8]) {
        #expect(failure(bytes) == .notUTF8(at: Int64(bytes.count)))
    }

    @Test func depthIsBounded() throws {
        let most = JSONStream.mostDepth
        func nested(_ depth: Int) -> [UInt8] {
            Array(repeating: UInt8(ascii: "["), count: depth)
                + Array(repeating: UInt8(ascii: "]"), count: depth)
        }
        #expect(try read(nested(most), by: 5).count == 2 * most)
        #expect(failure(nested(most + 1)) == .tooDeep(at: Int64(most + 1)))
        #expect(
            failure(Array(repeating: UInt8(ascii: "["), count: 1_000_000)) == .tooDeep(at: Int64(most + 1)))
    }

    /// A text, a name and a number, each of a length that is kept, and one byte longer.
    @Test(arguments: [1, 1000])
    func whatIsTooLongIsPassedOver(size: Int) throws {
        let most = JSONStream.longestText
        let document = { (length: Int, digits: Int) in
            let text = String(repeating: "a", count: length)
            return Array("{\"\(text)\":\"\(text)\",\"b\":\(String(repeating: "7", count: digits))}".utf8)
        }
        let whole = try read(document(most, 128), by: size)
        #expect(whole.map(\.count) == [1, most + 1, most + 2, 2, 128, 3])
        #expect(
            try read(document(most + 1, 129), by: size) == ["{", "too long:", "other", "b:", "other", "end"])
        // A quotation mark behind a backslash ends nothing, also in a text that is not kept.
        let escaped = Array("[\"\(String(repeating: "\\\"", count: most))\",1]".utf8)
        #expect(try read(escaped, by: size) == ["[", "other", "1", "end"])
    }
}
