/// How `ingestd failed` prints.
struct FailedScreen {
    /// A line of the table.
    struct Row {
        let cells: [String]
    }

    /// Of a terminal.
    private static let width = 80
    /// Names of destinations are cut to so many columns in the table.
    private static let destinationWidth = 16
    private static let titles = ["ID", "SET ASIDE", "KIND", "DESTINATION", "ERROR"]

    let zone: TimeZoneRules

    func row(_ letter: DeadLetter) -> Row {
        Row(
            cells: [
                String(letter.id.text.prefix(8)), String(time(letter).prefix(16)), letter.kind,
                Self.cut(letter.destination ?? "-", to: Self.destinationWidth), letter.error,
            ].map { TerminalText.line($0) })
    }

    func table(_ rows: [Row]) -> [String] {
        let all = [Self.titles] + rows.map(\.cells)
        let widths = Self.titles.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { cells in
            let line = zip(cells, widths).map { cell, width in
                cell + String(repeating: " ", count: width - cell.count)
            }.joined(separator: "  ")
            return Self.cut(Self.trimmed(line), to: Self.width)
        }
    }

    /// - Parameter further: names and values of what is told beside it.
    func details(_ letter: DeadLetter, further: [(String, String)]) -> [String] {
        let record = RecordSummary(json: letter.record)
        let number = letter.peripheralID.map(String.init) ?? "-"
        let peripheral = letter.alias.map { "\($0) (\(number))" } ?? number
        let attempt = letter.attempt > 0 ? ", attempt \(letter.attempt)" : ""
        var fields = [
            ("record", letter.id.text), ("kind", letter.kind), ("peripheral", peripheral),
            ("measured", record.map(\.wallTime) ?? "unknown"),
        ]
        if let record, !record.values.isEmpty {
            fields.append(("values", record.values.map(\.text).joined(separator: ", ")))
        }
        if let entry = record?.imageOf { fields.append(("image of", "\(entry.kind.rawValue) \(entry.id)")) }
        if let subject = letter.subject ?? record?.subject { fields.append(("subject", subject)) }
        if let destination = letter.destination { fields.append(("destination", destination)) }
        fields += [("set aside", time(letter) + attempt), ("error", letter.error)]
        fields += further
        if let reply = letter.reply { fields.append(("server", reply)) }
        return fields.map { name, value in
            name + String(repeating: " ", count: 13 - name.count) + TerminalText.line(value)
        }
    }

    /// - Parameters:
    ///   - isWhole: with the record and the server's words.
    ///   - further: adds what is told beside it.
    func json(
        _ letter: DeadLetter, isWhole: Bool = false, further: (inout JSONText) -> Void = { _ in }
    ) -> String {
        var text = JSONText()
        text.beginObject()
        text.member("record_id", letter.id.text)
        text.member("kind", letter.kind)
        if let peripheral = letter.peripheralID { text.member("peripheral_id", peripheral) }
        if let alias = letter.alias { text.member("peripheral", alias) }
        if let destination = letter.destination { text.member("destination", destination) }
        if let status = letter.httpStatus { text.member("http_status", status) }
        text.member("attempt", letter.attempt)
        text.member("error", letter.error)
        if letter.failed > 0 {
            let moment = OperatorTime.text(letter.failed / 1_000_000_000, offset: 0)
            text.member("set_aside", moment.replacing(" ", with: "T") + "Z")
        }
        if let subject = letter.subject { text.member("subject", subject) }
        if isWhole {
            if let reply = letter.reply { text.member("reply", reply) }
            if RecordSummary(json: letter.record) != nil {
                text.key("record")
                text.value(json: Array(letter.record.utf8))
            }
        }
        further(&text)
        text.endObject()
        return text.string
    }

    /// When it was set aside, in the gateway's zone.
    private func time(_ letter: DeadLetter) -> String {
        guard letter.failed > 0 else { return "unknown" }
        let seconds = letter.failed / 1_000_000_000
        return OperatorTime.text(seconds, offset: zone.offset(at: seconds))
    }

    private static func trimmed(_ line: String) -> String {
        var line = line
        while line.last == " " { line.removeLast() }
        return line
    }

    private static func cut(_ text: String, to width: Int) -> String {
        text.count <= width ? text : text.prefix(width - 1) + "…"
    }
}

extension RecordSummary.Value {
    /// `systolic 138 mm[Hg]`.
    var text: String { "\(type) \(number ?? "absent") \(unit)" }
}
