import FoundationEssentials

@testable import IngestKit

/// What the tests of this folder share: a machine of known properties, and files of the repository.
enum Samples {
    static let host = ConfigurationHost(
        environment: [:], gatewayID: "gateway-test",
        hasTimeZone: { ["Europe/London", "UTC"].contains($0) },
        permissions: { $0 == "/run/open-secret" ? 0o644 : $0 == "/run/closed-secret" ? 0o640 : nil })

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

    /// The root of the repository.
    static var repository: String {
        #filePath.split(separator: "/").dropLast(4).reduce("") { $0 + "/" + $1 }
    }
}
