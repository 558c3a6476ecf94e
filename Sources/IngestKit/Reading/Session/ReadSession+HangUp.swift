extension ReadSession {
    /// How long the peripheral may take to hang up after its last value. Cuffs show the transfer's end
    /// for some seconds first.
    static let hangUpTimeout = Duration.seconds(30)

    /// Leaves it to a peripheral that wants so to end the link; what it still sends is taken. Recent
    /// Omron cuffs take a link that the central ends for one that broke, and forget their bond.
    func awaitHangUp() async throws(SessionError) {
        guard entry.model.has(.bondFirstThenKeepLink) else { return }
        let deadline = environment.clock.now + Self.hangUpTimeout
        while let value = try await values.next(within: max(.zero, deadline.since(environment.clock.now))) {
            try await take(value)
        }
    }
}
