extension JunctionSession {
    /// Exchanges a sign-in token, which is good for nothing afterwards, and keeps what it brings.
    package func signIn(_ token: JunctionSignInToken) async throws(JunctionSignInError) {
        if let words = settings.contradiction("the sign-in token", of: token.place) {
            throw .otherPlace(words)
        }
        try checkUser(token.userID)
        // A refresh under way would end the tokens that come now.
        if let refreshing { _ = await refreshing.value }
        try checkUser(token.userID)
        let vault = vault
        let before = state ?? former
        do {
            // The token is not given away for something that cannot be kept.
            if let before {
                try await keep(before)
            } else {
                try await BlockingCall.run { try vault.save([]) }
            }
        } catch {
            throw .notKept
        }
        let reply = await client.tokens(
            [
                ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
                ("subject_token_type", "urn:junction:sign-in-token"), ("subject_token", token.userToken),
            ], at: settings.tokenURL)
        guard reply.isTaken, let answer = JunctionTokenAnswer(reply.body) else {
            if before == nil { try? await BlockingCall.run { try vault.erase() } }
            if JunctionRefusal(reply.body)?.detail.errorType == "invalid_token" { throw .refused }
            throw .unavailable(Self.unavailable(reply, "the sign-in token could not be exchanged").message)
        }
        generation += 1
        isOver = false
        former = nil
        connected = [:]
        state = JunctionState(
            user: settings.user, api: settings.api, userID: token.userID, cycles: state?.cycles)
        await take(answer)
    }

    private func checkUser(_ id: String) throws(JunctionSignInError) {
        if let known = state?.userID, known != id { throw .otherUser }
        // The configuration names another person than before, and the token is still that one's.
        if let former, former.api == settings.api, former.user != settings.user, former.userID == id {
            throw .formerUser
        }
    }

    /// With an API key, the user and the sources are looked up again.
    package func startAnew() async {
        guard case .apiKey = access else { return }
        apiKey = nil
        connected = [:]
        guard state != nil else { return }
        change {
            $0.userID = nil
            $0.sources = []
        }
        await save()
    }

    /// Erases everything, on the disk too.
    package func signOut() async {
        generation += 1
        isOver = false
        await erase()
    }

    /// Whose session it was stays known: what waits is that user's, and a token of another one is not for it.
    func eraseTokens() async {
        ends = nil
        refreshTime = nil
        connected = [:]
        change {
            $0.tokens = nil
            $0.sources = []
        }
        await save()
    }

    func erase() async {
        erasures += 1
        state = nil
        former = nil
        ends = nil
        refreshTime = nil
        apiKey = nil
        connected = [:]
        let vault = vault
        do {
            try await BlockingCall.run { try vault.erase() }
        } catch {
            told("what was kept of the session cannot be erased")
        }
    }
}

/// Why a sign-in token opened no session.
package enum JunctionSignInError: Error, Sendable, Equatable {
    /// It is of another environment or region; in our words.
    case otherPlace(String)
    /// The session is another user's.
    case otherUser
    /// The configuration names another user than before, whose token it still is.
    case formerUser
    /// The state directory takes nothing.
    case notKept
    /// It was used before, has expired, or is none.
    case refused
    /// In our words.
    case unavailable(String)
}
