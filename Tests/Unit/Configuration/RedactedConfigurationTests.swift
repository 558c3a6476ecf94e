import Testing

@testable import IngestConfiguration

@Suite struct RedactedConfigurationTests {
    @Test func valuesThatNameNobodyAreShown() throws {
        let redacted = try RedactedConfiguration(
            text: """
                gateway: {id: kitchen-smith, trust_clock: true, time_zone: Europe/London}
                bluetooth: {adapter: hci0, links: 3}
                peripherals:
                  - {id: 1001, address: "F1:F1:F1:F1:F1:F1", alias: hall cuff, subject: p-17, pair: auto}
                  - {id: 1003, users: {1: grandmother, 2: {subject: grandfather}}}
                destinations:
                  - name: clinic
                    type: webhook
                    url: https://clinic.example/tenants/9
                    credential: backend-token
                    kinds: [weight, glucose]
                    headers: {X-Tenant: nine}
                    kind: mistyped
                """)
        #expect(
            redacted.lines == [
                "gateway:", "  id: [removed]", "  trust_clock: true", "  time_zone: Europe/London",
                "bluetooth:", "  adapter: hci0", "  links: 3",
                "peripherals:", "  -", "    id: 1001", "    address: [removed]", "    alias: [removed]",
                "    subject: [removed]", "    pair: auto",
                "  -", "    id: 1003", "    users:", "      [removed]: [removed]", "      [removed]:",
                "        [removed]: [removed]",
                "destinations:", "  -", "    name: clinic", "    type: webhook", "    url: https://[removed]",
                "    credential: backend-token", "    kinds:", "      - weight", "      - glucose",
                "    headers:", "      [removed]: [removed]", "    [removed]: [removed]",
            ])
        for word in [
            "kitchen-smith", "F1:F1:F1:F1:F1:F1", "hall cuff", "p-17", "grandmother", "grandfather",
            "clinic.example", "/tenants/9", "X-Tenant", "nine", "mistyped",
        ] { #expect(redacted.removed.contains(word), "\(word)") }
    }

    @Test func anAdapterMayBeNamedByItsAddress() throws {
        let redacted = try RedactedConfiguration(text: "bluetooth: {adapter: \"00:11:22:33:44:55\"}")
        #expect(redacted.lines == ["bluetooth:", "  adapter: [removed]"])
    }

    @Test func textsLoseTheLongerWordFirst() throws {
        let redacted = try RedactedConfiguration(text: "peripherals: [{alias: hall}, {alias: hall cuff}]")
        #expect(redacted.redacted("hall cuff, hall", secrets: ["cuff, h"]) == "[removed], [removed]")
    }

    @Test func whatMultipliesEndsSomewhere() throws {
        let levels = (1...9).map { level in
            "a\(level): &a\(level) [" + Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ", ")
                + "]"
        }
        let text = "a0: &a0 [1, 2, 3]\n" + levels.joined(separator: "\n")
        #expect(try RedactedConfiguration(text: text).lines.count <= 2_100)
    }
}
