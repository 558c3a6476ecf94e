import Synchronization

/// The gateway's time zone, by the rules that the time zone database has now: an update of the database needs no restart.
package final class LocalZone: Sendable {
    private struct State {
        var rules: TimeZoneRules
        /// The file that they are from; nil until it was looked at.
        var identity: FileIdentity?
        var nextLook: MonotonicInstant
    }

    /// At most so often it is seen whether the file was replaced.
    static let lookInterval = Duration.seconds(3_600)

    private let file: String?
    private let now: @Sendable () -> MonotonicInstant
    private let state: Mutex<State>

    /// Rules that never change.
    package convenience init(_ rules: TimeZoneRules) {
        self.init(rules, file: nil, now: { MonotonicInstant(nanoseconds: 0) })
    }

    /// - Parameters:
    ///   - rules: those that the file had at the start.
    ///   - file: a TZif file. While there is none that can be read, the rules stay.
    package init(
        _ rules: TimeZoneRules, file: String?, now: @escaping @Sendable () -> MonotonicInstant
    ) {
        self.file = file
        self.now = now
        state = Mutex(State(rules: rules, nextLook: now()))
    }

    package var rules: TimeZoneRules {
        state.withLock { state in
            guard let file else { return state.rules }
            let now = now()
            guard now >= state.nextLook else { return state.rules }
            state.nextLook = now + Self.lookInterval
            let identity = FileIdentity(file)
            if identity != state.identity, let rules = try? TimeZoneRules(file: file) {
                (state.rules, state.identity) = (rules, identity)
            }
            return state.rules
        }
    }
}
