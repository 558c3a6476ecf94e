/// How a destination's tokens are asked for: the client credentials grant (RFC 6749 section 4.4).
package struct OAuthSettings: Sendable, Hashable {
    /// What shows the authorization server who asks.
    package enum Client: Sendable, Hashable {
        /// A secret in HTTP Basic (RFC 6749 section 2.3.1).
        case secret(CredentialName)
        /// A key that signs an assertion (RFC 7523; SMART App Launch 2.2, "Client Authentication: Asymmetric").
        case privateKey(CredentialName)

        package var credential: CredentialName {
            switch self {
            case .secret(let name), .privateKey(let name): name
            }
        }
    }

    package let tokenURL: String
    package let clientID: String
    /// What the token is to allow, in the server's words.
    package let scope: String?
    package let client: Client

    package init(tokenURL: String, clientID: String, scope: String?, client: Client) {
        self.tokenURL = tokenURL
        self.clientID = clientID
        self.scope = scope
        self.client = client
    }
}
