/// What the store knows of the share.
struct StrangerLimits: Sendable {
    /// More refusals are not remembered: who is not remembered is refused anew.
    private static let mostRefusals = 256

    /// Nil is without bounds.
    var share: StrangerShare?
    /// How many bytes each needed that was refused; the one without address, all.
    private(set) var needs: [String: Int64] = [:]
    /// Whether something of theirs changed since it was asked last.
    var isChanged = true
    /// How often the operator changed what may be dropped: which destinations want what, or what is set aside.
    private(set) var orders = 0

    mutating func refuse(_ address: String, needs bytes: Int64) {
        if needs.count >= Self.mostRefusals, needs[address] == nil,
            let other = needs.keys.first(where: { !$0.isEmpty })
        {
            needs[other] = nil
        }
        needs[address] = bytes
        isChanged = true
    }

    mutating func noteOrder() {
        orders += 1
        isChanged = true
    }

    /// There is room again for what was refused.
    mutating func admit(_ address: String) { needs[address] = nil }
}
