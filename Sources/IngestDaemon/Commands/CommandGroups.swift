package import ArgumentParser

extension Commands {
    /// How the help and the manual group the commands, by their names.
    private static let groups: [(title: String, names: [String])] = [
        ("Set up", ["setup", "run", "check", "reload", "add", "remove", "peripherals"]),
        ("Devices", ["scan", "pair", "unpair", "read"]),
        ("Watch", ["status", "doctor", "console", "records", "failed"]),
        ("Entries", ["submit", "import"]),
        ("Destinations", ["sign-in", "sign-out", "user"]),
        ("Developers", ["decode", "receive"]),
    ]

    /// What a program is whose commands are `all`. A command that no group names works too, and is listed first.
    /// - Parameter run: the command that runs the gateway.
    package static func configuration(
        of program: String, abstract: String, run: any ParsableCommand.Type
    ) -> CommandConfiguration {
        let all = all(run: run)
        let grouped = groups.map { group in
            CommandGroup(
                name: group.title, subcommands: all.filter { group.names.contains($0._commandName) })
        }
        let names = groups.flatMap(\.names)
        return CommandConfiguration(
            commandName: program, abstract: abstract, version: Version.current,
            subcommands: all.filter { !names.contains($0._commandName) }, groupedSubcommands: grouped)
    }
}
