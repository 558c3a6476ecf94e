/// The way out of the mistakes that people make most often in a YAML file, of which the parser only says what it
/// stumbled over.
enum YAMLHint {
    /// - Parameter line: where the parser stopped, from 1.
    static func forError(in text: String, atLine line: Int) -> String? {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard line >= 1, line <= lines.count else { return nil }
        if lines[line - 1].prefix(while: { $0 == " " || $0 == "\t" }).contains("\t") {
            return "indent with spaces, because YAML takes no tabs there"
        }
        // An entry below a list that was closed on its own line: the parser complains of the entry.
        let above = lines[..<(line - 1)].last { !isBlank($0) && $0.first != "#" }
        guard isBegunItem(lines[line - 1]), let above, let key = keyOfEmptyList(above) else { return nil }
        return "delete the [] behind `\(key):`, so that its entries can stand below it"
    }

    private static func isBlank(_ line: Substring) -> Bool { line.allSatisfy { $0 == " " || $0 == "\r" } }

    private static func isBegunItem(_ line: Substring) -> Bool {
        line.drop { $0 == " " }.hasPrefix("-")
    }

    /// The key of a line such as `peripherals: []`.
    private static func keyOfEmptyList(_ line: Substring) -> Substring? {
        guard let colon = line.firstIndex(of: ":") else { return nil }
        let value = line[line.index(after: colon)...].prefix { $0 != "#" }.filter { $0 != " " && $0 != "\r" }
        return value == "[]" ? line[..<colon].drop { $0 == " " } : nil
    }
}
