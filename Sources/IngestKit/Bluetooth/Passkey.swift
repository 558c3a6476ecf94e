/// A passkey as it is typed or stands in a credential.
package enum Passkey {
    /// Six digits, leading zeros included (Core Specification Vol 3 Part C 3.2.3.3); blanks between
    /// them do not count. Nil for anything else.
    package static func read(_ text: String) -> UInt32? {
        let digits = text.filter { $0 != " " }
        guard digits.utf8.count == 6, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return UInt32(digits)
    }

    /// The six digits of a code of 0 to 999999.
    package static func digits(_ code: UInt32) -> String {
        let text = String(code)
        return String(repeating: "0", count: max(0, 6 - text.utf8.count)) + text
    }
}
