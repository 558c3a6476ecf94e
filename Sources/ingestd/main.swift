import ArgumentParser
import Glibc

/// `ingestd`: everything that the commands share is in their names.
struct Ingestd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ingestd",
        abstract: "A gateway from Bluetooth LE health devices to a backend.",
        version: Version.current,
        subcommands: [Run.self, Check.self, Decode.self, Receive.self])
}

// Not `Ingestd.main()`: failures are told our way, in one line, with an exit code of sysexits(3).
func execute(_ command: any ParsableCommand) async throws {
    var command = command
    if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
    } else {
        try command.run()
    }
}

do {
    try await execute(Ingestd.parseAsRoot())
} catch let failure as CommandFailure {
    StandardError.print("ingestd: \(failure.message)")
    exit(failure.status.rawValue)
} catch {
    Ingestd.exit(withError: error)
}
