/// The key that a device encrypts its broadcasts with: 128 bits. Neither description nor reflection
/// shows it.
public struct BindKey: Sendable, Equatable {
    /// 16 of them.
    let bytes: [UInt8]

    /// Reads 32 hexadecimal digits, in either case; nil for anything else.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 32, let bytes = Hex.bytes(text), bytes.count == AESCCM.blockLength else {
            return nil
        }
        self.bytes = bytes
    }
}

extension BindKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "<redacted>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
