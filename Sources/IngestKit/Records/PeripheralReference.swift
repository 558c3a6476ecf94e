/// Names a peripheral in events: its model's number, and the alias that the operator gave it.
/// Never its address.
public struct PeripheralReference: Sendable, Hashable {
    public let peripheralID: Int
    public let alias: String?

    /// Stands for whatever wrote an entry, which is no peripheral. Models are numbered from 1.
    public static let entry = PeripheralReference(peripheralID: 0, alias: nil)

    public init(peripheralID: Int, alias: String?) {
        self.peripheralID = peripheralID
        self.alias = alias
    }
}
