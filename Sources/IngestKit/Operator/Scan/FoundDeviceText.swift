/// A device that a scan found, for people: at most 80 columns, but for a long entry.
package struct FoundDeviceText: Sendable {
    private static let columns = 80
    private static let indent = "         "

    private let device: FoundDevice

    package init(_ device: FoundDevice) {
        self.device = device
    }

    package var lines: [String] {
        let name = TerminalText.line(device.name ?? "(no name)")
        var lines = [Self.cut("\(signal)  \(device.address)  \(name)")]
        for fact in facts {
            lines += TerminalText.wrapped(TerminalText.line(fact), width: Self.columns - Self.indent.count)
                .map {
                    Self.indent + $0
                }
        }
        // Not broken: it is to be pasted.
        if let entry = device.matches.first(where: { $0.entry != nil })?.entry {
            lines.append(Self.indent + TerminalText.line(entry))
        }
        return lines
    }

    private var signal: String {
        guard let signal = device.signal else { return "  ? dBm" }
        let number = String(signal)
        return String(repeating: " ", count: max(0, 3 - number.utf8.count)) + number + " dBm"
    }

    private var facts: [String] {
        [model, state, contents].compactMap(\.self)
    }

    private var model: String? {
        if let listed = device.listed {
            return "on the allow-list as \(listed.alias.map { "\($0) " } ?? "")(\(listed.id))"
        }
        guard let first = device.matches.first else { return "no model of the catalogue" }
        let others = device.matches.dropFirst().map { String($0.id) }
        let also = others.isEmpty ? "" : ", or \(others.joined(separator: ", "))"
        let readable = device.matches.contains(where: \.isReadable) ? "" : " (this version does not read it)"
        return "\(first.id) \(first.name)\(also)\(readable)"
    }

    private var state: String? {
        var words: [String] = []
        if !device.isConnectable, device.matches.isEmpty { words.append("takes no connection") }
        if device.isInPairingMode, needsPairing { words.append("in pairing mode") }
        if device.isBonded == true {
            words.append("paired")
        } else if needsPairing {
            // Only the service, with bluetoothd, knows the bonds.
            let need = device.isBonded == nil ? "must be paired, if it is not yet" : "must be paired"
            let entry = device.listed == nil ? "with its entry in place, " : ""
            words.append("\(need): \(entry)ingestd pair \(target)")
        }
        switch device.addressKind {
        case .public, .static: break
        case .resolvable, .nonResolvable:
            let isNew = device.listed == nil && !device.matches.isEmpty
            words.append(
                "its address is private and changes"
                    + (isNew
                        ? ": list the model, and ingestd pair \(target) gives the address to pin" : ""))
        }
        return words.isEmpty ? nil : words.joined(separator: "; ")
    }

    private var needsPairing: Bool { match?.needsPairing == true }

    private var target: String { (device.listed?.id ?? match?.id).map(String.init) ?? "ID" }

    /// The model that it is listed as, else the likeliest.
    private var match: FoundDevice.Match? {
        guard let listed = device.listed else { return device.matches.first }
        return device.matches.first { $0.id == listed.id }
    }

    private var contents: String? {
        var words: [String] = []
        if !device.services.isEmpty { words.append("services \(device.services.joined(separator: " "))") }
        if !device.companies.isEmpty {
            words.append("company \(device.companies.joined(separator: " "))")
        }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    /// Letters of other scripts may take two columns each.
    private static func cut(_ line: String) -> String {
        var cut = ""
        var width = 0
        for scalar in line.unicodeScalars {
            width += scalar.isASCII ? 1 : 2
            guard width <= columns else { break }
            cut.unicodeScalars.append(scalar)
        }
        return cut
    }
}
