import FoundationEssentials
import TestSupport

@testable import IngestConfiguration

/// What the tests of this folder share: a machine of known properties, and files of the repository.
enum Samples {
    static let host = ConfigurationHost(
        environment: [:], gatewayID: "gateway-test",
        hasTimeZone: { ["Europe/London", "UTC"].contains($0) },
        permissions: { $0 == "/run/open-secret" ? 0o644 : $0 == "/run/closed-secret" ? 0o640 : nil },
        program: { path in
            let modes = [
                "/etc/ingestd/beep": 0o755, "/etc/ingestd/chime": 0o750, "/etc/ingestd/flat": 0o640,
                "/etc/ingestd/open": 0o777,
                "/etc/ingestd/open-flat": 0o666, "/etc/ingestd": 0o750,
            ]
            return modes[path].map {
                ProgramFile(isRegular: path != "/etc/ingestd", isExecutable: $0 & 0o111 != 0, permissions: $0)
            }
        })

    /// Four lines without findings.
    static let complete =
        "peripherals:\n  - id: 1002\ndestinations:\n  - {name: a, type: webhook, url: \"https://a.example/\"}\n"

    static func catalogue() throws -> Catalogue {
        try Catalogue.parse(text: ShippedCatalogue.text, path: "catalogue").catalogue
    }

    static func parse(_ text: String, host: ConfigurationHost = host) throws -> Configuration.Checked {
        try Configuration.parse(
            text: text, path: "c.yaml", catalogue: catalogue(),
            readableProfiles: ["thermometer", "blood-pressure"], host: host)
    }

    /// The diagnostics of a configuration, errors or not, a line each.
    static func findings(_ text: String, host: ConfigurationHost = host) throws -> [String] {
        do {
            return try parse(text, host: host).warnings.map(\.description)
        } catch let error as ConfigurationError {
            return error.diagnostics.map(\.description)
        }
    }
}
