/// What the characteristics of the Device Information Service 1.2 say.
package enum DeviceInformation {
    package static let service: BluetoothUUID = 0x180A
    package static let manufacturerName: BluetoothUUID = 0x2A29
    package static let modelNumber: BluetoothUUID = 0x2A24
    package static let serialNumber: BluetoothUUID = 0x2A25
    package static let firmwareRevision: BluetoothUUID = 0x2A26
    package static let hardwareRevision: BluetoothUUID = 0x2A27
    package static let softwareRevision: BluetoothUUID = 0x2A28
    package static let systemID: BluetoothUUID = 0x2A23
    package static let udi: BluetoothUUID = 0x2BFF

    /// How much of a string is kept, in bytes of UTF-8: four times what a default ATT_MTU shows of
    /// one, and little enough to stand in every record.
    package static let longestText = 88
    /// The same of a UDI's label: GS1's with a serial number, a lot and two dates has some 90 bytes.
    static let longestLabel = 160

    /// The text in a characteristic's value: up to the first NUL, without control characters, and
    /// without white space at its ends. Invalid UTF-8 is repaired with U+FFFD. Nil when nothing is
    /// left.
    package static func text(_ bytes: [UInt8]) -> String? { text(bytes, longest: longestText) }

    private static func text(_ bytes: [UInt8], longest: Int) -> String? {
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
            guard length + added <= longest else { break }
            text.append(contentsOf: blanks)
            text.append(scalar)
            blanks = String.UnicodeScalarView()
            length += added
        }
        return text.isEmpty ? nil : String(text)
    }

    /// The EUI-64 of a System ID (GATT Specification Supplement, System ID), its most significant octet first, in 16
    /// hexadecimal digits. Nil for another length, and for the all zeros or ones of a device that has none.
    package static func systemID(_ bytes: [UInt8]) -> String? {
        guard bytes.count == 8, !bytes.allSatisfy({ $0 == 0 }), !bytes.allSatisfy({ $0 == 0xFF }) else {
            return nil
        }
        return Hex.text(Array(bytes.reversed())).uppercased()
    }

    /// A UDI for Medical Devices (GATT Specification Supplement): flags, and as many texts as they announce, each with a
    /// NUL at its end. Nil where nothing is left of it.
    package static func udi(_ bytes: [UInt8]) -> UniqueDeviceIdentifier? {
        guard let flags = bytes.first else { return nil }
        var texts = bytes.prefix(Profile.maximumPayload).dropFirst()
            .split(separator: 0, omittingEmptySubsequences: false)[...]
        func next(_ bit: Int, longest: Int = longestText) -> String? {
            guard flags & 1 << bit != 0, let bytes = texts.popFirst() else { return nil }
            return text(Array(bytes), longest: longest)
        }
        let udi = UniqueDeviceIdentifier(
            label: next(0, longest: longestLabel), deviceIdentifier: next(1), issuer: next(2),
            authority: next(3))
        return udi == UniqueDeviceIdentifier() ? nil : udi
    }
}
