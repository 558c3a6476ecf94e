/// Names of the set bits of a status field, lowest bit first. A bit whose name is nil is reserved
/// and says nothing, and so do all bits above those named.
enum StatusBits {
    static func names(_ status: UInt64, _ names: [String?]) -> [String] {
        var flags: [String] = []
        for (bit, name) in names.enumerated() {
            if let name, status >> UInt64(bit) & 1 != 0 { flags.append(name) }
        }
        return flags
    }

    static func names(_ status: some FixedWidthInteger & UnsignedInteger, _ names: [String?]) -> [String] {
        Self.names(UInt64(truncatingIfNeeded: status), names)
    }
}
