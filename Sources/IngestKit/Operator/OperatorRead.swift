/// A read that an operator asks for.
package struct OperatorRead: Sendable, Equatable {
    package var target: PairingTarget
    /// How long the device is waited for.
    package var timeout: Duration
    /// Whether nothing may come of it: nothing is queued, confirmed, marked or set.
    package var isDryRun: Bool

    package init(target: PairingTarget, timeout: Duration, isDryRun: Bool) {
        self.target = target
        self.timeout = timeout
        self.isDryRun = isDryRun
    }
}
