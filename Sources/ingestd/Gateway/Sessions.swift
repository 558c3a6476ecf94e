import IngestKit

/// Signs in and out at the destinations that file under one person, as the operator asks.
struct Sessions: Sendable {
    private let users: [String: String]
    private let types: [String: Configuration.Destination.Kind]
    private let store: SQLiteRecordStore

    init(
        _ deliveries: [SessionDelivery], destinations: [Configuration.Destination], store: SQLiteRecordStore
    ) {
        users = Dictionary(uniqueKeysWithValues: deliveries.map { ($0.destination, $0.user) })
        types = Dictionary(uniqueKeysWithValues: destinations.map { ($0.name, $0.type) })
        self.store = store
    }

    func status(of destination: String) async throws -> ControlMessage.Session {
        let user = try self.user(of: destination)
        let state = try await store.session(of: destination)
        let isOpen = if case .open(user, _) = state { true } else { false }
        return ControlMessage.Session(
            destination: destination, isSignedIn: isOpen,
            isOfAnother: state.mayBeAnothers(than: user),
            waiting: try await store.pendingCount(of: destination))
    }

    /// - Parameter changesUser: whether it may be for another person than the last time, whose records that wait are set
    ///   aside then.
    func signIn(at destination: String, changesUser: Bool) async throws -> ControlMessage.SignedIn {
        let before = try await status(of: destination)
        if before.isOfAnother, !changesUser {
            throw ControlMessage.Refusal(
                error: "\(destination) was signed in for another user, and \(before.waiting) records wait",
                reason: "another-user")
        }
        return ControlMessage.SignedIn(
            destination: destination,
            setAside: try await store.signIn(try user(of: destination), at: destination))
    }

    func signOut(of destination: String) async throws -> ControlMessage.SignedOut {
        _ = try user(of: destination)
        return ControlMessage.SignedOut(
            destination: destination, cleared: try await store.signOut(of: destination))
    }

    /// The configured person of a destination that has sessions.
    private func user(of destination: String) throws(ControlMessage.Refusal) -> String {
        if let user = users[destination] { return user }
        guard let type = types[destination] else {
            throw ControlMessage.Refusal(
                error: "no destination of the configuration is named \(destination)", reason: "bad-target")
        }
        throw ControlMessage.Refusal(
            error: "\(destination) is of type \(type.rawValue), which nobody signs in to",
            reason: "bad-target")
    }
}
