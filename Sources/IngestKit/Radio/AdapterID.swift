/// Names one Bluetooth adapter of the box for as long as it is present.
public struct AdapterID: Hashable, Sendable, CustomStringConvertible {
    /// The kernel's index: 0 for hci0.
    public let index: UInt16

    public init(index: UInt16) {
        self.index = index
    }

    public var description: String { "hci\(index)" }
}
