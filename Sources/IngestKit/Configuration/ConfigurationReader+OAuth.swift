import Yams

// Where tokens are from.
extension ConfigurationReader {
    /// How tokens are asked for.
    func readOAuth(_ destination: MappingReader) -> OAuthSettings? {
        guard let reader = destination["oauth"], let entries = reader.mapping(ConfigurationKeys.oauth) else {
            return nil
        }
        if destination["credential"] != nil {
            reader.error("credential and oauth exclude each other: requests carry one of them")
        }
        if destination["auth"]?.node.scalar?.string == "basic" {
            reader.error("auth: basic and oauth exclude each other: tokens are sent as they are")
        }
        let url = entries.required("token_url", "a URL")?.url(schemes: ["https"], onLoopback: ["http"])
        let id = entries.required("client_id", "text")?.text(limit: 256)
        let scope = entries["scope"]?.text(limit: 1024)
        let secret = credential(entries["secret"])
        let key = clientKey(entries["private_key"])
        let isOne = (entries["secret"] == nil) != (entries["private_key"] == nil)
        if !isOne { reader.error(expected: "secret or private_key in it") }
        let client = secret.map { OAuthSettings.Client.secret($0) } ?? key.map { .privateKey($0) }
        guard let url, let id, let client, isOne else { return nil }
        return OAuthSettings(tokenURL: url, clientID: id, scope: scope, client: client)
    }

    /// Looks at the key, too, where this machine has it.
    private func clientKey(_ reader: NodeReader?) -> CredentialName? {
        guard let reader, let name = credential(reader, isOpened: true) else { return nil }
        guard let credentials = host.credentials, credentials.path(of: name) != nil else { return name }
        do throws(CredentialError) {
            if try credentials.clientKey(name) == nil { tellOfFile(ClientKey.expected, at: reader) }
        } catch {
            tellOfFile(error.description, at: reader)
        }
        return name
    }
}
