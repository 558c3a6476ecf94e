/// What happened to a value on the peripheral's side.
package struct SimulatedValue: Sendable, Equatable {
    package enum Fate: String, Sendable {
        /// It was sent; repetitions count.
        case offered
        /// Its confirmation came.
        case confirmed
    }

    package let fate: Fate
    package let device: BluetoothAddress
    package let characteristic: BluetoothUUID
    package let payload: [UInt8]
}
