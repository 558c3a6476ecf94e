/// Why an entry's bind key cannot be used.
package enum BindKeyError: Error, Sendable, Equatable {
    case credential(CredentialError)
    /// The credential of this name is something else.
    case notAKey(String)
}

extension BindKeyError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .credential(let error): error.description
        case .notAKey(let name): "credential \(name): expected a bind key, 32 hexadecimal digits"
        }
    }
}

extension Credentials {
    /// Reads the bind key that an entry of the allow-list names, anew.
    package func bindKey(_ name: String) throws(BindKeyError) -> BindKey {
        guard let credential = CredentialName(name) else { throw .notAKey(name) }
        let secret: Credential
        do {
            secret = try read(credential)
        } catch {
            throw .credential(error)
        }
        guard let key = secret.text.flatMap({ BindKey($0) }) else { throw .notAKey(name) }
        return key
    }
}
