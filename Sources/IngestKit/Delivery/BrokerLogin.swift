/// What shows a broker who connects, and us which broker it is; as it was when it was read.
package struct BrokerLogin: Sendable, Equatable {
    package var user: String?
    /// A password or a token.
    package var password: String?
    /// Paths of files in PEM. Nil: the system's authorities; no certificate of ours.
    package var authorities: String?
    package var certificate: String?
    package var key: String?
    /// What was in these files, so that a login with other files is another one.
    private var files: TLSFiles?

    package init(user: String? = nil, password: String? = nil) {
        self.user = user
        self.password = password
    }

    /// Reads the credential and the files of TLS that the destination names. Blocks for as long as reading a few small
    /// files takes.
    /// - Parameter isEncrypted: whether TLS is spoken.
    package init(
        user: String?, credential: CredentialName?, transport: TransportSettings, isEncrypted: Bool,
        credentials: Credentials
    ) throws(BrokerLoginError) {
        self.user = user
        if let name = credential {
            guard let text = (try? credentials.read(name))?.text else {
                throw BrokerLoginError(message: "the credential cannot be read")
            }
            // A NUL would end it for the library; the length is MQTT's (section 1.5.6).
            guard !text.utf8.contains(0), text.utf8.count <= 65_535 else {
                throw BrokerLoginError(message: "the credential is no password that MQTT can carry")
            }
            password = text
        }
        guard isEncrypted else { return }
        do throws(TLSFileError) {
            let files = try TLSFiles(transport, credentials)
            _ = try files.configuration()
            self.files = files
        } catch {
            throw BrokerLoginError(message: "\(error.key.rawValue): \(error.message)")
        }
        authorities = transport.caFile
        certificate = transport.clientCertificate.flatMap { credentials.path(of: $0) }
        key = transport.clientKey.flatMap { credentials.path(of: $0) }
    }
}

/// Why there is no login, in our words.
package struct BrokerLoginError: Error, Sendable, Equatable {
    package let message: String
}
