extension AllowList {
    /// The entries under which `target` may be paired.
    func pairable(_ target: PairingTarget) throws(OrderRefusal) -> [AllowedPeripheral] {
        let found =
            switch target {
            case .model(let id): entries.filter { $0.model.id == id }
            case .device(let address):
                entries.filter { $0.address == address }.nilIfEmpty ?? entries.filter { $0.address == nil }
            }
        guard !found.isEmpty else { throw .notAllowed(target) }
        let linked = found.filter { $0.broadcastFormat == nil }
        guard !linked.isEmpty else {
            // Of an address that nothing pins it is not known what it is.
            if case .device = target, found.allSatisfy({ $0.address == nil }) { throw .notAllowed(target) }
            throw .needsNoPairing(target)
        }
        return linked
    }
}

extension Array {
    fileprivate var nilIfEmpty: Self? { isEmpty ? nil : self }
}
