/// A status document that came by webhook (docs/status.schema.json), taken apart as far as people are shown of it.
package struct ReceivedStatus: Sendable, Equatable {
    /// On one line.
    package let json: String
    /// In a line for people: of which gateway, and what needs somebody.
    package let summary: String

    package init(_ bytes: [UInt8]) throws(JSONScanner.Malformed) {
        var scanner = JSONScanner(bytes)
        json = try scanner.value(depth: 0)
        try scanner.end()
        let members = try ReceivedBatch.members(of: json)
        guard let status = members["status"], let gateway = members["gateway"], members["records"] == nil
        else {
            throw JSONScanner.Malformed(offset: 0)
        }
        var problems: [String] = []
        if let list = members["problems"] {
            var scanner = JSONScanner(Array(list.utf8))
            try scanner.array { (scanner: inout JSONScanner) throws(JSONScanner.Malformed) in
                problems.append(String(try scanner.value(depth: 1).dropFirst().dropLast()))
            }
        }
        summary =
            "\(gateway) is \(status): "
            + (problems.isEmpty ? "nothing needs somebody" : problems.joined(separator: "; "))
    }
}
