import Crypto
import FoundationEssentials

/// What a configuration takes from the machine that it is read on.
public struct ConfigurationHost: Sendable {
    public var environment: [String: String]
    /// Names the gateway when the file does not; nil when the machine has no id.
    public var gatewayID: String?
    /// Whether the machine knows a time zone; nil when it has no list of them.
    public var hasTimeZone: @Sendable (String) -> Bool?
    /// The lower nine bits of a file's mode; nil when it cannot be seen.
    public var permissions: @Sendable (String) -> Int?

    public init(
        environment: [String: String], gatewayID: String?,
        hasTimeZone: @escaping @Sendable (String) -> Bool?,
        permissions: @escaping @Sendable (String) -> Int?
    ) {
        self.environment = environment
        self.gatewayID = gatewayID
        self.hasTimeZone = hasTimeZone
        self.permissions = permissions
    }

    /// This machine.
    /// - Parameter environment: of the process.
    public static func current(environment: [String: String]) -> ConfigurationHost {
        ConfigurationHost(
            environment: environment,
            gatewayID: (try? BoundedFile.read("/etc/machine-id", limit: 64)).flatMap {
                gatewayID(machineID: String(decoding: $0, as: UTF8.self))
            },
            hasTimeZone: { name in
                let directory = "/usr/share/zoneinfo"
                guard FileStatus("\(directory)/UTC") != nil else { return nil }
                return FileStatus("\(directory)/\(name)")?.isRegular ?? false
            },
            permissions: { FileStatus($0)?.permissions })
    }

    /// A name that is stable for the machine but does not disclose its id, which machine-id(5)
    /// calls confidential: the first 64 bits of HMAC-SHA256 over `ingestd`, keyed by the id.
    /// - Parameter machineID: 32 hexadecimal digits and a newline; nil comes back for anything else.
    static func gatewayID(machineID: String) -> String? {
        let digits = machineID.split(separator: "\n").first ?? ""
        guard digits.utf8.count == 32, digits.utf8.allSatisfy(\.isHexDigit) else { return nil }
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("ingestd".utf8), using: SymmetricKey(data: Array(digits.lowercased().utf8)))
        return "gateway-"
            + code.prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
