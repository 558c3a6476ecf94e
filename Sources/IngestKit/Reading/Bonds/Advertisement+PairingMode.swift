extension Advertisement {
    /// LE Limited and LE General Discoverable Mode (Supplement to the Core Specification Part A 1.3).
    private static let discoverableFlags: UInt8 = 0b11

    /// Whether the device says that it wants to be found, as those do that are to be paired (Core
    /// Specification Vol 3 Part C 9.2).
    package var isInPairingMode: Bool {
        var structures = AdvertisementStructures(data.span)
        while let (type, range) = structures.next() {
            guard type == AdvertisementDataType.flags, let flags = data[range].first else { continue }
            return flags & Self.discoverableFlags != 0
        }
        return false
    }
}
