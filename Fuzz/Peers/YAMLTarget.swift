@testable import IngestBluetooth
@testable import IngestConfiguration
@testable import IngestCore
@testable import IngestDelivery
@testable import IngestEntries
@testable import IngestEvents
@testable import IngestOperator
@testable import IngestPeripherals
@testable import IngestProfiles
@testable import IngestQueue
@testable import IngestReading
@testable import IngestRecords
@testable import IngestStorage
@testable import IngestSupervision

/// Texts of a configuration and of a catalogue: a finding has a place in the text, and says something.
enum YAMLTarget {
    private static let host = ConfigurationHost(
        environment: ["CREDENTIALS_DIRECTORY": "/nowhere"], gatewayID: "box", hasTimeZone: { $0 == "UTC" },
        permissions: { _ in 0o600 }, program: { _ in nil })
    private static let catalogue: Catalogue = {
        do {
            return try Catalogue.parse(text: ShippedCatalogue.text, path: "built-in").catalogue
        } catch {
            fatalError("the shipped catalogue has errors")
        }
    }()

    static func check(_ bytes: [UInt8]) {
        var draw = Draw(bytes)
        let isCatalogue = draw.byte() == UInt8(ascii: "c")
        guard let text = String(validating: draw.rest(), as: UTF8.self) else { return }
        do throws(ConfigurationError) {
            if isCatalogue {
                check(try Catalogue.parse(text: text, path: "f").warnings, text)
            } else {
                check(
                    try Configuration.parse(
                        text: text, path: "f", catalogue: catalogue, readableProfiles: ["blood-pressure"],
                        host: host
                    ).warnings, text)
            }
        } catch {
            require(error.diagnostics.contains { $0.severity == .error }, "an error without one")
            check(error.diagnostics, text)
        }
    }

    private static func check(_ diagnostics: [Diagnostic], _ text: String) {
        require(diagnostics.count <= 201, "more findings than anybody reads")
        // Those of YAML: CR, LF, CR LF, NEL and the separators of Unicode.
        var lines: [Int] = [0]
        for character in text {
            if character.isNewline {
                lines.append(0)
            } else {
                lines[lines.count - 1] += character.unicodeScalars.count
            }
        }
        for diagnostic in diagnostics {
            require(!diagnostic.message.isEmpty && diagnostic.message.utf8.count < 4096, "no message")
            require(
                !diagnostic.description.unicodeScalars.contains { $0.isControl },
                "control characters in a message")
            guard let line = diagnostic.line, let column = diagnostic.column else { continue }
            require(line >= 1 && line <= lines.count + 1, "no such line: \(diagnostic)")
            require(column >= 1, "no such column: \(diagnostic)")
        }
    }
}
