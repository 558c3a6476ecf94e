import Crypto

/// The key of the tags that stand for record ids and addresses in places that others than the service may read.
///
/// An id is a hash of what was measured, and few values are plausible: from an id, and likewise from an address, a
/// value or the device can be found by trying. A tag is a keyed hash (HMAC-SHA-256, RFC 2104), so that trying needs
/// the key, which never leaves the state directory. Neither description nor reflection shows it.
package struct TagKey: Sendable, Equatable {
    /// Of the key, in bytes: the output of SHA-256, as RFC 2104 section 3 asks for.
    package static let size = 32
    /// Hexadecimal digits of the tag of a record: with a million records in a queue, two that share one are less
    /// likely than one in ten million.
    private static let recordDigits = 16
    /// Hexadecimal digits of the tag of a device, of which a gateway follows 1,024 at most.
    private static let deviceDigits = 8

    private let bytes: [UInt8]

    /// Nil for anything but `size` bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }

    /// A new one, of the system's random numbers.
    package static func random() -> TagKey {
        var generator = SystemRandomNumberGenerator()
        return TagKey(drawing: &generator)
    }

    private init(drawing generator: inout some RandomNumberGenerator) {
        bytes = (0..<Self.size).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    /// For the file that keeps it.
    package var stored: [UInt8] { bytes }

    /// The tag of a record: 16 lower-case hexadecimal digits.
    /// - Parameter id: the record's id as text.
    package func tag(ofRecord id: String) -> String { digits(Self.recordDigits, of: id) }

    /// The tag of a device: 8 lower-case hexadecimal digits.
    /// - Parameter address: upper case with colons.
    package func tag(ofDevice address: String) -> String {
        // No id of a record begins so.
        digits(Self.deviceDigits, of: "device \(address)")
    }

    /// Whether a text has the form of a record's tag. No id, and no beginning of one, has it: an id has a dash after
    /// its eighth digit.
    package static func isRecordTag(_ text: String) -> Bool {
        text.utf8.count == recordDigits
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    private func digits(_ count: Int, of text: String) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: SymmetricKey(data: bytes))
        return Hex.text(Array(code.prefix(count / 2)))
    }
}

extension TagKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
