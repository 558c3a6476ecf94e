public import IngestKit

/// What the simulated peripherals gave, to be compared with what arrived.
public struct SimulationReport: Sendable, Equatable {
    public struct Peripheral: Sendable, Equatable {
        public let address: BluetoothAddress
        /// Readings that it had to give.
        public let readings: Int
        /// How often it was ready to give one on a link; repetitions count.
        public let offered: Int
        /// Readings that were confirmed.
        public let confirmed: Int
        public let linksAccepted: Int
    }

    /// In the order of their addresses.
    public let peripherals: [Peripheral]

    /// Readings that were confirmed, of all peripherals.
    public var confirmed: Int {
        peripherals.reduce(0) { $0 + $1.confirmed }
    }
}
