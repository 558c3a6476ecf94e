import ArgumentParser
import IngestDaemon

/// `ingestd`: everything that the commands share is in their names.
struct Ingestd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ingestd",
        abstract: "A gateway from Bluetooth LE health devices to a backend.",
        version: Version.current,
        subcommands: Commands.all(run: Run.self))
}

await perform(Ingestd.self)
