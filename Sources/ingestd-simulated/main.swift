import ArgumentParser
import IngestDaemon

/// `ingestd-simulated`: the gateway on simulated peripherals, for the demo, tests and benchmarks. It is not installed.
struct IngestdSimulated: ParsableCommand {
    static let configuration = Commands.configuration(
        of: "ingestd-simulated",
        abstract: "ingestd on simulated peripherals, whose records are marked as such.",
        run: SimulatedRun.self)
}

await perform(IngestdSimulated.self)
