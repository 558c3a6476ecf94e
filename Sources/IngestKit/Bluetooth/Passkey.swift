/// A passkey as it is typed or stands in a credential.
package enum Passkey {
    /// Six digits, leading zeros included (Core Specification Vol 3 Part C 3.2.3.3); blanks between
    /// them do not count. Nil for anything else.
    package static func read(_ text: String) -> UInt32? {
        let digits = text.filter { $0 != " " }
        guard digits.utf8.count == 6, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return UInt32(digits)
    }
}
