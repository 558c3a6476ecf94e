/// The devices that were heard, each under the number that it was shown with first.
struct DeviceList: Sendable {
    /// As many as leave room for the question on a screen of 24 lines.
    static let mostLines = 15
    private static let longestName = 20

    private(set) var shown: [FoundDevice] = []
    /// Those that no model fits.
    private var strangers: Set<BluetoothAddress> = []

    /// Whether one is there that can be chosen and is not on the allow-list.
    var hasNew: Bool { shown.contains { $0.listed == nil } }

    /// Adds what was heard, the strongest signal first, and numbers what is new.
    /// - Returns: lines for what is new, at most `mostLines`, and one for what is not shown.
    mutating func add(_ heard: [FoundDevice]) -> [String] {
        var lines: [String] = []
        var left = 0
        for device in heard where !shown.contains(where: { $0.address == device.address }) {
            guard device.listed != nil || device.matches.contains(where: \.isReadable) else {
                strangers.insert(device.address)
                continue
            }
            guard lines.count < Self.mostLines else {
                left += 1
                continue
            }
            shown.append(device)
            lines.append(Self.line(shown.count, device))
        }
        if left > 0 { lines.append("    and \(left) with weaker signals: r shows more of them") }
        return lines
    }

    /// What was heard beside them.
    var note: String? {
        strangers.isEmpty
            ? nil
            : "    (\(strangers.count) more of no known model, perhaps a neighbour's; ingestd scan shows them later)"
    }

    private static func line(_ number: Int, _ device: FoundDevice) -> String {
        let signal = padded(device.signal.map(String.init) ?? "?", 4)
        // The name tells two of a model apart, and must not crowd the model out.
        let name =
            device.name.map { "  \"\(PlainText.plain(TerminalText.line($0)).prefix(longestName))\"" } ?? ""
        let model = device.matches.first(where: \.isReadable)
        let state =
            device.listed.map { listed in "listed as \(listed.alias ?? String(listed.id))" }
            ?? "new: \(model.map { "\($0.id) \($0.name)" } ?? "")"
        return PlainText.cut("\(padded(String(number), 2)) \(signal) dBm  \(device.address)\(name)  \(state)")
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
