extension JunctionSession {
    /// Refreshes the tokens; whoever comes meanwhile waits for the same refresh. It goes on when the delivery that
    /// wanted it is cancelled: what it brings replaces tokens that are good no longer.
    func refresh(before limit: MonotonicInstant) async throws(Obstacle) {
        let running: Task<Obstacle?, Never>
        if let refreshing {
            running = refreshing
        } else {
            try check(limit)
            guard let tokens = state?.tokens, !tokens.isParked else {
                throw Obstacle(answer: .unauthorized(httpStatus: 401))
            }
            let generation = generation
            running = Task { await self.refresh(tokens, generation) }
            refreshing = running
        }
        if let obstacle = await running.value { throw obstacle }
    }

    /// Waits for the refresh that is under way, at the end of the process: what it brings is to be kept first.
    package func settle(within bound: Duration) async {
        _ = await refreshing?.result(within: bound, by: client.clock)
    }

    func refresh(_ tokens: JunctionTokens, _ generation: Int) async -> Obstacle? {
        let reply = await client.tokens(
            [("grant_type", "refresh_token"), ("refresh_token", tokens.refresh)], at: settings.tokenURL)
        defer { refreshing = nil }
        // Signed out, or in anew, meanwhile.
        guard generation == self.generation else { return nil }
        if reply.isTaken, let answer = JunctionTokenAnswer(reply.body) {
            await take(answer)
            return nil
        }
        switch (reply.meaning, JunctionRefusal(reply.body)?.detail.errorType) {
        case (.taken, _), (.unavailable, _), (.busy, _): break
        case (_, "invalid_token"):
            state?.tokens = nil
            isOver = true
            return Obstacle(answer: .sessionEnded(httpStatus: reply.status ?? 400))
        case (_, "reauthentication_required"):
            change { $0.tokens?.isParked = true }
            await save()
            return Obstacle(answer: Self.parked(httpStatus: reply.status ?? 400))
        default: break
        }
        return Obstacle(answer: Self.unavailable(reply, "the session could not be refreshed"))
    }

    static func parked(httpStatus: Int) -> DeliveryAnswer {
        .unauthorized(httpStatus: httpStatus, error: "wants the person to sign in again")
    }

    static func unavailable(_ reply: JunctionClient.Reply, _ words: String) -> DeliveryAnswer {
        switch reply.meaning {
        case .unavailable(nil, let error, let retryAfter):
            .unavailable(httpStatus: nil, error: "\(words): \(error)", retryAfter: retryAfter)
        case .busy(let status, _, let retryAfter):
            .busy(httpStatus: status, error: "\(words) (HTTP \(status ?? 429))", retryAfter: retryAfter)
        default:
            .unavailable(
                httpStatus: reply.status, error: "\(words) (HTTP \(reply.status ?? 0))", retryAfter: nil)
        }
    }

    func take(_ answer: JunctionTokenAnswer) async {
        let clock = client.clock
        let lifetime = Duration.seconds(max(0, min(answer.lifetime, 30 * 86_400)))
        let wall = clock.trustedWallNanoseconds.map { $0 / 1_000_000_000 + lifetime.components.seconds }
        change {
            $0.tokens = JunctionTokens(
                access: answer.access, refresh: answer.refresh, expires: wall ?? 0, isParked: false)
        }
        setTimes(left: lifetime)
        await save()
    }

    /// After a restart the wall clock alone tells how long the tokens have been there.
    func takeUpTimes() {
        let clock = client.clock
        guard let tokens = state?.tokens, tokens.expires > 0,
            let now = clock.trustedWallNanoseconds.map({ $0 / 1_000_000_000 }), tokens.expires > now
        else { return }
        setTimes(left: .seconds(min(tokens.expires - now, 30 * 86_400)))
    }

    /// Five minutes before the end, or at half of what is left where that is less.
    func setTimes(left: Duration) {
        let now = client.clock.now
        ends = now + left
        refreshTime = now + max(left - .seconds(300), left / 2)
    }
}

extension DeliveryAnswer {
    /// Whether the same may do a little later.
    var isPassing: Bool {
        switch self {
        case .busy, .unavailable: true
        default: false
        }
    }

    var message: String {
        switch self {
        case .busy(_, let error, _), .unavailable(_, let error, _): error
        default: ""
        }
    }
}
