/// The strings of the Device Information Service 1.1.
package enum DeviceInformation {
    package static let service: BluetoothUUID = 0x180A
    package static let manufacturerName: BluetoothUUID = 0x2A29
    package static let modelNumber: BluetoothUUID = 0x2A24
    package static let serialNumber: BluetoothUUID = 0x2A25
    package static let firmwareRevision: BluetoothUUID = 0x2A26

    /// How much of a string is kept, in bytes of UTF-8: four times what a default ATT_MTU shows of
    /// one, and little enough to stand in every record.
    package static let longestText = 88

    /// The text in a characteristic's value: up to the first NUL, without control characters, and
    /// without white space at its ends. Invalid UTF-8 is repaired with U+FFFD. Nil when nothing is
    /// left.
    package static func text(_ bytes: [UInt8]) -> String? {
        let significant = bytes.prefix(Profile.maximumPayload).prefix { $0 != 0 }
        var text = String.UnicodeScalarView()
        var length = 0
        var blanks = String.UnicodeScalarView()
        for scalar in String(decoding: significant, as: UTF8.self).unicodeScalars {
            if scalar.properties.generalCategory == .control { continue }
            // White space counts only once something follows it.
            if scalar.properties.isWhitespace {
                if !text.isEmpty { blanks.append(scalar) }
                continue
            }
            let added = blanks.reduce(UTF8.width(scalar)) { $0 + UTF8.width($1) }
            guard length + added <= longestText else { break }
            text.append(contentsOf: blanks)
            text.append(scalar)
            blanks = String.UnicodeScalarView()
            length += added
        }
        return text.isEmpty ? nil : String(text)
    }
}
