import Testing

@testable import IngestConfiguration

/// What `check` tells root about credentials and files that the service, under its own user, would not get.
@Suite struct ConfigurationServiceTests {
    private func findings(_ keys: String, loads: Set<String> = [], unreadable: String? = nil) throws
        -> [String]
    {
        var host = Samples.host
        host.service = ConfigurationService(user: "ingestd", credentials: loads) { $0 != unreadable }
        return try Samples.findings(
            """
            peripherals:
              - id: 1002
            destinations:
              - {name: a, type: webhook, url: "https://a.example/", \(keys)}
            """, host: host)
    }

    @Test func aCredentialThatTheUnitDoesNotLoadIsWarnedOf() throws {
        let found = try findings("credential: token")
        #expect(
            found == [
                "c.yaml:4:69: destinations[0].credential: warning: the unit loads no credential token; systemctl edit "
                    + "ingestd, and add LoadCredential=token:FILE"
            ])
        #expect(try findings("credential: token", loads: ["token"]) == [])
    }

    @Test func aFileThatTheServiceMayNotReadIsWarnedOf() throws {
        let path = "/run/closed-secret"
        let found = try findings("credential: \(path)", unreadable: path)
        #expect(
            found.count == 1 && found.first?.contains("the service's user ingestd may not read it") == true)
        #expect(try findings("credential: \(path)") == [])
        #expect(try findings("ca_file: \(path)", unreadable: path).count == 1)
    }
}
