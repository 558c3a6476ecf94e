/// An answer that cannot be used: what was expected.
struct WrongAnswer: Error {
    let expected: String

    init(_ expected: String) {
        self.expected = expected
    }
}

/// Questions and answers. A flag answers its question; without a terminal every question needs its flag, or a default.
struct Dialogue: Sendable {
    /// Far more than any answer has.
    static let longestAnswer = 4000

    let terminal: any Terminal
    /// Whether somebody can be asked.
    let asks: Bool

    func say(_ text: String) throws {
        for line in PlainText.lines(text) { try terminal.write(line) }
    }

    /// Asks until the answer can be used.
    /// - Parameters:
    ///   - flag: answers the question on the command line, and gave `given`.
    ///   - standard: the answer of an empty line, and where nobody can be asked.
    ///   - unasked: the answer where nobody can be asked, of a question that somebody has to answer in words.
    ///   - read: throws `WrongAnswer`.
    func ask<Value>(
        _ question: String, flag: String?, given: String? = nil, standard: String? = nil,
        unasked: String? = nil,
        isSecret: Bool = false, read: (String) throws -> Value
    ) async throws -> Value {
        if let given {
            do {
                return try read(try Self.checked(given))
            } catch let wrong as WrongAnswer {
                throw CommandFailure(.usage, "\(flag ?? question): \(wrong.expected)")
            }
        }
        guard asks else {
            guard let answer = standard ?? unasked else {
                throw CommandFailure(
                    .usage, "\(flag ?? question) is missing: there is no terminal to ask for it (\(question))"
                )
            }
            return try await ask(question, flag: flag, given: answer, read: read)
        }
        let lines = PlainText.lines(question + Self.shown(standard) + ":")
        while true {
            for line in lines.dropLast() { try terminal.write(line) }
            let question = lines.last ?? ""
            if !isSecret { try terminal.prompt(question) }
            guard let typed = isSecret ? try await terminal.secret(question) : try await terminal.line()
            else {
                throw CommandFailure(.interrupted, "the input ended")
            }
            let answer = Self.trimmed(typed)
            do {
                if answer.isEmpty, let standard { return try read(standard) }
                return try read(try Self.checked(answer))
            } catch let wrong as WrongAnswer {
                try say("  Not so: \(wrong.expected)")
            }
        }
    }

    /// - Parameter standard: what an empty line means, and what holds where nobody can be asked.
    func confirm(_ question: String, standard: Bool, unasked: Bool? = nil) async throws -> Bool {
        guard asks else { return unasked ?? standard }
        return try await ask(question, flag: nil, standard: standard ? "Y" : "N") {
            text throws(WrongAnswer) in
            switch text.lowercased() {
            case "y", "yes": return true
            case "n", "no": return false
            default: throw WrongAnswer("expected y or n")
            }
        }
    }

    /// One of a numbered list, by its number or its name.
    func choose(
        _ question: String, among names: [String], flag: String?, given: String?, standard: String? = nil
    ) async throws -> Int {
        try await ask(question, flag: flag, given: given, standard: standard) { text throws(WrongAnswer) in
            if let place = names.firstIndex(of: text) { return place }
            guard let number = Int(text), names.indices.contains(number - 1) else {
                throw WrongAnswer("expected a number from 1 to \(names.count), or a name of the list")
            }
            return number - 1
        }
    }

    private static func shown(_ standard: String?) -> String {
        guard let standard, !standard.isEmpty else { return "" }
        return " [\(standard)]"
    }

    private static func checked(_ answer: String) throws(WrongAnswer) -> String {
        guard !answer.isEmpty else { throw WrongAnswer("expected an answer") }
        guard answer.utf8.count <= longestAnswer else {
            throw WrongAnswer("expected at most \(longestAnswer) characters")
        }
        // What a terminal without UTF-8 sends for a letter with an accent cannot be read.
        guard TextForm.isLine(answer, limit: longestAnswer), !answer.unicodeScalars.contains("\u{FFFD}")
        else {
            throw WrongAnswer("expected letters that this terminal sends as UTF-8, best those of ASCII")
        }
        return answer
    }

    private static func trimmed(_ text: String) -> String {
        var rest = text[...]
        while rest.first?.isWhitespace == true { rest.removeFirst() }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }
}
