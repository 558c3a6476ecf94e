import Dispatch
import Synchronization

/// Which files of the destinations' credentials and certificates the service cannot use, for the status.
final class CredentialStanding: Sendable {
    /// A command waits for the answer. A disk that hangs has files that nobody can read, too.
    private static let bound = Duration.seconds(1)

    private struct State {
        var destinations: [DestinationSettings]
        var problems: [String] = []
        /// Whether a look is under way; it may hang for as long as the disk does.
        var isLooking = false
    }

    private let credentials: Credentials
    private let state: Mutex<State>

    init(_ destinations: [DestinationSettings], credentials: Credentials) {
        self.credentials = credentials
        state = Mutex(State(destinations: destinations))
    }

    /// A reload has taken effect.
    func note(_ destinations: [DestinationSettings]) {
        state.withLock { $0.destinations = destinations }
    }

    /// One sentence a file, with what to do: as the files are now, or, if they cannot be looked at in time, as they were.
    func problems(by clock: any GatewayClock) async -> [String] {
        let isFree = state.withLock { state in
            defer { state.isLooking = true }
            return !state.isLooking
        }
        if isFree { _ = await Task { await look() }.result(within: Self.bound, by: clock) }
        return state.withLock { $0.problems }
    }

    /// Reads on a thread that may block.
    private func look() async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .utility).async { [self] in
                let destinations = state.withLock { $0.destinations }
                let found = destinations.flatMap(problems(of:))
                state.withLock { state in
                    state.problems = found
                    state.isLooking = false
                }
                continuation.resume()
            }
        }
    }

    private func problems(of settings: DestinationSettings) -> [String] {
        let unreadable = settings.credentials.compactMap { name in
            do throws(CredentialError) {
                _ = try credentials.read(name)
                return nil as String?
            } catch {
                return error.description
            }
        }
        let ofTLS = TLSFiles.problems(settings.transport, credentials).map {
            "\($0.key.rawValue): \($0.message)"
        }
        return (unreadable + ofTLS).map { "\(settings.name): \($0)" }
    }
}
