/// Keys that one adapter of the gateway and one device keep, so that their links can be encrypted
/// (Core Specification Vol 3 Part H 2.4).
package struct Bond: Sendable, Hashable {
    /// By its identity address, whatever it advertises under.
    package let device: DeviceAddress
    /// The adapter's address: indexes change.
    package let adapter: BluetoothAddress

    package init(device: DeviceAddress, adapter: BluetoothAddress) {
        self.device = device
        self.adapter = adapter
    }
}

/// What is known of the gateway's bonds.
package enum BondList: Sendable, Equatable {
    case known(Set<Bond>)
    /// Nobody who keeps them can be asked: bluetoothd is not running.
    case unknown
}

/// The port to who keeps the bonds.
package protocol BondKeeper: Sendable {
    /// The bonds now, and anew after each change. The newest counts. One reader.
    var bonds: AsyncStream<BondList> { get }
    /// Follows the keeper, across its restarts, until the task is cancelled. A device's request to pair
    /// outside of `pair` gets no answer from here that lets it.
    func run() async
    /// The bonds as they are now. Waits, for 10 s at most, until it is known what the keeper has: at the service's start
    /// that takes a moment.
    func current() async -> BondList
    /// Pairs with a device that is advertising now.
    /// - Parameter keepsLink: leave the link up when it is bonded, for the first reading.
    /// - Returns: the bond, under the device's identity address, when its keys are kept.
    func pair(
        _ device: DeviceAddress, on adapter: AdapterID, keepsLink: Bool,
        responder: any PairingResponder
    ) async throws(PairingError) -> Bond
    /// Removes the bond, and ends a link to the device.
    func unpair(_ bond: Bond) async throws(PairingError)
}

/// Answers what a device asks for while it pairs: a person, or a credential.
package protocol PairingResponder: Sendable {
    /// The code of six digits, 0 to 999999, that the device shows or that is printed on it; nil to refuse.
    func passkey() async -> UInt32?
    /// Whether the device shows this number, 0 to 999999.
    func confirms(_ number: UInt32) async -> Bool
    /// The person types this code, 0 to 999999, on the device.
    func show(_ passkey: UInt32) async
    /// The device takes the keys of the bond that is there, so it is asked nothing and asks nothing.
    func keepsBond() async
}

/// Why a device could not be paired, or a bond not be removed.
package enum PairingError: Error, Sendable, Equatable {
    /// bluetoothd is not running, or there is no system bus.
    case noKeeper
    /// The adapter is gone or off.
    case adapterUnavailable
    /// It does not answer: out of range, or it stopped advertising.
    case notReachable
    /// It refuses to pair: it is not in pairing mode, or it has another bond and takes no second.
    case refused
    /// The passkey is wrong, or the numbers differ.
    case wrongPasskey
    /// Nobody gave the passkey, or said that the numbers are the same.
    case noAnswer
    /// It did not come to an end within its time.
    case timedOut
    /// Another pairing is under way.
    case busy
    /// It was stopped: by whoever asked for it, or with the gateway.
    case cancelled
    /// bluetoothd knows no such bond.
    case notBonded
    /// What it said that is none of these: the name of a D-Bus error.
    case other(String)
}
