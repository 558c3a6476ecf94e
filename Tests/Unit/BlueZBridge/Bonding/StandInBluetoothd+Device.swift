@testable import IngestCore

extension StandInBluetoothd {
    /// How a device pairs.
    enum Manner: Sendable, Equatable {
        /// No question is asked.
        case justWorks
        /// As Just Works, begun by the device at the same time.
        case authorization
        /// The agent is to give this passkey.
        case passkey(UInt32)
        /// The agent is to say whether the device shows this number.
        case comparison(UInt32)
        /// The agent is to show this passkey, which the person then types.
        case display(UInt32)
        /// It refuses.
        case refuses
        /// Pair fails with this error.
        case error(String)
        /// It pairs, and keeps no keys.
        case unbonded
        /// Nothing ever happens.
        case silence
        /// It hangs up in the middle.
        case hangsUp
        /// It is bonded, and hangs up at once.
        case hangsUpBonded
    }

    struct Device {
        let path: String
        var address: DeviceAddress
        var identity: DeviceAddress?
        var manner = Manner.justWorks
        var isBonded = false
        var isPaired = false
        var isConnected = false
        var isShown = false
    }
}
