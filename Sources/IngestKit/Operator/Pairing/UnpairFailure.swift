/// Why a bond was not removed.
package enum UnpairFailure: Error, Sendable, Equatable {
    case noKeeper
    /// Another order is under way.
    case busy
    /// There is no bond of the target with a device of the allow-list.
    case notBonded(PairingTarget)
    /// A model was named, and which device of it is meant cannot be told. The bonds that there are.
    case whichDevice(Int, [BluetoothAddress])
    case error(PairingError)

    /// One sentence that says what to do.
    package var message: String {
        switch self {
        case .noKeeper: return PairingError.noKeeper.message
        case .busy: return OrderRefusal.busy.message
        case .notBonded(let target): return "there is no bond with \(target)"
        case .whichDevice(let id, let bonds):
            let list = bonds.map(\.description).joined(separator: ", ")
            return "no entry with id \(id) names a bonded device by its address: give the address"
                + (list.isEmpty ? " (there are no bonds)" : " (there are bonds with \(list))")
        case .error(let error): return error.message
        }
    }

    /// As the control socket tells it.
    package var reason: FailureReason {
        switch self {
        case .noKeeper: .noKeeper
        case .busy: .busy
        case .notBonded: .notBonded
        case .whichDevice: .whichDevice
        case .error(let error): error.reason
        }
    }
}
