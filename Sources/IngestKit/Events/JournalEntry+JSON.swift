import FoundationEssentials

extension JournalEntry {
    /// The entry as one JSON object on one line, as `journalctl -o json` would show it: the
    /// journal's field names, every value a string.
    /// - Parameter realtimeMicroseconds: when it was written, since 1970-01-01T00:00:00Z.
    public static func line(_ entry: JournalEntry, realtimeMicroseconds: Int64) -> String {
        entry.object(startingWith: [("__REALTIME_TIMESTAMP", String(realtimeMicroseconds))])
    }

    /// The entry as the outbox keeps it.
    var stored: String { object(startingWith: []) }

    /// Reads what `stored` wrote; nil for anything else.
    init?(stored text: String) {
        guard let values = try? JSONDecoder().decode([String: String].self, from: Data(text.utf8)),
            let name = values[EventField.event.rawValue], let messageID = values["MESSAGE_ID"],
            let message = values["MESSAGE"],
            let priority = values["PRIORITY"].flatMap({ Int($0) }).flatMap(EventPriority.init(rawValue:))
        else { return nil }
        self.init(
            name: name, messageID: messageID, priority: priority, message: message,
            fields: EventField.allCases.compactMap { field in
                values[field.rawValue].map { (field, $0) }
            })
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
