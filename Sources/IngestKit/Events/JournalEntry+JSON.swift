import FoundationEssentials

extension JournalEntry {
    /// The entry as one JSON object on one line, as `journalctl -o json` would show it: the
    /// journal's field names, every value a string.
    /// - Parameter realtimeMicroseconds: when it was written, since 1970-01-01T00:00:00Z.
    package static func line(_ entry: JournalEntry, realtimeMicroseconds: Int64) -> String {
        entry.object(startingWith: [("__REALTIME_TIMESTAMP", String(realtimeMicroseconds))])
    }

    /// The entry as the outbox keeps it.
    package var stored: String { object(startingWith: []) }

    /// Reads what `stored` wrote; nil for anything else.
    package init?(stored text: String) {
        guard let values = Self.members(of: text), let name = values[EventField.event.rawValue],
            let messageID = values["MESSAGE_ID"], let message = values["MESSAGE"],
            let priority = values["PRIORITY"].flatMap({ Int($0) }).flatMap(EventPriority.init(rawValue:))
        else { return nil }
        self.init(
            name: name, messageID: messageID, priority: priority, message: message,
            fields: EventField.allCases.compactMap { field in
                values[field.rawValue].map { (field, $0) }
            })
    }

    /// The members of what `stored` wrote: an object of strings alone. Without escapes, as most are, its quotation
    /// marks tell them apart, in a fraction of the time that a decoder takes.
    private static func members(of text: String) -> [String: String]? {
        guard !text.utf8.contains(UInt8(ascii: "\\")) else {
            return try? JSONDecoder().decode([String: String].self, from: Data(text.utf8))
        }
        let parts = text.utf8.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
        // { name : value , name : value }
        guard parts.count % 4 == 1, let last = parts.last, last.elementsEqual("}".utf8) else { return nil }
        var members: [String: String] = [:]
        for member in stride(from: 1, to: parts.count - 1, by: 4) {
            let separator = member == 1 ? "{" : ","
            guard parts[member - 1].elementsEqual(separator.utf8),
                parts[member + 1].elementsEqual(":".utf8)
            else { return nil }
            members[String(Substring(parts[member]))] = String(Substring(parts[member + 2]))
        }
        return members
    }

    private func object(startingWith first: [(String, String)]) -> String {
        var text = JSONText()
        text.beginObject()
        for (name, value) in first { text.member(name, value) }
        text.member("MESSAGE", message)
        text.member("MESSAGE_ID", messageID)
        text.member("PRIORITY", String(priority.rawValue))
        for (field, value) in fields { text.member(field.rawValue, value) }
        text.endObject()
        return text.string
    }
}
