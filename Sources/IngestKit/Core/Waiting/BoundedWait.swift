extension Task where Success: Sendable {
    /// What it comes to, or nil after `bound`: it goes on then. It does so too, and is waited for no less, where whoever
    /// waits is cancelled.
    package func result(
        within bound: Duration, by clock: any GatewayClock
    ) async -> Result<Success, Failure>? {
        typealias Outcome = Result<Success, Failure>
        let (outcomes, gate) = AsyncStream<Outcome>.makeStream()
        let limit = Task<Void, Never> {
            try? await clock.sleep(for: bound)
            gate.finish()
        }
        Task<Void, Never> {
            gate.yield(await self.result)
            gate.finish()
        }
        defer { limit.cancel() }
        return await Task<Outcome?, Never> {
            for await outcome in outcomes { return outcome }
            return nil
        }.value
    }
}
