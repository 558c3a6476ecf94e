/// The driver's side of standing connection attempts (`ReadScheduler+Attempts.swift`).
struct StandingAttempts {
    /// The read of each peripheral that is waited for, from its attempt to its end.
    fileprivate var tasks: [DeviceAddress: Task<ReadSession.Outcome, Never>] = [:]
    /// Withdrawn before their read began.
    fileprivate var withdrawn: Set<DeviceAddress> = []
    /// Why the attempts that ended without a link did.
    fileprivate var ends: [DeviceAddress: ReadScheduler.AttemptEnd] = [:]

    mutating func withdraw(_ device: DeviceAddress) {
        if let task = tasks[device] { task.cancel() } else { withdrawn.insert(device) }
    }

    /// The request's link could not be made.
    mutating func note(_ error: LinkError, for request: PassiveGateway.Request) {
        guard request.isStanding || request.isDirected else { return }
        switch error {
        case .notReachable: ends[request.device] = .expired
        case .ended(.byGateway): ends[request.device] = .withdrawn
        default: ends[request.device] = .failed
        }
    }
}

extension StandingAttempts {
    /// How the attempt of an operator's read ended, if it came to no link.
    mutating func takeEnd(of device: DeviceAddress) -> ReadScheduler.AttemptEnd? {
        ends.removeValue(forKey: device)
    }
}

extension PassiveGateway {
    /// Waits for the peripheral and reads it; the wait alone can be withdrawn.
    func readStanding(_ request: Request) async -> ReadSession.Outcome {
        guard attempts.withdrawn.remove(request.device) == nil else {
            attempts.ends[request.device] = .withdrawn
            return .failed(.withdrawn)
        }
        let task = Task { await self.read(request) }
        attempts.tasks[request.device] = task
        defer { attempts.tasks[request.device] = nil }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Whether the link that was made is to be read over; for one that was waited for, tells the
    /// scheduler. One that came while it was withdrawn is not: its task can read no more.
    func isWanted(_ request: Request) -> Bool {
        if request.isDirected, !startForOperator(request) {
            attempts.ends[request.device] = .withdrawn
            return false
        }
        guard request.isStanding else { return true }
        guard !Task.isCancelled, let actions = scheduler.connected(request.device, at: ports.clock.now) else {
            attempts.ends[request.device] = .withdrawn
            return false
        }
        perform(actions)
        return true
    }

    /// Whether this was an attempt that ended without a link, which is no failed read; tells the
    /// scheduler.
    func hasNotConnected(_ request: Request) -> Bool {
        guard request.isStanding, scheduler.isAwaited(request.device) else { return false }
        let end = attempts.ends.removeValue(forKey: request.device) ?? .failed
        attempts.withdrawn.remove(request.device)
        perform(scheduler.attemptEnded(request.device, end, at: ports.clock.now))
        return true
    }
}
