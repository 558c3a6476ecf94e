/// How a record is printed with its tag and where it stands at each destination.
struct RecordScreen {
    /// Of tags; nil where no service has made one.
    let key: TagKey?

    func lines(_ found: FoundRecord) -> [String] {
        var lines = ["record       \(found.id)"]
        if let key { lines.append("tag          \(key.tag(ofRecord: found.id))") }
        if let record = found.record { lines.append(Records.lines(of: record)) }
        if let obstacle = found.obstacle { lines.append("It \(obstacle.message).") }
        let width = found.standings.map(\.destination.count).max() ?? 0
        return lines
            + found.standings.map { standing in
                let padding = String(repeating: " ", count: max(11, width) - standing.destination.count)
                return "\(standing.destination)\(padding)  \(Self.message(for: standing))"
            }
    }

    func json(_ found: FoundRecord) -> String {
        var text = JSONText()
        text.beginObject()
        text.member("id", found.id)
        if let obstacle = found.obstacle { text.member("obstacle", obstacle.rawValue) }
        add(found.id, found.standings, to: &text)
        if let record = found.record {
            text.key("record")
            text.value(json: Array(record.json.utf8))
        }
        text.endObject()
        return text.string
    }

    /// The tag, and where the record stands, as members of an object.
    func add(_ id: String, _ standings: [RecordStanding], to text: inout JSONText) {
        if let key { text.member("tag", key.tag(ofRecord: id)) }
        text.key("destinations")
        text.beginArray()
        for standing in standings {
            text.beginObject()
            text.member("name", standing.destination)
            text.member("state", standing.state.rawValue)
            if let attempt = standing.attempt { text.member("attempt", attempt) }
            if let status = standing.httpStatus { text.member("http_status", status) }
            if let error = standing.error { text.member("error", error) }
            text.endObject()
        }
        text.endArray()
    }

    /// The same as names and values.
    func fields(of id: String, _ standings: [RecordStanding]) -> [(String, String)] {
        let tag = key.map { [("tag", $0.tag(ofRecord: id))] } ?? []
        return tag + standings.map { ("at", "\($0.destination): \(Self.message(for: $0))") }
    }

    private static func message(for standing: RecordStanding) -> String {
        standing.state.message + (standing.error.map { ": \($0)" } ?? "")
    }
}

extension CommandFailure {
    static func notARecord(_ name: String) -> CommandFailure {
        CommandFailure(
            .usage,
            "\(name): expected the id of a record, at least its first four characters, or the tag of an event"
        )
    }
}
