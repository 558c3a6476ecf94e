import ArgumentParser
import Testing

@testable import IngestDaemon

/// The commands, as their arguments are read.
@Suite struct CommandTests {
    private struct Root: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "ingestd", subcommands: Commands.all(run: Check.self))
    }

    /// What the installed program's own root has in place of `check`, which is here twice, is `run`.
    @Test func eachCommandHasItsOwnNameAndSaysWhatItDoes() {
        let commands = Commands.all(run: Check.self).dropFirst()
        let names = commands.map { $0._commandName }
        #expect(Set(names).count == names.count)
        for command in commands {
            #expect(!command.configuration.abstract.isEmpty, "\(command)")
        }
    }

    @Test(
        arguments: [
            ["decode"], ["decode", "2A35"], ["pair"], ["submit", "--colour", "red"], ["records", "--since"],
            ["nonsense"],
        ])
    func whatIsMissingOrUnknownIsAnErrorOfUsage(arguments: [String]) {
        do {
            var command = try Root.parseAsRoot(arguments)
            // What it parses without an operand it refuses itself.
            try command.run()
            Issue.record("\(arguments) was taken")
        } catch let failure as CommandFailure {
            #expect(failure.status == .usage)
        } catch {
            #expect(Root.exitCode(for: error) == .validationFailure)
        }
    }
}
