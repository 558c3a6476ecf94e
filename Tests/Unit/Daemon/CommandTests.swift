import ArgumentParser
import FoundationEssentials
import TestSupport
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

    private struct Program: ParsableCommand {
        static let configuration = Commands.configuration(of: "ingestd", abstract: "", run: Run.self)
    }

    @Test func theHelpHasEachCommandInOneGroup() {
        let grouped = Program.configuration.groupedSubcommands.flatMap(\.subcommands).map { $0._commandName }
        #expect(Program.configuration.ungroupedSubcommands.isEmpty)
        #expect(grouped.sorted() == Commands.all(run: Run.self).map { $0._commandName }.sorted())
        #expect(Program.helpMessage().contains("DEVICES SUBCOMMANDS:"))
    }

    /// Those of a command stand at its end. What a pipe brings to it, and from where its input comes, is the shell's.
    @Test func theExamplesOfEachCommandAreTakenAsTheyAreWritten() throws {
        var commands = Commands.all(run: Run.self)
        commands += commands.flatMap { $0.configuration.subcommands }
        for command in commands {
            let parts = command.configuration.discussion.split(separator: "For example:\n\n")
            let lines = try #require(parts.last, "\(command)").split(separator: "\n")
            #expect(parts.count <= 2 && (1...3).contains(lines.count), "\(command)")
            for line in lines {
                let words = try #require(Submit.words(of: String(line)))
                let start = try #require(words.firstIndex(of: "ingestd"), "\(line)")
                let arguments = words[(start + 1)...].prefix { $0 != "<" }
                #expect(throws: Never.self, "\(line)") { try Program.parseAsRoot(Array(arguments)) }
                #expect(words.contains(command._commandName), "\(line)")
            }
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
    /// Whether nobody listens at a socket is known at once, and is no reason to try for the 5 s that a connection may
    /// take. The shortest of three counts, because a busy machine may stop the test for long.
    @Test(arguments: [false, true])
    func aServiceThatDoesNotRunIsNotWaitedFor(hasLeftItsSocket: Bool) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/" + ControlSocket.name
            // A connection to it is refused, as one to a socket that its service has left.
            if hasLeftItsSocket { try Data().write(to: URL(fileURLWithPath: path)) }
            var shortest = Duration.seconds(60)
            for _ in 0..<3 {
                let client = ControlClient(path: path)
                let begin = ContinuousClock.now
                do throws(ControlClient.Failure) {
                    _ = try await client.status()
                    Issue.record("somebody answers")
                } catch {
                    if case .noService = error {} else { Issue.record("\(error)") }
                }
                shortest = min(shortest, ContinuousClock.now - begin)
                await client.close()
            }
            #expect(shortest < .seconds(4))
        }
    }
}
