/// The key that a device encrypts its broadcasts with: 128 bits. Neither description nor reflection
/// shows it.
package struct BindKey: Sendable, Equatable {
    /// 16 of them.
    let bytes: [UInt8]

    /// Reads 32 hexadecimal digits, in either case; nil for anything else.
    package init?(_ text: String) {
        guard text.utf8.count == 32, let bytes = Hex.bytes(text), bytes.count == AESCCM.blockLength else {
            return nil
        }
        self.bytes = bytes
    }
}

extension BindKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
