/// Why an entry's passkey cannot be used.
package enum PasskeyError: Error, Sendable, Equatable {
    case credential(CredentialError)
    /// The credential of this name is something else.
    case notAPasskey(String)
}

extension PasskeyError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .credential(let error): error.description
        case .notAPasskey(let name): "credential \(name): expected a passkey, six digits"
        }
    }
}

/// Reads the passkey of a credential by its name: 0 to 999999.
package typealias PasskeySource = @Sendable (String) throws(PasskeyError) -> UInt32

extension Credentials {
    /// Reads the passkey that an entry of the allow-list names, anew.
    /// - Returns: 0 to 999999.
    package func passkey(_ name: String) throws(PasskeyError) -> UInt32 {
        guard let credential = CredentialName(name) else { throw .notAPasskey(name) }
        let secret: Credential
        do {
            secret = try read(credential)
        } catch {
            throw .credential(error)
        }
        guard let passkey = secret.text.flatMap({ Passkey.read($0) }) else { throw .notAPasskey(name) }
        return passkey
    }
}
