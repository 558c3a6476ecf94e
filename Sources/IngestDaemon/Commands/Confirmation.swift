import Glibc

/// Asks the operator before something is done that cannot be undone.
enum Confirmation {
    /// Returns when the operator agrees.
    /// - Parameter isGiven: whether that was said on the command line.
    static func ask(_ sentence: String, isGiven: Bool) throws(CommandFailure) {
        if isGiven { return }
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(.usage, "\(sentence) Standard input is no terminal: say so with --yes")
        }
        StandardError.print("\(sentence) Go on? y or n:")
        while let line = readLine() {
            switch line.lowercased() {
            case "y", "yes": return
            case "n", "no": throw CommandFailure(.interrupted, "nothing was changed")
            default: StandardError.print("y or n:")
            }
        }
        throw CommandFailure(.interrupted, "nothing was changed")
    }
}
