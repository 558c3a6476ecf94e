/// What a look at one thing has found.
struct Finding: Sendable, Equatable {
    /// What the findings are grouped by, in the order in which they are shown.
    enum Group: String, Sendable, CaseIterable {
        case box, bluetooth, configuration, destinations
    }

    enum Level: String, Sendable {
        case ok, warning, error
    }

    /// What was looked at. The names are part of the JSON form, and do not change.
    enum Check: String, Sendable, CaseIterable {
        case unit, kernel, clock, space, files
        case loadCredential = "load-credential"
        case adapter, rfkill, bluetoothd
        case otherScanners = "other-scanners"
        case configuration
        case credential, dns, tcp, tls, request
        case testRecord = "test-record"

        var group: Group {
            switch self {
            case .unit, .kernel, .clock, .space, .files, .loadCredential: .box
            case .adapter, .rfkill, .bluetoothd, .otherScanners: .bluetooth
            case .configuration: .configuration
            case .credential, .dns, .tcp, .tls, .request, .testRecord: .destinations
            }
        }
    }

    let check: Check
    let level: Level
    /// The destination's name, where it is about one.
    let destination: String?
    /// One sentence without a full stop. It holds no secret, no Bluetooth address, no person, and nothing of a
    /// destination's URL.
    let message: String
    /// What to do next; nil if all is well.
    let remedy: String?
    private(set) var isTested = true

    static func ok(_ check: Check, _ message: String, at destination: String? = nil) -> Self {
        Self(check: check, level: .ok, destination: destination, message: message, remedy: nil)
    }

    /// What cannot be looked at without doing harm.
    static func untested(_ check: Check, _ message: String, at destination: String? = nil) -> Self {
        var finding = ok(check, message, at: destination)
        finding.isTested = false
        return finding
    }

    static func warning(
        _ check: Check, _ message: String, at destination: String? = nil, remedy: String
    ) -> Self {
        Self(check: check, level: .warning, destination: destination, message: message, remedy: remedy)
    }

    static func error(
        _ check: Check, _ message: String, at destination: String? = nil, remedy: String
    ) -> Self {
        Self(check: check, level: .error, destination: destination, message: message, remedy: remedy)
    }
}
