import FoundationEssentials

/// One person's access to Junction: what requests carry, Junction's id of the user, and the sources that this user is
/// connected to. Kept over restarts in its vault.
package actor JunctionSession {
    /// How requests are authenticated.
    package enum Access: Sendable {
        /// With a key that the closure reads anew.
        case apiKey(@Sendable () async throws -> String)
        /// In a session that a sign-in token has opened.
        case signInToken
    }

    /// How a session stands.
    package enum Standing: Sendable, Equatable {
        case open
        /// The server wants another sign-in of the same user.
        case parked
        /// Nobody has signed in.
        case closed
    }

    /// What is answered for the batch because a step of its way was not made.
    struct Obstacle: Error {
        let answer: DeliveryAnswer
    }

    nonisolated let settings: JunctionSettings
    nonisolated let client: JunctionClient
    let access: Access
    let vault: JunctionVault
    let told: @Sendable (String) -> Void

    /// Of this person at this place. It keeps its value over a suspension only where nothing says otherwise.
    var state: JunctionState?
    /// What the vault had of another person, or of another place.
    var former: JunctionState?
    /// When the access token ends, and when it is to be refreshed before that; nil: at once.
    var ends: MonotonicInstant?
    var refreshTime: MonotonicInstant?
    var refreshing: Task<Obstacle?, Never>?
    /// Counts what ends the tokens that a refresh under way is for.
    var generation = 0
    /// Counts what erases everything.
    var erasures = 0
    /// Whether the server has ended the session; its tokens are erased on the disk once that is told.
    var isOver = false
    private var hasToldOfVault = false
    var apiKey: String?
    /// When each source was last known to be connected.
    var connected: [String: MonotonicInstant] = [:]

    /// - Parameter told: what the operator reads, one sentence at a time.
    package init(
        settings: JunctionSettings, access: Access, transport: HTTPTransport, clock: any GatewayClock,
        vault: JunctionVault, told: @escaping @Sendable (String) -> Void
    ) {
        self.settings = settings
        self.access = access
        self.vault = vault
        self.told = told
        client = JunctionClient(transport: transport, clock: clock)
    }

    /// Takes up what the vault has. To be called once, before anything else.
    package func open() async {
        let vault = vault
        do {
            guard let bytes = try await BlockingCall.run({ try vault.load() }), !bytes.isEmpty else { return }
            let kept = try JSONDecoder().decode(JunctionState.self, from: Data(bytes))
            if kept.version == 1, kept.user == settings.user, kept.api == settings.api {
                state = kept
                takeUpTimes()
            } else {
                former = kept
            }
        } catch {
            told("what was kept of the session cannot be read")
        }
    }

    package var standing: Standing {
        guard case .signInToken = access else { return .open }
        guard let tokens = state?.tokens else { return .closed }
        return tokens.isParked ? .parked : .open
    }

    /// Junction's id of the user, where it has told it.
    package var knownUserID: String? { state?.userID }

    package nonisolated var takesToken: Bool {
        if case .signInToken = access { true } else { false }
    }

    /// Whether there is something to send requests with. Called once the end of a session was told, it erases the tokens.
    package func isOpen() async -> Bool {
        if isOver {
            isOver = false
            await eraseTokens()
        }
        return standing == .open
    }

    /// Reads the API key and the files of TLS anew before the next request.
    package func renew() async {
        await client.transport.refresh()
        apiKey = nil
    }

    // MARK: - Menstrual cycles

    /// What is known of menstrual cycles, and how often that was erased before.
    var cycles: (known: JunctionCycles, erasures: Int) { (state?.cycles ?? JunctionCycles(), erasures) }

    /// Keeps what is known of menstrual cycles, before the records count as taken.
    func add(_ entries: [JunctionCycles.Entry], after erasures: Int) async throws(Obstacle) {
        // Signed out meanwhile: nothing is kept any more.
        guard !entries.isEmpty, erasures == self.erasures else { return }
        let before = state?.cycles
        let all = (before ?? JunctionCycles()).adding(entries)
        guard all != before else { return }
        change { $0.cycles = all }
        guard let state else { return }
        do {
            try await keep(state)
        } catch {
            if erasures == self.erasures { change { $0.cycles = before } }
            throw Obstacle(
                answer: .unavailable(
                    httpStatus: nil, error: "the state directory takes no file", retryAfter: nil))
        }
    }

    // MARK: - Steps of a delivery

    /// Junction's id of the user. With an API key the user is made, unless there is one of this name.
    /// - Parameter limit: a request that would begin later is not made.
    func userID(before limit: MonotonicInstant) async throws(Obstacle) -> String {
        if let known = state?.userID { return known }
        let (client, settings, generation) = (client, settings, generation)
        let reply = try await authorized(before: limit) { credential in
            await client.makeUser(settings.user, at: settings, as: credential)
        }
        guard let id = JunctionClient.userID(in: reply) else {
            throw Obstacle(answer: Self.misplaced(reply, "does not take the user"))
        }
        // Signed out meanwhile: nothing is kept any more.
        guard generation == self.generation else { return id }
        change { $0.userID = id }
        await save()
        return id
    }

    /// Connects the user to a source, unless that was done.
    func connect(_ provider: String, of user: String, before limit: MonotonicInstant) async throws(Obstacle) {
        if state?.sources.contains(provider) == true { return }
        var text = JSONText()
        text.beginObject()
        text.member("user_id", user)
        text.endObject()
        let (client, body, generation) = (client, text.bytes, generation)
        let url = settings.api + "/v2/link/provider/manual/\(provider)"
        let reply = try await authorized(before: limit) { await client.post(body, to: url, as: $0) }
        // 409: it was connected before.
        guard reply.isTaken || reply.status == 409 else {
            throw Obstacle(answer: Self.misplaced(reply, "does not connect the source \(provider)"))
        }
        guard generation == self.generation else { return }
        connected[provider] = client.clock.now
        change { state in
            if !state.sources.contains(provider) { state.sources.append(provider) }
        }
        await save()
    }

    /// Forgets that a source is connected, where that was not seen within the last minute.
    /// - Returns: whether it is worth connecting it again.
    func mayBeDisconnected(_ provider: String) -> Bool {
        let now = client.clock.now
        if let seen = connected[provider], now.since(seen) < .seconds(60) { return false }
        connected[provider] = now
        state?.sources.removeAll { $0 == provider }
        return true
    }

    /// Makes a request, and once more where the credential is not accepted and there is another one.
    func authorized(
        before limit: MonotonicInstant,
        _ request: @Sendable (JunctionClient.Credential) async -> JunctionClient.Reply
    ) async throws(Obstacle) -> JunctionClient.Reply {
        let first = try await credential(before: limit)
        try check(limit)
        let reply = await request(first)
        guard case .unauthorized = reply.meaning else { return reply }
        guard let second = try await replacement(of: first, before: limit) else { return reply }
        try check(limit)
        return await request(second)
    }

    func check(_ limit: MonotonicInstant) throws(Obstacle) {
        guard client.clock.now < limit else {
            throw Obstacle(
                answer: .busy(
                    httpStatus: 200, error: "answers slowly: the rest of the batch goes later",
                    retryAfter: nil))
        }
    }

    /// What is refused here concerns no record.
    private static func misplaced(_ reply: JunctionClient.Reply, _ words: String) -> DeliveryAnswer {
        switch reply.meaning {
        case .taken, .refused, .inProgress, .tooLarge:
            .misplaced(httpStatus: reply.status, error: "\(words) (HTTP \(reply.status ?? 0))")
        default: reply.meaning
        }
    }

    // MARK: - Credentials

    private func credential(before limit: MonotonicInstant) async throws(Obstacle)
        -> JunctionClient.Credential
    {
        switch access {
        case .apiKey:
            if let apiKey { return .apiKey(apiKey) }
            return .apiKey(try await readKey())
        case .signInToken:
            let now = client.clock.now
            if refreshTime.map({ now >= $0 }) ?? true {
                do throws(Obstacle) {
                    try await refresh(before: limit)
                } catch {
                    // Early enough that a failure does not matter yet.
                    guard error.answer.isPassing, let ends, client.clock.now < ends else { throw error }
                    refreshTime = client.clock.now + .seconds(60)
                }
            }
            return try accessToken()
        }
    }

    /// Nil where there is no other one.
    private func replacement(
        of used: JunctionClient.Credential, before limit: MonotonicInstant
    ) async throws(Obstacle) -> JunctionClient.Credential? {
        switch access {
        case .apiKey:
            let hasNewFiles = await client.transport.refresh()
            let fresh = try await readKey()
            return hasNewFiles || fresh != used.text ? .apiKey(fresh) : nil
        case .signInToken:
            if state?.tokens?.access == used.text { try await refresh(before: limit) }
            return try accessToken()
        }
    }

    private func readKey() async throws(Obstacle) -> String {
        guard case .apiKey(let read) = access, let key = try? await read() else {
            throw Obstacle(
                answer: .unavailable(
                    httpStatus: nil, error: "the credential cannot be read", retryAfter: nil))
        }
        if let words = settings.contradiction("the API key", of: JunctionPlace(ofKey: key)) {
            throw Obstacle(answer: .misplaced(httpStatus: nil, error: words))
        }
        apiKey = key
        return key
    }

    private func accessToken() throws(Obstacle) -> JunctionClient.Credential {
        guard let tokens = state?.tokens, !tokens.isParked else {
            throw Obstacle(answer: .unauthorized(httpStatus: 401))
        }
        return .accessToken(tokens.access)
    }

    // MARK: - The vault

    func change(_ body: (inout JunctionState) -> Void) {
        var changed = state ?? JunctionState(user: settings.user, api: settings.api)
        body(&changed)
        state = changed
    }

    /// What cannot be kept is used all the same, and kept with the next change.
    func save() async {
        guard let state else { return }
        do {
            try await keep(state)
            hasToldOfVault = false
        } catch {
            if !hasToldOfVault { told("the session cannot be kept on the disk; a restart would lose it") }
            hasToldOfVault = true
        }
    }

    func keep(_ state: JunctionState) async throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let (vault, bytes) = (vault, Array(try encoder.encode(state)))
        try await BlockingCall.run { try vault.save(bytes) }
    }
}
