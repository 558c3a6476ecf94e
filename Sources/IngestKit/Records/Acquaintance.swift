/// Since when the gateway has known a device, and each person as its user: what was measured before
/// is not theirs.
public struct Acquaintance: Sendable, Equatable {
    /// When the allow-list first named the device, or its model where it names no address; in
    /// seconds since 1970. Nil while the gateway's clock cannot tell.
    public var device: Int64?
    /// When each of the device's user slots (nil: the device as a whole) came to its present
    /// subject, in seconds since 1970.
    public var subjects: [Int?: Int64]

    public init(device: Int64? = nil, subjects: [Int?: Int64] = [:]) {
        self.device = device
        self.subjects = subjects
    }

    /// The device has always been known, and so have its users: for readings that were not stored.
    public static func always(_ entry: AllowedPeripheral) -> Acquaintance {
        Acquaintance(
            device: .min,
            subjects: Dictionary(uniqueKeysWithValues: entry.assignments.map { ($0.slot, .min) }))
    }
}

extension AllowedPeripheral {
    /// Who is measured, by user slot; the slot of `subject` is nil.
    public var assignments: [(slot: Int?, subject: String)] {
        (subject.map { [(nil, $0)] } ?? []) + users.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Which of a device's user slots a reading belongs to and so which subject; nil is nobody.
    func assignment(of reading: Reading) -> (slot: Int?, subject: String)? {
        if let subject { return (nil, subject) }
        return reading.user.flatMap { slot in users[slot].map { (slot, $0) } }
    }
}
