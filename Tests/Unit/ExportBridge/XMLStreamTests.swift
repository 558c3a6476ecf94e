import ExportBridge
import Testing

/// What was told.
private final class Notes: XMLHandler {
    var lines: [String] = []

    func wantsAttributes(of element: String) -> Bool { element != "other" }

    func begin(_ element: String, _ attributes: [String: String]) {
        lines.append(
            "<\(element)" + attributes.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined())
    }

    func end(_ element: String) {
        lines.append(">\(element)")
    }
}

@Suite struct XMLStreamTests {
    /// Parses a document in pieces of this size.
    private func parse(_ document: String, piece: Int = 7) throws -> [String] {
        let notes = Notes()
        let stream = try XMLStream(notes)
        defer { #expect(stream.highestMemory <= XMLStream.mostMemory) }
        var rest = Array(document.utf8)[...]
        while !rest.isEmpty {
            try stream.feed(rest.prefix(piece))
            rest = rest.dropFirst(piece)
        }
        try stream.feed([], isLast: true)
        return notes.lines
    }

    @Test(arguments: [1, 7, 1000])
    func elementsAndAttributesAreTold(piece: Int) throws {
        let document = """
            <?xml version="1.0" encoding="UTF-8"?>
            <a x="1 &amp; 2" y='ü&#x2014;'><!-- no --><b/>text<other z="3"/></a>
            """
        #expect(
            try parse(document, piece: piece) == ["<a x=1 & 2 y=ü—", "<b", ">b", "<other", ">other", ">a"])
    }

    @Test func aDocumentTypeIsRefused() {
        let laughs = """
            <!DOCTYPE a [<!ENTITY l0 "ha"><!ENTITY l1 "&l0;&l0;&l0;"><!ENTITY l2 "&l1;&l1;&l1;">]><a x="&l2;"/>
            """
        #expect(throws: XMLError.documentType) { try parse(laughs) }
        #expect(throws: XMLError.documentType) { try parse("<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a/>") }
        #expect(throws: XMLError.malformed(line: 1)) { try parse("<a x='&l2;'/>", piece: 100) }
    }

    @Test func whatIsNoXMLHasItsLine() {
        #expect(throws: XMLError.malformed(line: 2)) { try parse("<a>\n</b>") }
        #expect(throws: XMLError.brokenOff(line: 2)) { try parse("<a>\n<b>") }
        #expect(throws: XMLError.brokenOff(line: 1)) { try parse("") }
        #expect(throws: XMLError.malformed(line: 1)) { try parse("<a x='\u{1}'/>") }
    }

    @Test func depthLengthAndNamesAreBounded() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        }
        #expect(try parse(nested(16)).count == 32)
        #expect(throws: XMLError.tooDeep) { try parse(nested(17)) }

        let long = String(repeating: "x", count: 3 << 20)
        #expect(throws: XMLError.tagTooLong) { try parse("<a x='\(long)'/>", piece: 1 << 16) }
        #expect(throws: XMLError.tagTooLong) { try parse("<a><!-- \(long) --></a>", piece: 1 << 16) }
        // Text is told of in parts.
        #expect(try parse("<a>\(long)</a>", piece: 1 << 16) == ["<a", ">a"])

        let elements = (0...1000).map { "<e\($0)/>" }.joined()
        #expect(throws: XMLError.tooManyNames) { try parse("<a>\(elements)</a>", piece: 1000) }
        let attributes = (0...1000).map { "<b x\($0)='1'/>" }.joined()
        #expect(throws: XMLError.tooManyNames) { try parse("<a>\(attributes)</a>", piece: 1000) }
    }

    /// What comes after `<a>`, again and again, and the fault that ends it; nil if it may go on.
    @Test(arguments: [
        ("<!-- ", "comment ", XMLError.tagTooLong), ("<?pi ", "instruction ", .tagTooLong),
        ("<b x='", "value ", .tagTooLong), ("<", "name", .tagTooLong), ("<b ", " ", .tagTooLong),
        ("<![CDATA[", "text ", nil), ("", "text &amp; ", nil), ("", "\n", nil), ("", "<b/>", nil),
        ("", "<b>", .tooDeep), ("</a>", " ", nil), ("</a>", "<!-- c -->", nil),
    ])
    func whatDoesNotEndTakesBoundedMemory(begin: String, again: String, expected: XMLError?) throws {
        let stream = try XMLStream(Notes())
        let block = Array(String(repeating: again, count: (1 << 17) / again.utf8.count).utf8)
        func feed() throws(XMLError) {
            try stream.feed(Array("<a>\(begin)".utf8)[...])
            for _ in 0..<128 { try stream.feed(block[...]) }
        }
        var found: XMLError?
        do { try feed() } catch { found = error }
        #expect(found == expected)
        #expect(stream.highestMemory <= XMLStream.mostMemory)
    }

    @Test func namesAndAttributesAreBounded() throws {
        let (fits, long) = (String(repeating: "n", count: 256), String(repeating: "n", count: 257))
        #expect(try parse("<a><\(fits) \(fits)='1'/></a>", piece: 1000).count == 4)
        #expect(throws: XMLError.nameTooLong) { try parse("<a><\(long)/></a>", piece: 1000) }
        #expect(throws: XMLError.nameTooLong) { try parse("<a \(long)='1'/>", piece: 1000) }
        #expect(throws: XMLError.nameTooLong) {
            try parse("<\(String(repeating: "n", count: 1_000_000))/>", piece: 1 << 17)
        }
        func element(_ attributes: Int) -> String {
            "<a" + (0..<attributes).map { " x\($0)='1'" }.joined() + "/>"
        }
        #expect(try parse(element(64), piece: 1000).count == 2)
        #expect(throws: XMLError.tooManyAttributes) { try parse(element(65), piece: 1000) }
    }

    @Test func whatExpatHoldsHasABound() {
        // In a tag of less than 1 MiB, which expat parses before it reports it.
        let attributes = (0..<90_000).map { " x\(String($0, radix: 36))=''" }.joined()
        #expect(attributes.utf8.count < 1 << 20)
        #expect(throws: XMLError.tooMuchMemory) { try parse("<a\(attributes)/>", piece: 1 << 17) }
    }
}
