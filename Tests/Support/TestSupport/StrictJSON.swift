import FoundationEssentials

/// JSON as a backend reads it that is strict: exactly the members that it knows, of the types that they have.
package enum StrictJSON {
    package struct Fault: Error {
        package let what: String
        package init(_ what: String) { self.what = what }
    }

    /// An object with all of these members, and no other ones than the optional, each as JSON.
    package static func object(
        _ json: String?, _ names: Set<String>, optional: Set<String> = []
    ) throws(Fault) -> [String: String] {
        var members: [String: String] = [:]
        do {
            var scanner = JSONScanner(Array((json ?? "").utf8))
            try scanner.object { (name: String, scanner: inout JSONScanner) throws(JSONScanner.Malformed) in
                members[String(name.dropFirst().dropLast())] = try scanner.value(depth: 1)
            }
            try scanner.end()
        } catch {
            throw Fault("JSON")
        }
        let found = Set(members.keys)
        guard found.isSuperset(of: names), found.isSubset(of: names.union(optional)) else {
            throw Fault("unknown or missing members: \(found.symmetricDifference(names).sorted())")
        }
        return members
    }

    package static func elements(_ json: String?) throws(Fault) -> [String] {
        var elements: [String] = []
        do {
            var scanner = JSONScanner(Array((json ?? "").utf8))
            try scanner.array { (scanner: inout JSONScanner) throws(JSONScanner.Malformed) in
                elements.append(try scanner.value(depth: 1))
            }
            try scanner.end()
        } catch {
            throw Fault("JSON")
        }
        return elements
    }

    package static func text(_ members: [String: String], _ name: String) throws(Fault) -> String {
        guard let json = members[name],
            let text = try? JSONDecoder().decode(String.self, from: Data(json.utf8))
        else { throw Fault("\(name) is no text") }
        return text
    }

    /// A number, as it stands there.
    package static func number(_ members: [String: String], _ name: String) throws(Fault) -> String {
        guard let json = members[name], !json.hasPrefix("\""), Double(json) != nil else {
            throw Fault("\(name) is no number")
        }
        return json
    }
}
