/// What goes over the control socket: the bodies of requests and answers, in JSON.
enum ControlMessage {
    /// POST /v1/pairings, POST /v1/unpair.
    struct Target: Codable, Sendable {
        /// A catalogue ID or an address.
        var target: String

        func parsed() throws(Refusal) -> PairingTarget {
            guard let target = PairingTarget(target) else {
                throw Refusal(
                    error: "expected a catalogue ID such as 1001, or an address such as F1:F1:F1:F1:F1:F1",
                    reason: .badTarget)
            }
            return target
        }
    }

    /// The answer where there is nothing to tell.
    struct Done: Codable, Sendable {}

    /// The answer to POST /v1/unpair.
    struct Unpaired: Codable, Sendable {
        /// Identity addresses of the devices.
        var addresses: [BluetoothAddress]
    }

    /// The answer to GET /v1/sessions/DESTINATION.
    struct Session: Codable, Sendable {
        var destination: String
        /// Whom the configuration names.
        var user: String
        /// The destination's own id of whom it is signed in for, where it has told one.
        var userID: String?
        /// For whom it is signed in, or was the last time.
        var lastUser: String?
        /// How its requests show who sends them: `AuthenticationKind`.
        var authentication: [String]
        /// Whether it is signed in for the configured user.
        var isSignedIn: Bool
        /// Whether a sign-in needs a token of the user's: not where the tokens are there, and only the queue has none.
        var needsToken: Bool
        /// Whether the last session was another user's than the configured one's.
        var isOfAnother: Bool
        /// Records that wait.
        var waiting: Int

        enum CodingKeys: String, CodingKey {
            case destination, user, authentication, waiting
            case userID = "user_id"
            case lastUser = "last_user"
            case isSignedIn = "signed_in"
            case needsToken = "needs_token"
            case isOfAnother = "another_user"
        }
    }

    /// POST /v1/sessions/DESTINATION/sign-in.
    struct SignIn: Codable, Sendable {
        /// Whether it may be for another user than the last time.
        var changesUser: Bool
        /// A sign-in token.
        var token: String?

        enum CodingKeys: String, CodingKey {
            case token
            case changesUser = "changes_user"
        }
    }

    /// The answer to it.
    struct SignedIn: Codable, Sendable {
        var destination: String
        /// Records that waited for another user.
        var setAside: Int

        enum CodingKeys: String, CodingKey {
            case destination
            case setAside = "set_aside"
        }
    }

    /// The answer to POST /v1/sessions/DESTINATION/sign-out.
    struct SignedOut: Codable, Sendable {
        var destination: String
        /// Records that were given up.
        var cleared: Int
    }

    /// The answer to what is refused.
    struct Refusal: Codable, Sendable, Error {
        /// One sentence that says what to do.
        var error: String
        var reason: FailureReason

        static let malformed = Refusal(error: "the request is not understood", reason: .badRequest)
    }
}
