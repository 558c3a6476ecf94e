/// Texts of Apple Health exports, taken apart.
enum HealthKitText {
    /// `AsleepCore` is `asleep-core`, `AsleepREM` is `asleep-rem`.
    static func kebab(_ text: some StringProtocol) -> String {
        var name = ""
        var isCapital = false
        let scalars = Array(text.unicodeScalars.prefix(RecordEntry.longestText / 4))
        for (index, scalar) in scalars.enumerated() {
            let wasCapital = isCapital
            isCapital = "A"..."Z" ~= scalar
            switch scalar {
            case "A"..."Z":
                // Of several capitals the last begins a word, if one goes on behind it.
                let goesOn = index + 1 < scalars.count && "a"..."z" ~= scalars[index + 1]
                if !name.isEmpty, name.last != "-", !wasCapital || goesOn { name += "-" }
                name += String(scalar).lowercased()
            case "a"..."z", "0"..."9": name.unicodeScalars.append(scalar)
            default: if !name.isEmpty, name.last != "-" { name += "-" }
            }
        }
        return name.last == "-" ? String(name.dropLast()) : name
    }

    /// A number, which may have an exponent: `1.2e-05`, `1E3`. Nil for what has more digits than 64 bits, or is none.
    static func number(_ text: String) -> ExactDecimal? {
        let parts = text.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "e" || $0 == "E" }
        guard let first = parts.first, first.utf8.first != UInt8(ascii: "+"),
            let mantissa = ExactDecimal(json: String(first))
        else { return nil }
        guard parts.count == 2 else { return mantissa }
        guard let exponent = Int8(String(parts[1])), (-30...30).contains(exponent) else { return nil }
        return mantissa.times(1, exponent: exponent)
    }

    /// `<<HKDevice: 0x281c4d7d0>, name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,1,
    /// software:10.1>`. The hardware is the model, where it is told: it says which one. Nothing of the rest is used.
    static func device(_ text: String) -> (manufacturer: String?, model: String?, firmware: String?) {
        var found: [String: String] = [:]
        var last: String?
        for part in text.dropLast(text.hasSuffix(">") ? 1 : 0).split(separator: ",").dropFirst() {
            let words = part.trimmed
            let pair = words.split(separator: ":", maxSplits: 1)
            if pair.count == 2, names.contains(String(pair[0])), part.first == " " {
                last = String(pair[0])
                found[String(pair[0])] = String(pair[1])
            } else if let last {
                // A value with commas of its own.
                found[last, default: ""] += "," + part
            }
        }
        return (
            found["manufacturer"].flatMap(bounded), (found["hardware"] ?? found["model"]).flatMap(bounded),
            (found["software"] ?? found["firmware"]).flatMap(bounded)
        )
    }

    private static let names: Set = [
        "name", "manufacturer", "model", "hardware", "software", "firmware", "localIdentifier",
        "UDI Device Identifier",
        "creation date",
    ]

    /// Nil for nothing, and cut where it is too long.
    static func bounded(_ text: String) -> String? {
        guard text.utf8.count > RecordEntry.longestText else { return text.isEmpty ? nil : text }
        var cut = text.unicodeScalars.prefix(RecordEntry.longestText / 4)
        while cut.last?.properties.isWhitespace == true { cut.removeLast() }
        return cut.isEmpty ? nil : String(String.UnicodeScalarView(cut))
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        drop { $0 == " " }
    }
}
