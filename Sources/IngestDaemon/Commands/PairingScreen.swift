import Dispatch
import FoundationEssentials

/// The terminal of `ingestd pair`.
struct PairingScreen: Sendable {
    let printsJSON: Bool
    /// Whether the entry that pins the device is shown, to be pasted.
    var showsEntry = true

    func show(_ step: OperatorStep) throws {
        if printsJSON {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            try StandardOutput.write(String(decoding: try encoder.encode(step), as: UTF8.self) + "\n")
            return
        }
        // The failure's words go to standard error, by whoever ends the command.
        guard step.step != .failed else { return }
        var text = step.text ?? ""
        if let code = step.code { text += "  \(TerminalText.line(code))" }
        if showsEntry, let entry = step.entry {
            text +=
                "\nTo pin it, and to say whose readings these are, put this under peripherals in "
                + "a file of conf.d:\n  \(TerminalText.line(entry))"
        }
        try StandardOutput.write(text + "\n")
    }

    /// Has a line typed on a thread that may block, and hands it on.
    func answer(
        _ typed: @escaping @Sendable () -> ControlMessage.Answer,
        with send: @escaping @Sendable (ControlMessage.Answer) async -> Void
    ) {
        DispatchQueue.global().async {
            let answer = typed()
            Task { await send(answer) }
        }
    }

    /// Six digits from standard input; nil when it ends. Blocks.
    static func typedPasskey() -> String? {
        StandardError.print("Passkey, six digits:")
        while let line = readLine() {
            if Passkey.read(line) != nil { return line }
            StandardError.print("Six digits, as the device shows them:")
        }
        return nil
    }

    /// Whether y was typed; no when standard input ends. Blocks.
    static func typedYes() -> Bool {
        StandardError.print("The same? y or n:")
        while let line = readLine() {
            switch line.lowercased() {
            case "y", "yes": return true
            case "n", "no": return false
            default: StandardError.print("y or n:")
            }
        }
        return false
    }
}
