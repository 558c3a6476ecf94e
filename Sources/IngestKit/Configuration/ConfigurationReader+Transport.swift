import IngestCore
import IngestDelivery

// The way to a destination.
extension ConfigurationReader {
    /// - Parameter url: of the destination, checked.
    func proxy(_ reader: NodeReader, to url: String?) -> String? {
        guard let text = checkedURL(reader, schemes: ["http", "socks5"]), let proxy = URLText(text) else {
            return nil
        }
        guard ProxyAddress(url: text) != nil else {
            reader.error(
                expected: "a proxy's host and port with nothing behind them, as http://proxy.example:3128")
            return nil
        }
        guard let url = url.flatMap({ URLText($0) }) else { return text }
        if url.scheme == "http", !proxy.isLoopback {
            // To a proxy elsewhere, localhost is itself.
            reader.error(expected: "a proxy on this machine: http:// in url goes no further")
            return nil
        }
        if url.scheme == "https", url.isAddress {
            // The client would compare the certificate with the address of the proxy.
            reader.error(expected: "a host name in url, not an address: it is what the certificate is for")
            return nil
        }
        return text
    }

    /// Looks at the files that the destination's TLS needs, where this machine has them.
    func checkFiles(_ entries: MappingReader, _ destination: DestinationSettings) {
        guard let credentials = host.credentials else { return }
        for problem in TLSFiles.problems(destination.transport, credentials) {
            guard let reader = entries[problem.key.rawValue] else { continue }
            tellOfFile(problem.words, at: reader)
        }
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

    private func tellOfFile(_ words: String, at reader: NodeReader) {
        switch host.fileSeverity {
        case .error: reader.error(words)
        case .warning: reader.warning(words)
        }
    }
}
