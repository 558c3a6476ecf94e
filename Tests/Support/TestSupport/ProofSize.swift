import FoundationEssentials

/// How much of a proof that takes long is done: all of it with `PROOF=whole` in the environment.
package enum ProofSize {
    package static let isWhole = ProcessInfo.processInfo.environment["PROOF"] == "whole"

    /// From one case to the next: 1 for the whole proof, else `short`.
    package static func stride(_ short: Int) -> Int { isWhole ? 1 : short }
}
