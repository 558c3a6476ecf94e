import Testing

@testable import IngestDelivery

@Suite struct BrokerConfigurationTests {
    @Test(arguments: [
        ("mqtts://broker.example", "broker.example", 8883, true),
        ("mqtts://broker.example:443/", "broker.example", 443, true),
        ("mqtt://localhost", "localhost", 1883, false), ("mqtt://[::1]:1884", "::1", 1884, false),
    ])
    func anAddressHasTheUsualPort(_ url: String, _ host: String, _ port: Int, _ isEncrypted: Bool) throws {
        let address = try #require(BrokerAddress(url: url))
        #expect(address.host == host && address.port == port && address.isEncrypted == isEncrypted)
    }

    @Test(arguments: [
        "https://broker.example", "mqtts://broker.example/x", "mqtts://u@broker.example", "broker",
    ])
    func anythingElseIsNone(_ url: String) {
        #expect(BrokerAddress(url: url) == nil)
    }

    @Test(arguments: [
        (
            "url: \"mqtts://b.example/x\"",
            "2:32: destinations[0].url: expected a broker's host and port with nothing behind them, as "
                + "mqtts://broker.example"
        ),
        (
            "url: \"mqtt://b.example\"",
            "2:32: destinations[0].url: expected mqtts://: mqtt:// is for this machine only (localhost, 127.0.0.1, ::1)"
        ),
        (
            "url: \"mqtts://b.example\", topic: a/#",
            "2:60: destinations[0].topic: expected a topic without + and #"
        ),
        (
            "url: \"mqtts://b.example\", topic: \"{patient}\"",
            "2:60: destinations[0].topic: expected no braces but those of {gateway}, {kind}, {stage}, {subject}, "
                + "{address} or {peripheral_id}"
        ),
        (
            "url: \"mqtts://b.example\", status_topic: \"{kind}\"",
            "2:67: destinations[0].status_topic: expected no braces but those of {gateway}"
        ),
        (
            "url: \"mqtts://b.example\", topic: \"a/{subject}\", redact: [subject]",
            "2:60: destinations[0].topic: expected a topic without {subject}, which redact leaves out"
        ),
        (
            "url: \"mqtts://b.example\", protocol: 4",
            "2:63: destinations[0].protocol: expected 5 or 3.1.1, found \"4\""
        ),
        (
            "url: \"mqtts://b.example\", protocol: 3.1.1, credential: token",
            "2:82: destinations[0].credential: expected user beside it: MQTT 3.1.1 has no password without a user name"
        ),
        (
            "url: \"mqtts://b.example\", home_assistant: true, redact: [address]",
            "2:69: destinations[0].home_assistant: expected redact without address: sensors tell devices apart by it"
        ),
        (
            "url: \"mqtts://b.example\", gzip: true",
            "2:59: destinations[0].gzip: warning: has no effect for type mqtt"
        ),
        (
            "url: \"mqtts://b.example\", proxy: \"http://p.example:3128\"",
            "2:60: destinations[0].proxy: warning: has no effect for type mqtt"
        ),
    ])
    func whatABrokerCannotBeToldIsSaid(_ keys: String, _ expected: String) throws {
        let text = "destinations:\n  - {name: a, type: mqtt, \(keys)}\n"
        let findings = try Samples.findings(text).filter {
            !$0.contains("allow-list") && !$0.contains("nobody")
        }
        #expect(findings == ["c.yaml:" + expected])
    }
}
