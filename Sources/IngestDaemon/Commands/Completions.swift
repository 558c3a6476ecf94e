import ArgumentParser
import Dispatch
import FoundationEssentials
import Glibc

/// What a shell offers for an argument. Names are those of the configuration that the command line names, or of the
/// installed one; from a configuration that cannot be read there are none, and nothing is said.
enum Completions {
    /// A shell waits for the answer whenever Tab is pressed.
    private static let patience = DispatchTimeInterval.seconds(1)
    /// More than that nobody looks through.
    private static let most = 200

    /// Devices of the allow-list by alias. One that has neither alias nor address is meant by its model's ID.
    static let devices = names { configuration in
        configuration.peripherals.compactMap { entry in
            entry.alias ?? (entry.address == nil ? String(entry.model.id) : nil)
        }
    }
    static let destinations = names { $0.destinations.map(\.name) }
    /// Destinations that are signed in to.
    static let accounts = names { $0.destinations.filter { $0.form.person != nil }.map(\.name) }

    private static func names(
        of find: @escaping @Sendable (Configuration) -> [String]
    ) -> CompletionKind {
        .custom { words, _, _ in
            DispatchQueue.global().asyncAfter(deadline: .now() + patience) { _exit(EXIT_SUCCESS) }
            let check = ConfigurationCheck(
                path: path(in: words), readableProfiles: Profiles.names,
                host: .current(environment: ProcessInfo.processInfo.environment, fileSeverity: .warning))
            // What a terminal would not show as it is cannot be chosen by its looks.
            let found = check.configuration.map(find)?.filter { TerminalText.line($0) == $0 } ?? []
            return found.prefix(most).map { quoted($0, for: CompletionShell.requesting) }
        }
    }

    /// The configuration that a command line names, or else the installed one.
    static func path(in words: [String]) -> String {
        let option = "--config"
        if let joined = words.last(where: { $0.hasPrefix(option + "=") }) {
            return String(joined.dropFirst(option.count + 1))
        }
        // bash takes the equals sign for a word of its own.
        guard let index = words.lastIndex(of: option),
            let value = words[(index + 1)...].first(where: { $0 != "=" }), !value.isEmpty
        else { return Configuration.defaultPath }
        return value
    }

    /// A word as the shell's completion script takes it.
    static func quoted(_ word: String, for shell: CompletionShell?) -> String {
        switch shell {
        // compgen -W expands its words like the shell itself.
        case .bash: "'" + word.replacing("'", with: #"'\''"#) + "'"
        // _describe takes what follows a colon for a description.
        case .zsh: word.replacing("\\", with: "\\\\").replacing(":", with: "\\:")
        default: word
        }
    }
}
