/// Signs in and out at the destinations that file under one person, as the operator asks.
struct Sessions: Sendable {
    private let users: [String: String]
    private let junctions: [String: JunctionSession]
    private let types: [String: String]
    private let authentication: [String: [AuthenticationKind]]
    private let queue: SQLiteQueue
    private let clock: any GatewayClock
    private let signIns = SignIns()

    init(
        _ deliveries: [Delivery], destinations: [DestinationSettings], queue: SQLiteQueue,
        clock: any GatewayClock
    ) {
        users = Dictionary(
            uniqueKeysWithValues: destinations.compactMap { destination in
                destination.form.person.map { (destination.name, $0) }
            })
        junctions = Dictionary(
            uniqueKeysWithValues: deliveries.compactMap { delivery in
                delivery.session.map { (delivery.destination, $0) }
            })
        types = Dictionary(uniqueKeysWithValues: destinations.map { ($0.name, $0.type.typeName) })
        authentication = Dictionary(uniqueKeysWithValues: destinations.map { ($0.name, $0.authentication) })
        self.queue = queue
        self.clock = clock
    }

    func status(of destination: String) async throws -> ControlMessage.Session {
        let user = try self.user(of: destination)
        let state = try await queue.sessions.session(of: destination)
        let needsToken = await lacksSession(at: destination)
        let isOpen = if case .open(user, _) = state { !needsToken } else { false }
        return ControlMessage.Session(
            destination: destination, user: user,
            userID: await junctions[destination]?.knownUserID, lastUser: state.account,
            authentication: (authentication[destination] ?? []).map(\.rawValue), isSignedIn: isOpen,
            needsToken: needsToken,
            isOfAnother: state.mayBeAnothers(than: user),
            waiting: try await queue.overview.pendingCount(of: destination))
    }

    /// Whether records are delivered there as far as a session goes; nil for a destination that has none.
    /// - Parameter state: what the queue says of its session.
    func isSignedIn(at destination: String, _ state: SessionState) async -> Bool? {
        guard let user = users[destination] else { return nil }
        guard case .open(user, _) = state else { return false }
        return await !lacksSession(at: destination)
    }

    /// Whether its server has none with us any more.
    private func lacksSession(at destination: String) async -> Bool {
        guard let junction = junctions[destination] else { return false }
        return await junction.standing != .open
    }

    /// - Parameters:
    ///   - changesUser: whether it may be for another person than the last time, whose records that wait are set aside
    ///     then.
    ///   - token: a sign-in token, for a destination that takes one.
    func signIn(
        at destination: String, changesUser: Bool, token: String?
    ) async throws -> ControlMessage.SignedIn {
        let before = try await status(of: destination)
        if before.isOfAnother, !changesUser {
            throw ControlMessage.Refusal(
                error: "\(destination) was signed in for another user, and "
                    + before.waiting.counted("record waits", "records wait"),
                reason: .anotherUser)
        }
        return try await signIns.run(at: destination, token: token, by: clock) {
            try await exchange(token, at: destination)
            return ControlMessage.SignedIn(
                destination: destination,
                setAside: try await queue.sessions.signIn(try user(of: destination), at: destination))
        }
    }

    func signOut(of destination: String) async throws -> ControlMessage.SignedOut {
        _ = try user(of: destination)
        // Secrets first: should it end here, there is nothing left to deliver with.
        await junctions[destination]?.signOut()
        let cleared = try await queue.sessions.signOut(of: destination)
        return ControlMessage.SignedOut(destination: destination, cleared: cleared)
    }

    /// Opens a session with the token, or leaves the one that there is.
    private func exchange(_ token: String?, at destination: String) async throws(ControlMessage.Refusal) {
        guard let junction = junctions[destination], junction.takesToken else {
            guard token == nil else {
                throw ControlMessage.Refusal(
                    error: "\(destination) takes no sign-in token", reason: .badTarget)
            }
            await junctions[destination]?.startAnew()
            return
        }
        guard let token else {
            if await junction.standing == .open { return }
            throw ControlMessage.Refusal(
                error:
                    "\(destination) needs a sign-in token: name a file with --token, or - for standard input",
                reason: .badTarget)
        }
        let parsed: JunctionSignInToken
        do throws(JunctionSignInToken.Malformed) {
            parsed = try JunctionSignInToken(token)
        } catch {
            throw ControlMessage.Refusal(error: "this is no sign-in token of Junction", reason: .badToken)
        }
        do throws(JunctionSignInError) {
            try await junction.signIn(parsed)
        } catch {
            throw ControlMessage.Refusal(error, destination: destination)
        }
    }

    /// The configured person of a destination that has sessions.
    private func user(of destination: String) throws(ControlMessage.Refusal) -> String {
        if let user = users[destination] { return user }
        guard let type = types[destination] else {
            throw ControlMessage.Refusal(
                error: "no destination of the configuration is named \(destination)", reason: .badTarget)
        }
        throw ControlMessage.Refusal(
            error: "\(destination) is of type \(type), which nobody signs in to",
            reason: .badTarget)
    }
}

extension ControlMessage.Refusal {
    fileprivate init(_ error: JunctionSignInError, destination: String) {
        switch error {
        case .otherPlace(let words): self.init(error: words, reason: .tokenOfAnotherPlace)
        case .otherUser:
            self.init(
                error:
                    "the token is for another user than the one whom \(destination) is signed in for; sign out "
                    + "first, or name the other one as user",
                reason: .tokenOfAnotherUser)
        case .formerUser:
            self.init(
                error:
                    "the token is for the user of before, and the configuration of \(destination) names another",
                reason: .tokenOfAnotherUser)
        case .notKept:
            self.init(error: "the state directory takes no file: the token was not used", reason: .storeError)
        case .refused:
            self.init(
                error: "\(destination) does not accept the token: it was used before, or has expired",
                reason: .tokenRefused)
        case .unavailable(let words): self.init(error: words, reason: .unreachable)
        }
    }
}
