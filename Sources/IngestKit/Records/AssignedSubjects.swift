/// Whose the readings of a device are, by the operator's word.
package struct AssignedSubjects: Sendable, Equatable {
    /// Of the device; nil: any device of a model, which is no person's.
    package var address: BluetoothAddress?
    /// Whose all of its readings are.
    package var subject: String?
    /// Whose they are by the device's user slot.
    package var users: [Int: String]
    /// ISO 8601 date, `2026-11-01`; nil: from when the gateway first knew them.
    package var since: String?

    package init(
        address: BluetoothAddress? = nil, subject: String? = nil, users: [Int: String] = [:],
        since: String? = nil
    ) {
        self.address = address
        self.subject = subject
        self.users = users
        self.since = since
    }

    /// The persons by user slot; the slot of `subject` is nil.
    package var assignments: [(slot: Int?, subject: String)] {
        (subject.map { [(nil, $0)] } ?? []) + users.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The user slot that a reading belongs to, and the person behind it; nil is nobody.
    func assignment(of reading: Reading) -> (slot: Int?, subject: String)? {
        if let subject { return (nil, subject) }
        return reading.user.flatMap { slot in users[slot].map { (slot, $0) } }
    }
}
