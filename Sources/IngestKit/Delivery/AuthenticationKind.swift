/// How a destination's requests show who sends them.
package enum AuthenticationKind: String, Sendable, Hashable, CaseIterable {
    /// A token that stands for the gateway, or for the application.
    case token
    /// A name and a password.
    case password
    /// A key that opens every user of an account.
    case apiKey = "api-key"
    /// The tokens that a user's sign-in token was exchanged for.
    case signInToken = "sign-in-token"
    /// Tokens that an authorization server gives for a secret.
    case clientSecret = "oauth-secret"
    /// The same for an assertion that a key signs.
    case privateKey = "oauth-private-key"
    /// A certificate of TLS.
    case certificate
    /// A signature of each request.
    case signature
}

extension DestinationSettings {
    /// Empty where nothing shows it.
    package var authentication: [AuthenticationKind] {
        let tokens: AuthenticationKind? =
            switch oauth?.client {
            case .secret: .clientSecret
            case .privateKey: .privateKey
            case nil: credential.map { _ in form.credentialKind }
            }
        return [tokens, transport.clientCertificate.map { _ in .certificate }].compactMap(\.self)
            + form.furtherAuthentication
    }
}
