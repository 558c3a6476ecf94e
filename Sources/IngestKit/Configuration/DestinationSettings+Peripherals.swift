extension DestinationSettings {
    /// Whether entries feed it whose peripherals measure nothing but what it does not take.
    func getsNothing(from entries: [AllowedPeripheral]) -> Bool {
        let feeding = entries.filter(accepts)
        // That of an empty list is told by itself.
        guard let taken = deliveredKinds, kinds?.isEmpty != true, !feeding.isEmpty else { return false }
        return feeding.allSatisfy { entry in
            // Of a profile that this version does not know nothing can be said.
            Profiles.named(entry.model.profile)?.kinds?.isDisjoint(with: taken) ?? false
        }
    }

    /// Whether the person under whom it files is a subject of one of the entries that feed it; also where it files under
    /// none, or no entry feeds it at all.
    func hasOwn(_ entries: [AllowedPeripheral]) -> Bool {
        let feeding = entries.filter(accepts)
        guard let person = form.person, !feeding.isEmpty else { return true }
        return feeding.contains { $0.subject == person || $0.users.values.contains(person) }
    }
}
