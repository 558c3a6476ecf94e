// The way to a destination.
extension ConfigurationReader {
    /// - Parameter urls: of the destination, checked.
    func readTransport(_ entries: MappingReader, to urls: [String]) -> TransportSettings {
        let transport = TransportSettings(
            caFile: entries["ca_file"]?.absolutePath("a file of certificates"),
            // A certificate is no secret: who may read it does not matter.
            clientCertificate: entries["client_certificate"]?.credential(),
            clientKey: credential(entries["client_key"], isOpened: true),
            proxy: entries["proxy"].flatMap { proxy($0, to: urls.compactMap { URLText($0) }) })
        for (key, other) in [("client_certificate", "client_key"), ("client_key", "client_certificate")]
        where entries[other] == nil {
            entries[key]?.error(expected: "\(other) beside it")
        }
        if let path = transport.caFile, let obstacle = host.service?.obstacle(path) {
            entries["ca_file"]?.warning(obstacle)
        }
        // Looks at the files, where this machine has them.
        guard let credentials = host.credentials else { return transport }
        for problem in TLSFiles.problems(transport, credentials) {
            guard let reader = entries[problem.key.rawValue] else { continue }
            tellOfFile(problem.message, at: reader)
        }
        return transport
    }

    private func proxy(_ reader: NodeReader, to urls: [URLText]) -> ProxyAddress? {
        guard let text = reader.url(schemes: ["http", "socks5"]) else { return nil }
        guard let proxy = ProxyAddress(url: text) else {
            reader.error(
                expected: "a proxy's host and port with nothing behind them, as http://proxy.example:3128")
            return nil
        }
        if !proxy.isLoopback, urls.contains(where: { $0.scheme == "http" }) {
            // To a proxy elsewhere, localhost is itself.
            reader.error(expected: "a proxy on this machine: http:// in url goes no further")
            return nil
        }
        if urls.contains(where: { $0.scheme == "https" && $0.isAddress }) {
            // The client would compare the certificate with the address of the proxy.
            reader.error(expected: "a host name in url, not an address: it is what the certificate is for")
            return nil
        }
        return proxy
    }

    /// Looks at the keys of signatures too, where this machine has them.
    func signingKey(_ reader: NodeReader?) -> CredentialName? {
        guard let reader, let name = credential(reader, isOpened: true) else { return nil }
        guard let credentials = host.credentials, credentials.path(of: name) != nil else { return name }
        do {
            _ = try credentials.signingKeys(name)
        } catch {
            tellOfFile(error.description, at: reader)
        }
        return name
    }

    func tellOfFile(_ words: String, at reader: NodeReader) {
        switch host.fileSeverity {
        case .error: reader.error(words)
        case .warning: reader.warning(words)
        }
    }
}
