/// How much is taken of one device in a day (`DailyAllowance`).
extension PassiveGateway {
    /// When the device's day ends; nil if something may still be committed in it, or the read commits nothing.
    func endOfDay(_ request: Request, _ memory: DeviceMemory) -> MonotonicInstant? {
        guard !request.isForClock, request.observer?.isDryRun != true else { return nil }
        let day = DailyAllowance(memory.allowance, bootID: environment.factory.bootID, at: ports.clock.now)
        return day.isSpent ? day.end : nil
    }

    /// The device is not read before its day is over. Tells of it, once.
    func holdBack(_ request: Request, until end: MonotonicInstant) {
        guard spent.note(request.device, until: end) else { return }
        ports.events.emit(
            .readFailed(
                request.entry.reference, error: DailyAllowance.message(until: end, at: ports.clock.now),
                attempt: request.attempt))
    }
}
