extension FirstSeen {
    /// 2026-01-01T00:00:00Z, in seconds since 1970: before that there was no version of this program. What is said to be
    /// known since then was noted by a clock that was wrong.
    package static let earliest: Int64 = 1_767_225_600
}

/// Since when the gateway has known a device, and each person as its user: what was measured before
/// is not theirs.
package struct FirstSeen: Sendable, Equatable {
    /// When the allow-list first named the device, or its model where it names no address. Nil where
    /// that cannot be told.
    package var device: NotedMoment?
    /// When each of the device's user slots (nil: the device as a whole) came to its present subject.
    package var subjects: [Int?: NotedMoment]

    package init(device: NotedMoment?, subjects: [Int?: NotedMoment]) {
        self.device = device
        self.subjects = subjects
    }

    /// With moments in seconds since 1970.
    package init(device: Int64? = nil, subjects: [Int?: Int64] = [:]) {
        self.init(device: device.map(NotedMoment.wall), subjects: subjects.mapValues(NotedMoment.wall))
    }

    /// The device has always been known, and so have its users: for readings that were not stored.
    package static func always(_ subjects: AssignedSubjects) -> FirstSeen {
        FirstSeen(
            device: .min,
            subjects: Dictionary(uniqueKeysWithValues: subjects.assignments.map { ($0.slot, .min) }))
    }
}
