/// How a simulated peripheral is paired, and what it keeps of its bonds.
package struct SimulatedBonding: Sendable {
    package enum Method: Sendable, Equatable {
        case justWorks
        /// It shows this code, or it is printed on it.
        case passkey(UInt32)
        /// Both sides show a number; the peripheral's is this one, and the central's too.
        case comparison(UInt32)
        /// The central shows this code, which is typed on the peripheral.
        case typed(UInt32)
    }

    package var method: Method
    /// Whether it gives nothing of its attributes' values over a link without encryption.
    package var isRequired: Bool
    /// Whether it is in pairing mode: its adverts say so, and it takes no new bond without.
    package var isInPairingMode: Bool
    /// Takes a link that the central ends after a bond for one that broke, and forgets its keys.
    package var forgetsWhenHungUpOn: Bool
    /// Its bond counts when the central has hung up after it, and not before.
    package var completesAtHangUp: Bool
    /// Under which it has its bonds; nil: the address that it advertises under.
    package var identity: DeviceAddress?
    /// Whether that is another device's, which it gives all the same.
    package var claimsIdentity = false
    /// Adapters, by address, of which it has keys.
    package internal(set) var keys: Set<BluetoothAddress> = []

    package init(
        _ method: Method = .justWorks, isRequired: Bool = true, isInPairingMode: Bool = true,
        forgetsWhenHungUpOn: Bool = false, completesAtHangUp: Bool = false, identity: DeviceAddress? = nil
    ) {
        self.method = method
        self.isRequired = isRequired
        self.isInPairingMode = isInPairingMode
        self.forgetsWhenHungUpOn = forgetsWhenHungUpOn
        self.completesAtHangUp = completesAtHangUp
        self.identity = identity
    }
}

extension [UInt8] {
    /// The advert with the flags of a device that is in pairing mode (LE General Discoverable), or is
    /// not.
    func advert(isInPairingMode: Bool) -> [UInt8] {
        guard count >= 3, self[1] == 0x01 else { return self }
        var advert = self
        advert[2] = isInPairingMode ? 0x06 : 0x04
        return advert
    }
}
