import FoundationEssentials
import Synchronization

@testable import IngestDaemon

/// What a fake was asked, in order.
final class Noted<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])

    var all: [Value] { values.withLock { $0 } }

    func note(_ value: Value) { values.withLock { $0.append(value) } }
}

/// A configuration on a machine without files.
func sampleConfiguration(_ text: String) throws -> Configuration {
    try Configuration.parse(
        text: text, path: "c.yaml", catalogue: Catalogue.load(additions: "/nowhere").catalogue,
        readableProfiles: Profiles.names,
        host: ConfigurationHost(
            environment: [:], gatewayID: "box", hasTimeZone: { _ in nil }, permissions: { _ in nil },
            program: { _ in nil })
    ).configuration
}
