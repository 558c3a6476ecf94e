package import ArgumentParser
import Glibc
import SystemPackage

/// The commands of the program.
package enum Commands {
    /// All of them, as the help lists them.
    /// - Parameter run: the one that runs the gateway.
    package static func all(run: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
        [
            run, Setup.self, Check.self, Doctor.self, Reload.self, Add.self, Remove.self, Peripherals.self,
            Decode.self,
            Receive.self,
            Scan.self, Pair.self,
            Unpair.self, Read.self,
            SignIn.self, SignOut.self, User.self,
            Status.self, Console.self, Records.self, Failed.self,
            Submit.self, Import.self,
        ]
    }
}

/// Performs the command that the arguments of the process name, and exits if it fails: with one line on standard error
/// and a status of sysexits(3).
package func perform<Root: ParsableCommand>(_ root: Root.Type) async {
    // Before any of them reads a token or a value.
    CoreDumps.forbid()
    let name = root.configuration.commandName ?? "ingestd"
    do {
        var command = try root.parseAsRoot()
        if let asynchronous = command as? any AsynchronousCommand {
            try await asynchronous.serve()
        } else {
            try command.run()
        }
    } catch let failure as CommandFailure {
        StandardError.print("\(name): \(failure.message)")
        exit(failure.status.rawValue)
    } catch let error as Errno {
        // Of standard output. A reader that went away has seen what it wanted.
        if error != .brokenPipe { StandardError.print("\(name): standard output: \(error)") }
        exit(ExitStatus.outputFailed.rawValue)
    } catch {
        let code = root.exitCode(for: error)
        // Help and version are no failures; a command that has said all it had to throws a bare code.
        if code.isSuccess { root.exit(withError: error) }
        let word = CommandLine.arguments.dropFirst().first ?? ""
        let names = root.configuration.subcommands.map { $0.configuration.commandName ?? "" }
        let known = names.firstIndex(of: word)
        if known == nil, !word.isEmpty, !word.hasPrefix("-") {
            let near = Spelling.nearest(to: word, among: names).map { "; did you mean \($0)?" } ?? ""
            StandardError.print(
                "\(name): there is no command \(TerminalText.line(word))\(near) (\(name) --help lists all)")
            exit(ExitStatus.usage.rawValue)
        }
        let command = known == nil ? name : "\(name) \(word)"
        if let line = root.message(for: error).split(separator: "\n").first {
            StandardError.print("\(name): \(line) (see \(command) --help)")
        }
        // Whoever gives a command no arguments where it needs some has not seen its help yet.
        if let known, CommandLine.arguments.count == 2, code == .validationFailure {
            StandardError.print("\n" + root.helpMessage(for: root.configuration.subcommands[known]))
        }
        exit(code.rawValue)
    }
}
