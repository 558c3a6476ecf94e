/// An entry of the allow-list as it stands in a configuration, with every key that its model needs.
package enum EntryText {
    /// One item of the list `peripherals`, without a line break.
    /// - Parameters:
    ///   - address: pins the entry to one device; nil is any of the model.
    ///   - requiresBond: whether it is wanted of a model that needs no bond.
    package static func item(
        _ model: PeripheralModel, address: BluetoothAddress?, alias: String? = nil, subject: String? = nil,
        requiresBond: Bool = false
    ) -> String {
        var keys = ["id: \(model.id)"]
        if let address { keys.append("address: \"\(address)\"") }
        if let alias { keys.append("alias: \(quoted(alias))") }
        if let subject { keys.append("subject: \(quoted(subject))") }
        // A bond belongs to one device.
        if requiresBond || model.bonding == .required && address != nil { keys.append("require_bond: true") }
        if model.has(.expectsClock) { keys.append("clock: set") }
        return "- {\(keys.joined(separator: ", "))}"
    }

    /// Text of one line between quotation marks, as YAML reads it (YAML 1.2, 7.3.1).
    package static func quoted(_ text: String) -> String {
        "\"" + text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "\""
    }
}
