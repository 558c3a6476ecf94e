/// Names one Bluetooth adapter of the box for as long as it is present.
package struct AdapterID: Hashable, Sendable, CustomStringConvertible {
    /// The kernel's index: 0 for hci0.
    package let index: UInt16

    package init(index: UInt16) {
        self.index = index
    }

    package var description: String { "hci\(index)" }
}
