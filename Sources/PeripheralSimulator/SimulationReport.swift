/// What the simulated peripherals gave, to be compared with what arrived.
package struct SimulationReport: Sendable, Equatable {
    package struct Peripheral: Sendable, Equatable {
        package let address: BluetoothAddress
        /// Readings that it had to give.
        package let readings: Int
        /// How often it was ready to give one on a link; repetitions count.
        package let offered: Int
        /// Readings that were confirmed.
        package let confirmed: Int
        package let linksAccepted: Int
    }

    /// In the order of their addresses.
    package let peripherals: [Peripheral]

    /// Readings that were confirmed, of all peripherals.
    package var confirmed: Int {
        peripherals.reduce(0) { $0 + $1.confirmed }
    }
}
