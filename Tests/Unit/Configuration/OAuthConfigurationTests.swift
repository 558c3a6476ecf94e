import Testing

@testable import IngestConfiguration
@testable import IngestDelivery

/// Where a destination's tokens are from, as the configuration says it.
struct OAuthConfigurationTests {
    private static func text(_ keys: String, type: String = "webhook", more: String = "") -> String {
        """
        peripherals: [{id: 1002, address: "00:11:22:33:44:55", subject: u}]
        destinations:
          - name: a
            type: \(type)
            url: "\(type == "mqtt" ? "mqtts" : "https")://x.example"\(more)
            oauth: {\(keys)}
        """
    }

    private static let place = "token_url: \"https://auth.example/token\", client_id: \"box 1\""

    @Test(arguments: ["webhook", "fhir"])
    func itIsCarried(type: String) throws {
        let scoped = Self.text(Self.place + ", secret: s, scope: \"a b\"", type: type)
        let configuration = try Samples.parse(scoped).configuration
        #expect(
            configuration.destinations.first?.oauth
                == OAuthSettings(
                    tokenURL: "https://auth.example/token", clientID: "box 1", scope: "a b",
                    client: .secret(.named("s"))))
        let keyed = try Samples.parse(Self.text(Self.place + ", private_key: k", type: type)).configuration
        #expect(keyed.destinations.first?.oauth?.client == .privateKey(.named("k")))
        #expect(keyed.destinations.first?.credentials == [.named("k")])
    }

    @Test(
        arguments: [
            (text(place), "6:12: destinations[0].oauth: expected secret or private_key in it"),
            (
                text(place + ", secret: s, private_key: k"),
                "6:12: destinations[0].oauth: expected secret or private_key in it"
            ),
            (
                text("client_id: b, secret: s"),
                "6:12: destinations[0].oauth.token_url: expected a URL, but the key is missing"
            ),
            (
                text("token_url: \"http://auth.example/token\", client_id: b, secret: s"),
                "6:24: destinations[0].oauth.token_url: expected https://: http:// is for this machine only "
                    + "(localhost, 127.0.0.1, ::1)"
            ),
            (
                text(place + ", secret: s", more: "\n    credential: c"),
                "7:12: destinations[0].oauth: credential and oauth exclude each other: requests carry one of them"
            ),
            (
                text(place + ", secret: s", type: "fhir", more: "\n    auth: basic"),
                "7:12: destinations[0].oauth: auth: basic and oauth exclude each other: tokens are sent as they are"
            ),
            (text("\(place), secret: \"a b\""), "6:82: destinations[0].oauth.secret: expected the name of"),
            (text("x: y"), "6:13: destinations[0].oauth.x: unknown key"),
            (
                text(place + ", secret: s", type: "mqtt"),
                "6:12: destinations[0].oauth: warning: has no effect for type mqtt"
            ),
        ])
    func whatIsWrongIsSaid(text: String, finding: String) throws {
        let findings = try Samples.findings(text)
        #expect(findings.contains { $0.hasPrefix("c.yaml:" + finding) }, "\(findings)")
    }

    @Test func atATypeWithoutTokensItIsNotUsed() throws {
        let text = Self.text(Self.place + ", secret: s", type: "mqtt")
        #expect(try Samples.parse(text).configuration.destinations.first?.oauth == nil)
    }
}
