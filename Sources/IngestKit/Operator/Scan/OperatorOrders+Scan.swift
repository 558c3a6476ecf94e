internal import Synchronization

/// A scan: what is in the air, asked for its names.
extension OperatorOrders {
    /// Between two words of how far it is.
    private static let progressInterval = Duration.seconds(1)

    func scan(_ duration: Duration, _ job: OperatorJob) async {
        await gateway.hold { _ in false }
        let last: OperatorStep
        if let obstacle = await readsEnded(job) {
            last = obstacle
        } else if Task.isCancelled {
            last = Self.stopped
        } else {
            await gateway.setScansActively(true)
            last = await survey(duration, job)
            await gateway.setScansActively(false)
        }
        await gateway.release()
        await job.add(last)
    }

    private static let stopped = OperatorStep(.failed, "it was stopped", reason: .cancelled)

    /// - Returns: the last step.
    private func survey(_ duration: Duration, _ job: OperatorJob) async -> OperatorStep {
        let survey = SharedSurvey()
        let clock = ports.clock
        let end = clock.now + duration
        let progress = Task {
            repeat {
                var step = OperatorStep(.scanning)
                step.found = survey.state.withLock(\.count)
                step.seconds = max(0, Int(end.since(clock.now).components.seconds))
                await job.add(step)
            } while (try? await clock.sleep(for: Self.progressInterval)) != nil
        }
        var failure: ActiveScanError?
        do throws(ActiveScanError) {
            try await scanner.scanActively(for: duration) { advertisement in
                survey.state.withLock { $0.add(advertisement) }
            }
        } catch {
            failure = error
        }
        progress.cancel()
        await progress.value
        if Task.isCancelled { return Self.stopped }
        if let failure { return OperatorStep(.failed, failure.message, reason: failure.reason) }
        let bonds = await gateway.bonds
        let list = await gateway.allowList
        var step = OperatorStep(.done)
        step.devices = survey.state.withLock { $0.devices(allowed: list) { bonds.bonds(of: $0) } }
        return step
    }
}

/// A survey that the radio's thread adds to.
private final class SharedSurvey: Sendable {
    let state = Mutex(AirSurvey())
}

extension ActiveScanError {
    fileprivate var reason: FailureReason {
        switch self {
        case .busy: .busy
        case .noAdapter, .refused: .noAdapter
        }
    }
}
