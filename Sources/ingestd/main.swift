import ArgumentParser
import IngestDaemon

/// `ingestd`: everything that the commands share is in their names.
struct Ingestd: ParsableCommand {
    static let configuration = Commands.configuration(
        of: "ingestd", abstract: "A gateway from Bluetooth LE health devices to a backend.", run: Run.self)
}

await perform(Ingestd.self)
