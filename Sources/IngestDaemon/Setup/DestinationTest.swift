import FoundationEssentials
import Glibc

/// Tries a destination out before it is written, without leaving anything there.
protocol DestinationTest: Sendable {
    /// - Parameter configuration: with the destination.
    func findings(of settings: DestinationSettings, in configuration: Configuration) async -> [Finding]
}

/// By the probe of `doctor`.
struct ProbeTest: DestinationTest {
    func findings(of settings: DestinationSettings, in configuration: Configuration) async -> [Finding] {
        let probe = DestinationProbe(
            surroundings: DestinationProbe.Surroundings(
                configuration, credentials: Credentials(environment: ProcessInfo.processInfo.environment),
                mayReadAll: geteuid() == 0))
        return await probe.findings(of: settings)
    }
}
