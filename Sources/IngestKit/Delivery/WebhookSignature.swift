import Crypto
import FoundationEssentials

/// The keys that a destination's requests are signed with by Standard Webhooks (standardwebhooks.com),
/// symmetric signatures (`v1`). Neither description nor reflection shows them.
package struct SigningKeys: Sendable, Equatable {
    /// Of one key, in bytes: the specification's bounds.
    static let sizes = 24...64
    /// Two are enough for a rotation; each makes the header 47 bytes longer.
    static let maximumCount = 4
    /// How far a receiver lets the timestamp be from its own time: what the reference libraries take.
    static let tolerance: Duration = .seconds(300)

    private let keys: [SymmetricKey]
    /// The keys' bytes.
    let secrets: [[UInt8]]

    /// Reads keys in base64, with or without `=` at the end and `whsec_` in front, separated by blanks or
    /// line breaks; nil for anything else.
    package init?(_ text: String) {
        let words = text.split { $0.isWhitespace }
        guard 1...Self.maximumCount ~= words.count else { return nil }
        var secrets: [[UInt8]] = []
        for word in words {
            var base64 = String(word.hasPrefix("whsec_") ? word.dropFirst(6) : word)
            while base64.utf8.count % 4 != 0 { base64 += "=" }
            guard let bytes = Data(base64Encoded: base64), Self.sizes ~= bytes.count else { return nil }
            secrets.append(Array(bytes))
        }
        self.secrets = secrets
        keys = secrets.map { SymmetricKey(data: $0) }
    }

    /// The value of `webhook-signature`: a signature by each key.
    /// - Parameters:
    ///   - id: the value of `webhook-id`; without a full stop.
    ///   - timestamp: of this attempt, in seconds since 1970.
    ///   - body: before compression.
    package func signatures(id: String, timestamp: Int64, body: [UInt8]) -> String {
        let content = Self.content(id: id, timestamp: String(timestamp), body: body)
        return keys.map { key in
            let code = HMAC<SHA256>.authenticationCode(for: content, using: key)
            return "v1," + Data(code).base64EncodedString()
        }.joined(separator: " ")
    }

    /// Whether a request was signed with one of the keys, and within five minutes.
    /// - Parameters:
    ///   - timestamp: the value of `webhook-timestamp`.
    ///   - signatures: the value of `webhook-signature`; those of other schemes are passed over.
    ///   - body: after decompression.
    ///   - nowSeconds: since 1970.
    package func verify(
        id: String, timestamp: String, signatures: String, body: [UInt8], nowSeconds: Int64
    ) -> Bool {
        guard let seconds = Int64(timestamp) else { return false }
        let (distance, overflow) = nowSeconds.subtractingReportingOverflow(seconds)
        guard !overflow, distance.magnitude <= UInt64(Self.tolerance / .seconds(1)) else { return false }
        let content = Self.content(id: id, timestamp: timestamp, body: body)
        return signatures.split(separator: " ").contains { signature in
            guard signature.hasPrefix("v1,"), let code = Data(base64Encoded: String(signature.dropFirst(3)))
            else { return false }
            return keys.contains {
                HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: content, using: $0)
            }
        }
    }

    private static func content(id: String, timestamp: String, body: [UInt8]) -> [UInt8] {
        Array("\(id).\(timestamp).".utf8) + body
    }
}

extension SigningKeys: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
