import ArgumentParser
import IngestDaemon

/// `ingestd-simulated`: the gateway on simulated peripherals, for the demo, tests and benchmarks. It is not installed.
struct IngestdSimulated: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ingestd-simulated",
        abstract: "ingestd on simulated peripherals, whose records are marked as such.",
        version: Version.current,
        subcommands: Commands.all(run: SimulatedRun.self))
}

await perform(IngestdSimulated.self)
