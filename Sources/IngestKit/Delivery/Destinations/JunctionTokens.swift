import FoundationEssentials

/// A sign-in token of Junction, taken apart: base64 of JSON with a JWT, which says for which user it is. It is good for
/// one exchange.
package struct JunctionSignInToken: Sendable {
    package struct Malformed: Error, Sendable {}

    /// Longer ones are none, in bytes.
    package static let maximumSize = 8 * 1024

    /// Junction's id of the user, in lower case.
    let userID: String
    /// Where it was made; nil where its issuer has another form.
    let place: JunctionPlace?
    /// What is exchanged.
    let userToken: String

    /// - Parameter text: as Junction gives it; blanks around it do not matter. Its signature is Junction's to verify.
    package init(_ text: String) throws(Malformed) {
        struct Outer: Decodable {
            let userToken: String

            enum CodingKeys: String, CodingKey {
                case userToken = "user_token"
            }
        }
        struct Claims: Decodable {
            let iss: String
            let uid: String
        }
        let trimmed = String(text.utf8.filter { $0 > 0x20 }.map { Character(UnicodeScalar($0)) })
        guard (1...Self.maximumSize).contains(trimmed.utf8.count), let outer: Outer = Self.decode(trimmed)
        else { throw Malformed() }
        let parts = outer.userToken.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let claims: Claims = Self.decode(String(parts[1])),
            let id = JunctionUserID(claims.uid)
        else { throw Malformed() }
        userID = id.text
        place = JunctionPlace(ofIssuer: claims.iss)
        userToken = outer.userToken
    }

    /// Reads JSON in base64, of the usual letters or of those for URLs (RFC 4648 section 5).
    private static func decode<Value: Decodable>(_ base64: String) -> Value? {
        var usual = base64.replacing("-", with: "+").replacing("_", with: "/")
        usual += String(repeating: "=", count: (4 - usual.utf8.count % 4) % 4)
        return Data(base64Encoded: usual).flatMap { try? JSONDecoder().decode(Value.self, from: $0) }
    }
}

/// Junction's id of a user: a UUID, here in lower case. It becomes part of paths.
struct JunctionUserID: Hashable {
    let text: String

    init?(_ text: String) {
        guard let uuid = UUID(uuidString: text) else { return nil }
        self.text = uuid.uuidString.lowercased()
    }
}

/// The tokens of a session. Each refresh gives both anew, and ends the former ones.
struct JunctionTokens: Codable, Equatable {
    var access: String
    var refresh: String
    /// When the access token ends, in seconds since 1970; 0 where the clock was not known to be right.
    var expires: Int64
    /// Whether the server wants another sign-in of the same user before it refreshes again.
    var isParked: Bool
}

/// What the server answers to an exchange or a refresh.
struct JunctionTokenAnswer: Decodable {
    let access: String
    let refresh: String
    /// How long the access token is good for, in seconds; 0 where that is not told, so that it is refreshed before the
    /// next request.
    let lifetime: Int64

    private enum CodingKeys: String, CodingKey {
        case access = "access_token"
        case refresh = "refresh_token"
        case lifetime = "expires_in"
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        access = try members.decode(String.self, forKey: .access)
        refresh = try members.decode(String.self, forKey: .refresh)
        // The SDK of one platform reads it as a number, the other's as a text. Whatever it is, the former tokens are good
        // for nothing any more.
        let number =
            (try? members.decode(Double.self, forKey: .lifetime))
            ?? (try? members.decode(String.self, forKey: .lifetime)).flatMap { Double($0) }
        lifetime = number.flatMap { Int64(exactly: $0.rounded(.down)) } ?? 0
    }

    init?(_ body: String?) {
        guard let body, let answer = try? JSONDecoder().decode(Self.self, from: Data(body.utf8)),
            // They become header fields.
            [answer.access, answer.refresh].allSatisfy({
                !$0.isEmpty && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            })
        else { return nil }
        self = answer
    }
}

/// What the server says of a request that it does not accept: `{"detail":{"error_type":"…","user_id":"…"}}`.
struct JunctionRefusal: Decodable {
    struct Detail: Decodable {
        let errorType: String?
        let userID: String?

        enum CodingKeys: String, CodingKey {
            case errorType = "error_type"
            case userID = "user_id"
        }
    }

    let detail: Detail

    init?(_ body: String?) {
        guard let body, let refusal = try? JSONDecoder().decode(Self.self, from: Data(body.utf8)) else {
            return nil
        }
        self = refusal
    }
}

/// What the gateway keeps of its access to Junction over a restart.
struct JunctionState: Codable, Equatable {
    /// Of this form.
    private(set) var version = 1
    /// The person and the place for which the rest holds.
    var user: String
    var api: String
    /// Junction's id of the user; nil while it is not known.
    var userID: String?
    /// Sources that the user is connected to, by their slugs.
    var sources: [String] = []
    /// Nil where nobody has signed in with a token.
    var tokens: JunctionTokens?
    /// What records said of menstrual cycles; nil where none did.
    var cycles: JunctionCycles?
}

/// Where the state is kept: readable for the service alone, replaced as a whole and synced to disk.
package struct JunctionVault: Sendable {
    /// Nil where nothing is kept.
    let load: @Sendable () throws -> [UInt8]?
    let save: @Sendable ([UInt8]) throws -> Void
    let erase: @Sendable () throws -> Void

    /// The closures may block.
    package init(
        load: @escaping @Sendable () throws -> [UInt8]?, save: @escaping @Sendable ([UInt8]) throws -> Void,
        erase: @escaping @Sendable () throws -> Void
    ) {
        self.load = load
        self.save = save
        self.erase = erase
    }
}
