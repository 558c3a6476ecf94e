/// Bytes at a place of an AD structure, as the kernel's advertisement monitors know them
/// (mgmt-protocol, Add Advertisement Patterns Monitor: `struct mgmt_adv_pattern`).
package struct AdvertisementPattern: Sendable, Hashable {
    /// The kernel refuses a pattern that reaches further into the structure's value
    /// (HCI_MAX_AD_LENGTH).
    package static let maximumReach = 31

    /// The AD type.
    package let type: UInt8
    /// Where `bytes` begin in the structure's value.
    package let offset: UInt8
    /// At least one.
    package let bytes: [UInt8]

    /// Nil for a pattern without bytes, and for one that reaches past `maximumReach`.
    package init?(type: UInt8, offset: UInt8, bytes: [UInt8]) {
        guard !bytes.isEmpty, Int(offset) + bytes.count <= Self.maximumReach else { return nil }
        self.type = type
        self.offset = offset
        self.bytes = bytes
    }
}

extension AdvertisementFilter {
    /// The most patterns that `kernelPatterns` gives: what the kernel takes in all, 32 monitors of
    /// 16 patterns (HCI_MAX_ADV_MONITOR_NUM_HANDLES, HCI_MAX_ADV_MONITOR_NUM_PATTERNS).
    package static let maximumKernelPatterns = 512

    /// Patterns of which an advert of every model here has one: for a controller that matches
    /// patterns itself. They admit more than the filter does, which decides in the end.
    ///
    /// Patterns are alternatives to each other, so of a model's marks only the one that takes the
    /// fewest is used. A text somewhere in a name has no fixed place and no pattern, so a model needs
    /// another mark beside it; by it alone a model gets no pattern. A service may stand anywhere in a list of services, and a pattern has a
    /// fixed place: there is one for each of the first four places. Devices named by address are
    /// not among the patterns, which know no addresses.
    ///
    /// The order depends on the models alone, not on their order; the least likely come last, and
    /// those are what `maximumKernelPatterns` cuts off.
    package var kernelPatterns: [AdvertisementPattern] {
        var patterns: Set<AdvertisementPattern> = []
        for marks in models {
            let choices = marks.compactMap(\.kernelPatterns)
            // A mark without alternatives can match no advert, nor then can its model.
            guard !choices.contains(where: \.isEmpty) else { continue }
            patterns.formUnion(choices.min { $0.count < $1.count } ?? [])
        }
        return Array(patterns.sorted(by: Self.isLikelier).prefix(Self.maximumKernelPatterns))
    }

    private static func isLikelier(_ left: AdvertisementPattern, _ right: AdvertisementPattern) -> Bool {
        if left.offset != right.offset { return left.offset < right.offset }
        if left.type != right.type { return left.type < right.type }
        return left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension AdvertisementFilter.Mark {
    /// Where the first four services of a list of 16-bit ones stand. Lists of health devices are
    /// short: a blood-pressure cuff lists itself, device information, battery and current time.
    private static let servicePlaces: [UInt8] = [0, 2, 4, 6]

    /// Alternatives, one of which every advert with this mark is expected to have; empty where no
    /// advert can have the mark, nil where no pattern can express it.
    fileprivate var kernelPatterns: [AdvertisementPattern]? {
        typealias DataType = AdvertisementDataType
        switch self {
        case .service(let uuid):
            let bytes = Self.littleEndian(uuid)
            let lists = [DataType.someShortServices, DataType.allShortServices].flatMap { type in
                Self.servicePlaces.compactMap { AdvertisementPattern(type: type, offset: $0, bytes: bytes) }
            }
            let owner = AdvertisementPattern(type: DataType.shortServiceData, offset: 0, bytes: bytes)
            return lists + [owner].compactMap(\.self)
        case .longService(let uuid):
            let bytes = Self.littleEndian(uuid.low) + Self.littleEndian(uuid.high)
            // A second one would reach past what patterns can.
            return [DataType.someLongServices, DataType.allLongServices, DataType.longServiceData].compactMap
            {
                AdvertisementPattern(type: $0, offset: 0, bytes: bytes)
            }
        case .company(let company):
            let bytes = Self.littleEndian(company)
            let pattern = AdvertisementPattern(type: DataType.manufacturerData, offset: 0, bytes: bytes)
            return [pattern].compactMap(\.self)
        case .namePrefix(let prefix):
            let bytes = Array(prefix.prefix(AdvertisementPattern.maximumReach))
            return [DataType.shortenedName, DataType.completeName].compactMap {
                AdvertisementPattern(type: $0, offset: 0, bytes: bytes)
            }
        case .nameContains(let text):
            return text.isEmpty ? [] : nil
        }
    }

    private static func littleEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}
