/// Why there are no rules for a time zone.
package enum TimeZoneError: Error, Sendable, Equatable {
    /// No file of this name, or none that can be read, in the time zone database.
    case unknown(name: String)
    /// Not a TZif file of version 2 or later (RFC 8536), or one that breaks its own rules.
    case malformed
    /// Counts leap seconds, which POSIX time does not.
    case countsLeapSeconds
}

extension TimeZoneError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unknown(let name): "time zone \(name) is not in the time zone database"
        case .malformed: "the time zone's file is not a TZif file of version 2 or later"
        case .countsLeapSeconds: "the time zone's file counts leap seconds"
        }
    }
}
