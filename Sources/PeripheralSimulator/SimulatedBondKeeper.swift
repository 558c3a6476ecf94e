import Synchronization

/// Keeps the bonds of a simulated box, as bluetoothd does of a real one.
package final class SimulatedBondKeeper: BondKeeper {
    private struct State {
        var isPresent = true
        /// Who waits until the bonds are told; nil when they have been.
        var waiting: [CheckedContinuation<Void, Never>]?
        var isPairing = false
    }

    package let bonds: AsyncStream<BondList>
    private let continuation: AsyncStream<BondList>.Continuation
    private let state = Mutex(State())
    private let air: SimulatedAir

    init(air: SimulatedAir) {
        self.air = air
        (bonds, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        continuation.yield(.known([]))
    }

    /// Returns when the task is cancelled.
    package func run() async {
        let (forever, end) = AsyncStream.makeStream(of: Void.self)
        for await _ in forever {}
        end.finish()
        continuation.finish()
    }

    // MARK: For tests

    /// The bonds that the box has now.
    package var all: Set<Bond> { air.keys.withLock { $0 } }

    /// Goes away, or comes back with the bonds that it had.
    package func setPresent(_ isPresent: Bool) {
        state.withLock { $0.isPresent = isPresent }
        tell()
    }

    /// The service has just started, and has not been told the bonds.
    package func start() {
        state.withLock { $0.waiting = [] }
        tell()
    }

    /// Tells the bonds, once somebody waits for them.
    package func finishStart() async {
        while !Task.isCancelled, state.withLock({ $0.waiting?.isEmpty == true }) { await Task.yield() }
        let waiting = state.withLock { state in
            defer { state.waiting = nil }
            return state.waiting ?? []
        }
        for waiter in waiting { waiter.resume() }
        tell()
    }

    /// Somebody else removes the bond on the box's side.
    package func forget(_ bond: Bond) {
        air.keys.withLock { _ = $0.remove(bond) }
        tell()
    }

    private func tell() {
        state.withLock { state in
            _ = continuation.yield(state.isPresent && state.waiting == nil ? .known(all) : .unknown)
        }
    }

    // MARK: The port

    package func current() async -> BondList {
        await withCheckedContinuation { waiter in
            let isStarting = state.withLock { state in
                state.waiting?.append(waiter)
                return state.waiting != nil
            }
            if !isStarting { waiter.resume() }
        }
        return state.withLock(\.isPresent) ? .known(all) : .unknown
    }

    package func pair(
        _ device: DeviceAddress, on adapter: AdapterID, keepsLink: Bool, responder: any PairingResponder
    ) async throws(PairingError) -> Bond {
        let isFree = state.withLock { state in
            guard state.isPresent, !state.isPairing else { return false }
            state.isPairing = true
            return true
        }
        guard isFree else { throw state.withLock(\.isPresent) ? .busy : .noKeeper }
        defer { state.withLock { $0.isPairing = false } }
        let air = air
        let begun = await air.loop.perform {
            Result { () throws(PairingError) in try air.beginPairing(device, on: adapter) }
        }
        let (peripheral, address, method) = try begun.get()
        let known = Bond(device: peripheral.identity, adapter: address)
        let failure: PairingError?
        if all.contains(known), await air.loop.perform({ peripheral.hasKeys(of: address) }) {
            await responder.keepsBond()
            failure = nil
        } else {
            failure = await Self.authenticate(method, responder)
        }
        let isBonded = failure == nil && !Task.isCancelled
        await air.loop.perform {
            peripheral.endPairing(with: address, isBonded: isBonded, keepsLink: keepsLink)
        }
        guard isBonded else { throw failure ?? .cancelled }
        let bond = Bond(device: peripheral.identity, adapter: address)
        air.keys.withLock { _ = $0.insert(bond) }
        tell()
        return bond
    }

    private static func authenticate(
        _ method: SimulatedBonding.Method, _ responder: any PairingResponder
    ) async -> PairingError? {
        switch method {
        case .justWorks: return nil
        case .passkey(let expected):
            guard let passkey = await responder.passkey() else { return .noAnswer }
            return passkey == expected ? nil : .wrongPasskey
        case .comparison(let number):
            return await responder.confirms(number) ? nil : .noAnswer
        case .typed(let code):
            await responder.show(code)
            return nil
        }
    }

    package func unpair(_ bond: Bond) async throws(PairingError) {
        let wasThere = air.keys.withLock { $0.remove(bond) != nil }
        guard wasThere else { throw .notBonded }
        tell()
    }
}
