import ArgumentParser
import Glibc
import SystemPackage

/// `ingestd`: everything that the commands share is in their names.
struct Ingestd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ingestd",
        abstract: "A gateway from Bluetooth LE health devices to a backend.",
        version: Version.current,
        subcommands: [
            Run.self, Check.self, Peripherals.self, Decode.self, Receive.self, Scan.self, Pair.self,
            Unpair.self, Read.self,
            SignIn.self, SignOut.self, User.self,
            Status.self, Records.self, Failed.self,
            Submit.self, Import.self,
        ])
}

// Before any of them reads a token or a value.
CoreDumps.forbid()

// Not `Ingestd.main()`: failures are told our way, in one line, with an exit code of sysexits(3).
do {
    var command = try Ingestd.parseAsRoot()
    if let asynchronous = command as? any AsynchronousCommand {
        try await asynchronous.serve()
    } else {
        try command.run()
    }
} catch let failure as CommandFailure {
    StandardError.print("ingestd: \(failure.message)")
    exit(failure.status.rawValue)
} catch let error as Errno {
    // Of standard output. A reader that went away has seen what it wanted.
    if error != .brokenPipe { StandardError.print("ingestd: standard output: \(error)") }
    exit(ExitStatus.outputFailed.rawValue)
} catch {
    let code = Ingestd.exitCode(for: error)
    // Help and version are no failures; a command that has said all it had to throws a bare code.
    if code.isSuccess { Ingestd.exit(withError: error) }
    if let line = Ingestd.message(for: error).split(separator: "\n").first {
        StandardError.print("ingestd: \(line) (see ingestd --help)")
    }
    exit(code.rawValue)
}
