import Yams

extension NodeReader {
    /// The text of a scalar, quoted or not; nil and silent for anything else.
    private var scalar: String? {
        guard case .scalar(let scalar) = node, !isNull else { return nil }
        return scalar.string
    }

    /// A scalar that `read` accepts.
    /// - Parameter what: the kind of value expected, as the end of "expected …".
    func value<Value>(_ what: String, _ read: (String) -> Value?) -> Value? {
        guard let scalar, let value = read(scalar) else {
            expected(what)
            return nil
        }
        return value
    }

    /// Text of one line, 1 to `limit` characters.
    func text(_ what: String = "text", limit: Int = 128) -> String? {
        value("\(what) of 1 to \(limit) characters on one line") {
            TextForm.isLine($0, limit: limit) ? $0 : nil
        }
    }

    /// 1 to 64 of the characters that are safe in file names, topics, URLs and journal fields.
    func name(_ what: String) -> String? {
        value("\(what) of 1 to 64 letters, digits, dots, dashes or underscores") {
            TextForm.isName($0, limit: 64) ? $0 : nil
        }
    }

    func boolean() -> Bool? {
        guard case .scalar(let scalar) = node, scalar.style == .plain else {
            expected("true or false")
            return nil
        }
        return value("true or false") { ["true": true, "false": false][$0] }
    }

    func integer(_ range: ClosedRange<Int>, _ what: String) -> Int? {
        value("\(what) from \(range.lowerBound) to \(range.upperBound)") { text in
            // Int's own reader would take "+7" too.
            guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text),
                range.contains(number)
            else { return nil }
            return number
        }
    }

    func duration(_ range: ClosedRange<Duration>) -> Duration? {
        guard let duration = value("a duration such as 60ms, 10s, 15m, 12h or 7d", DurationText.read) else {
            return nil
        }
        guard range.contains(duration) else {
            expected("\(DurationText.write(range.lowerBound)) to \(DurationText.write(range.upperBound))")
            return nil
        }
        return duration
    }

    /// In bytes.
    func size(_ range: ClosedRange<UInt64>) -> UInt64? {
        guard let size = value("a size such as 512KiB, 16MiB or 1GiB", SizeText.read) else { return nil }
        guard range.contains(size) else {
            expected("\(SizeText.write(range.lowerBound)) to \(SizeText.write(range.upperBound))")
            return nil
        }
        return size
    }

    func choice<Choice: RawRepresentable & CaseIterable>() -> Choice? where Choice.RawValue == String {
        choice(of: Choice.self)
    }

    func choice<Choice: RawRepresentable>(among choices: [Choice]) -> Choice?
    where Choice.RawValue == String {
        choice(among: choices.map(\.rawValue)).flatMap { word in choices.first { $0.rawValue == word } }
    }

    func choice(among words: [String]) -> String? {
        if let scalar, words.contains(scalar) { return scalar }
        expected(TextForm.list(words), near: scalar.flatMap { nearest(to: $0, among: words) })
        return nil
    }

    func address() -> BluetoothAddress? {
        value("a Bluetooth address such as F1:F1:F1:F1:F1:F1") { BluetoothAddress($0) }
    }

    /// The name of a credential, or the path of its file. What stands there instead may be the
    /// secret itself, so it is never repeated.
    func credential() -> CredentialName? {
        guard let scalar, let name = CredentialName(scalar) else {
            error(
                expected: "the name of a credential (letters, digits, dots, dashes, underscores) "
                    + "or the absolute path of its file")
            return nil
        }
        return name
    }

    func absolutePath(_ what: String) -> String? {
        value("the absolute path of \(what)") { TextForm.isAbsolutePath($0) ? $0 : nil }
    }

    /// A list, written as such and with at least one item unless it `mayBeEmpty`, each read by `read`; items that it refuses are left out.
    func list<Item>(
        _ what: String, mayBeEmpty: Bool = false, _ read: (NodeReader) -> Item?
    ) -> [Item]? {
        guard let items = items() else { return nil }
        guard !items.isEmpty || (mayBeEmpty && !isNull) else {
            error(expected: "at least one \(what)")
            return nil
        }
        return items.compactMap(read)
    }
}
