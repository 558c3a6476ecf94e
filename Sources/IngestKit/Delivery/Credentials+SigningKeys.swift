/// Why a destination's requests cannot be signed.
package enum SigningKeyError: Error, Sendable, Equatable {
    case credential(CredentialError)
    /// The credential of this name is something else.
    case notKeys(CredentialName)
}

extension SigningKeyError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .credential(let error): error.description
        case .notKeys(let name):
            "credential \(name): expected one to four signing keys, each 24 to 64 bytes in base64, with or "
                + "without whsec_ in front"
        }
    }
}

extension Credentials {
    /// Reads the keys that a destination's requests are signed with, anew.
    package func signingKeys(_ name: CredentialName) throws(SigningKeyError) -> SigningKeys {
        let secret: Credential
        do {
            secret = try read(name)
        } catch {
            throw .credential(error)
        }
        guard let keys = secret.text.flatMap({ SigningKeys($0) }) else { throw .notKeys(name) }
        return keys
    }
}
