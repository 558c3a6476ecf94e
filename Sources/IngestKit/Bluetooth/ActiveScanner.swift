/// The port to an active scan: it asks the devices in range what they say of themselves, their names above
/// all. For an operator who looks for a device; reading listens passively.
package protocol ActiveScanner: Sendable {
    /// Scans actively on each adapter in use for `duration`, less when the task is cancelled, and ends the scan
    /// before it returns. Passive listening goes on afterwards.
    /// - Parameter found: gets each advert that is heard meanwhile, with the answer to the scan request where
    ///   there was one. It must not block.
    func scanActively(
        for duration: Duration, found: @escaping @Sendable (Advertisement) -> Void
    ) async throws(ActiveScanError)
}

/// Why there is no active scan.
package enum ActiveScanError: Error, Sendable, Equatable {
    /// Another one of this gateway is under way.
    case busy
    /// There is no adapter, or none that is in use.
    case noAdapter
    /// No adapter scans; our words for why the first does not.
    case refused(String)

    /// One sentence that says what to do.
    package var message: String {
        switch self {
        case .busy: "another scan is under way: try again when it has ended"
        case .noAdapter: "there is no Bluetooth adapter that bluetooth.adapter allows: plug one in"
        case .refused(let words): "the adapter does not scan: \(words)"
        }
    }
}
