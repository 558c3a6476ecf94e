public import IngestKit

/// What happened to a value on the peripheral's side.
public struct SimulatedValue: Sendable, Equatable {
    public enum Fate: String, Sendable {
        /// It was sent; repetitions count.
        case offered
        /// Its confirmation came.
        case confirmed
    }

    public let fate: Fate
    public let device: BluetoothAddress
    public let characteristic: BluetoothUUID
    public let payload: [UInt8]
}
