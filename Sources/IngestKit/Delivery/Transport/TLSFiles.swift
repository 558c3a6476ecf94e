import NIOSSL

/// What is wrong with a file that a destination's TLS needs.
package struct TLSFileError: Error, Sendable, Hashable {
    /// The key of the destination that names the file.
    package enum Key: String, Sendable, Hashable {
        case caFile = "ca_file"
        case clientCertificate = "client_certificate"
        case clientKey = "client_key"
    }

    package let key: Key
    /// In our words, with the file's name and nothing of what it holds.
    package let message: String
}

/// The files behind a destination's TLS, as they were when they were read.
package struct TLSFiles: Sendable, Equatable {
    /// In bytes; four times the bundle of a whole system.
    static let authoritiesLimit = 1 << 20

    private(set) var authorities: [UInt8]?
    private(set) var certificate: Credential?
    private(set) var key: Credential?
    private let settings: TransportSettings

    /// Reads all that the settings name. Blocks for as long as reading three small files takes.
    init(_ settings: TransportSettings, _ credentials: Credentials) throws(TLSFileError) {
        self.settings = settings
        authorities = try Self.authorities(settings)
        certificate = try Self.credential(.clientCertificate, settings.clientCertificate, credentials)
        key = try Self.credential(.clientKey, settings.clientKey, credentials)
    }

    /// TLS 1.2 and up, the server's certificate and host name verified.
    func configuration() throws(TLSFileError) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let authorities {
            tls.trustRoots = .certificates(try Self.certificates(authorities, .caFile, settings.caFile ?? ""))
        }
        guard let certificate, let key else { return tls }
        let names = (
            settings.clientCertificate.map(\.description) ?? "", settings.clientKey.map(\.description) ?? ""
        )
        let chain = try Self.certificates(certificate.bytes, .clientCertificate, names.0)
        let privateKey: NIOSSLPrivateKey
        do {
            privateKey = try NIOSSLPrivateKey(bytes: key.bytes, format: .pem)
        } catch {
            let isEncrypted = key.text?.contains("ENCRYPTED") ?? false
            throw TLSFileError(
                key: .clientKey,
                message: "\(names.1): "
                    + (isEncrypted
                        ? "the key is protected by a passphrase; store it without one (openssl pkey)"
                        : "expected a private key in PEM"))
        }
        tls.certificateChain = chain.map { .certificate($0) }
        tls.privateKey = .privateKey(privateKey)
        // A context takes a key only if it is that of the certificate; no authorities, so that
        // trying it out does not load the system's.
        var trial = tls
        trial.trustRoots = .certificates([])
        guard (try? NIOSSLContext(configuration: trial)) != nil else {
            throw TLSFileError(
                key: .clientKey,
                message: "\(names.1): the key does not belong to the certificate in \(names.0)"
            )
        }
        return tls
    }

    /// Everything that is wrong with the files that can be seen. A credential that systemd gives to
    /// the service alone is not looked for when there is no directory of credentials.
    package static func problems(_ settings: TransportSettings, _ credentials: Credentials) -> [TLSFileError]
    {
        let authorities = TransportSettings(caFile: settings.caFile)
        let identity = TransportSettings(
            clientCertificate: settings.clientCertificate, clientKey: settings.clientKey)
        let isVisible = [settings.clientCertificate, settings.clientKey].allSatisfy { name in
            name.map { credentials.path(of: $0) != nil } ?? false
        }
        var found: [TLSFileError] = []
        for part in isVisible ? [authorities, identity] : [authorities] {
            do throws(TLSFileError) {
                _ = try TLSFiles(part, credentials).configuration()
            } catch {
                found.append(error)
            }
        }
        return found
    }

    private static func authorities(_ settings: TransportSettings) throws(TLSFileError) -> [UInt8]? {
        guard let path = settings.caFile else { return nil }
        do {
            return try BoundedFile.read(path, limit: authoritiesLimit)
        } catch {
            let reason =
                switch error {
                case .missing: "there is no such file"
                case .unreadable: "the service may not read it"
                case .notAFile, .tooLarge: "expected a regular file of at most 1 MiB"
                }
            throw TLSFileError(key: .caFile, message: "\(path): \(reason)")
        }
    }

    private static func credential(
        _ key: TLSFileError.Key, _ name: CredentialName?, _ credentials: Credentials
    ) throws(TLSFileError) -> Credential? {
        guard let name else { return nil }
        do {
            return try credentials.read(name)
        } catch {
            throw TLSFileError(key: key, message: error.description)
        }
    }

    private static func certificates(
        _ pem: [UInt8], _ key: TLSFileError.Key, _ name: String
    ) throws(TLSFileError) -> [NIOSSLCertificate] {
        guard let found = try? NIOSSLCertificate.fromPEMBytes(pem), !found.isEmpty else {
            throw TLSFileError(key: key, message: "\(name): expected certificates in PEM")
        }
        return found
    }
}
