/// Names a peripheral in events: its model's number, and the alias that the operator gave it.
/// Never its address.
package struct PeripheralReference: Sendable, Hashable {
    package let peripheralID: Int
    package let alias: String?

    /// Stands for whatever wrote an entry, which is no peripheral. Models are numbered from 1.
    package static let entry = PeripheralReference(peripheralID: 0, alias: nil)

    package init(peripheralID: Int, alias: String?) {
        self.peripheralID = peripheralID
        self.alias = alias
    }
}
