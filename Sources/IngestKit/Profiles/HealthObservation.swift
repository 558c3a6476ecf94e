/// One observation of a Generic Health Sensor (Service 1.0): class, length, flags, the fields that
/// the flags announce, and a value of the class's form.
struct HealthObservation {
    /// What stands for a value that has no place in a record's measurements and flags.
    static let valueInRawFlag = "value-in-raw"

    private enum Class: UInt8 {
        case numeric = 1
        case discrete = 2
        case string = 3
        case sampleArray = 4
        case compoundDiscrete = 5
        case compoundState = 6
        case compound = 7
        case typeLengthValue = 8
        /// Several observations with what they have in common.
        case bundle = 255
    }

    private struct Flags: OptionSet {
        let rawValue: UInt16

        static let type = Flags(rawValue: 1 << 0)
        static let timeStamp = Flags(rawValue: 1 << 1)
        static let duration = Flags(rawValue: 1 << 2)
        static let status = Flags(rawValue: 1 << 3)
        static let identifier = Flags(rawValue: 1 << 4)
        static let patient = Flags(rawValue: 1 << 5)
        static let supplementalTypes = Flags(rawValue: 1 << 6)
        static let derivedFrom = Flags(rawValue: 1 << 7)
        static let memberOf = Flags(rawValue: 1 << 8)
        static let typeLengthValues = Flags(rawValue: 1 << 9)
        /// How many there are.
        static let count = 10
    }

    /// Class and length.
    static let headerSize = 3

    /// The kinds that the values belong to.
    private var kinds: Set<RecordKind> = []
    private var reading = Reading(kind: .healthObservation)
    private var duration: Measurement.Value?
    /// Flags of the bundle's supplemental information, in whose place comes what its members say of themselves.
    private var flagsOfBundle: Set<String> = []

    /// Whether bytes are exactly one observation, by their class and length.
    static func fills(_ bytes: ArraySlice<UInt8>) -> Bool {
        var cursor = ByteCursor(Array(bytes.prefix(headerSize)))
        guard let number = try? cursor.uint8("class"), let length = try? cursor.uint16("length") else {
            return false
        }
        return Class(rawValue: number) != nil && bytes.count == headerSize + Int(length)
    }

    static func decode(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        var observation = HealthObservation()
        try observation.decode(&cursor, type: nil, isMember: false)
        return observation.finished
    }

    private static let valuePrefix = "value-mdc-"

    private init() {}

    /// A reading of the kind that all values belong to, if there is one.
    private var finished: Reading {
        var reading = self.reading
        // Members of a bundle may say the same of themselves. Of their values each counts.
        var said: Set<String> = []
        reading.flags = reading.flags.filter { $0.hasPrefix(Self.valuePrefix) || said.insert($0).inserted }
        if let kind = kinds.first, kinds.count == 1 { reading.kind = kind }
        if let duration {
            reading.measurements.append(
                Measurement(type: "measurement-duration", code: nil, value: duration, unit: "s"))
        }
        return reading
    }

    /// - Parameter type: of the bundle that this is a member of.
    private mutating func decode(
        _ cursor: inout ByteCursor, type: UInt32?, isMember: Bool
    ) throws(DecodeError) {
        guard let form = Class(rawValue: try cursor.uint8("observation class")),
            form != .bundle || !isMember
        else { throw .prohibitedValue(field: "observation class") }
        let length = try cursor.uint16("observation length")
        var body = ByteCursor(Array(try cursor.bytes(Int(length), "observation")))
        let flags = Flags(rawValue: try body.uint16("observation flags"))
        let ownType = flags.contains(.type) ? try body.uint32("observation type") : type
        let isUnusable = try decodeCommonFields(flags, &body, isMember: isMember)
        let first = reading.measurements.count
        try decodeValue(form, type: ownType, &body)
        guard isUnusable else { return }
        for index in reading.measurements.indices.suffix(from: first) {
            reading.measurements[index].value = .absent(.markedUnusable)
        }
    }

    /// - Returns: whether the device says that the values are none.
    private mutating func decodeCommonFields(
        _ flags: Flags, _ body: inout ByteCursor, isMember: Bool
    ) throws(DecodeError) -> Bool {
        var status: UInt16 = 0
        if flags.contains(.timeStamp) {
            try ElapsedTime(&body).apply(to: &reading)
        }
        if flags.contains(.duration) {
            duration = try body.float("measurement duration")
        }
        if flags.contains(.status) {
            status = try body.uint16("measurement status")
            reading.flags += StatusBits.names(status, HealthNomenclature.statusNames)
        }
        if flags.contains(.identifier) {
            _ = try body.uint32("observation id")
        }
        if flags.contains(.patient) {
            reading.applyUser(try body.uint8("patient"))
        }
        if flags.contains(.supplementalTypes) {
            let own = try codes("supplemental information", &body).map(HealthNomenclature.supplementalFlag)
            reading.flags.removeAll { flagsOfBundle.contains($0) }
            flagsOfBundle = isMember ? [] : Set(own)
            reading.flags += own
        }
        // References to other observations by their ids.
        if flags.contains(.derivedFrom) { _ = try codes("derived from", &body) }
        if flags.contains(.memberOf) { _ = try codes("member of", &body) }
        if flags.contains(.typeLengthValues) { try skipTypeLengthValues(&body) }
        return status & HealthNomenclature.unusableStatus != 0
    }

    /// A count and as many numbers of four bytes.
    private func codes(_ field: String, _ body: inout ByteCursor) throws(DecodeError) -> [UInt32] {
        var codes: [UInt32] = []
        for _ in 0..<(try body.uint8(field)) { codes.append(try body.uint32(field)) }
        return codes
    }

    /// A count and as many of type, length, format and value.
    private func skipTypeLengthValues(_ body: inout ByteCursor) throws(DecodeError) {
        for _ in 0..<(try body.uint8("TLVs")) {
            _ = try body.uint32("TLV type")
            let length = try body.uint16("TLV length")
            _ = try body.uint8("TLV format")
            _ = try body.bytes(Int(length), "TLV value")
        }
    }

    private mutating func decodeValue(
        _ form: Class, type: UInt32?, _ body: inout ByteCursor
    ) throws(DecodeError) {
        switch form {
        case .numeric:
            guard let type else { throw .prohibitedValue(field: "observation flags") }
            try decodeNumeric(type, &body)
        case .discrete:
            kinds.insert(.healthObservation)
            reading.flags.append(Self.valuePrefix + "\(try body.uint32("value"))")
        case .compoundDiscrete:
            kinds.insert(.healthObservation)
            reading.flags += try codes("values", &body).map { Self.valuePrefix + "\($0)" }
        case .compound:
            try decodeComponents(&body)
        case .bundle:
            for _ in 0..<(try body.uint8("number of observations")) {
                try decode(&body, type: type, isMember: true)
            }
        case .string, .sampleArray, .compoundState, .typeLengthValue:
            kinds.insert(.healthObservation)
            reading.flags.append(Self.valueInRawFlag)
        }
    }

    private mutating func decodeNumeric(
        _ type: UInt32, _ body: inout ByteCursor
    ) throws(DecodeError) {
        let unit = HealthNomenclature.unit(try body.uint16("unit"))
        let term = HealthNomenclature.term(type)
        kinds.insert(term.kind)
        reading.measurements.append(
            Measurement(type: term.type, code: type, value: try body.float("value"), unit: unit))
    }

    /// A count and as many of type, class and value. The size of a value is known only where its
    /// class is: what follows one of another class stays in the raw bytes.
    private mutating func decodeComponents(_ body: inout ByteCursor) throws(DecodeError) {
        for _ in 0..<(try body.uint8("number of components")) {
            let type = try body.uint32("component type")
            switch Class(rawValue: try body.uint8("component class")) {
            case .numeric:
                try decodeNumeric(type, &body)
            case .discrete:
                kinds.insert(.healthObservation)
                reading.flags.append(Self.valuePrefix + "\(try body.uint32("component value"))")
            default:
                kinds.insert(.healthObservation)
                reading.flags.append(Self.valueInRawFlag)
                return
            }
        }
    }
}

// MARK: - Bundles

extension HealthObservation {
    /// The octets of the fields in front of a value, by the bit of the flags that announces each.
    private struct Fields {
        private(set) var octets: [[UInt8]?]

        init(_ flags: Flags, _ body: inout ByteCursor) throws(DecodeError) {
            octets = Array(repeating: nil, count: Flags.count)
            for bit in 0..<Flags.count where flags.rawValue & 1 << bit != 0 {
                octets[bit] = try Self.field(Flags(rawValue: 1 << bit), &body)
            }
        }

        private static func field(
            _ flag: Flags, _ body: inout ByteCursor
        ) throws(DecodeError) -> [UInt8] {
            switch flag {
            case .timeStamp: return Array(try body.bytes(ElapsedTime.size, "time stamp"))
            case .status: return Array(try body.bytes(2, "measurement status"))
            case .patient: return [try body.uint8("patient")]
            case .supplementalTypes, .derivedFrom, .memberOf:
                let count = try body.uint8("number of codes")
                return [count] + (try body.bytes(4 * Int(count), "codes"))
            case .typeLengthValues:
                var all = [try body.uint8("TLVs")]
                for _ in 0..<all[0] {
                    let type = try body.bytes(4, "TLV type")
                    let length = try body.uint16("TLV length")
                    all += type + [UInt8(length & 0xFF), UInt8(length >> 8)]
                    all += try body.bytes(1 + Int(length), "TLV value")
                }
                return all
            default: return Array(try body.bytes(4, "type, duration or identifier"))
            }
        }

        /// With what the bundle says of all its members, where the member does not say it of itself. Each state of the two
        /// holds.
        func within(_ bundle: Fields) -> Fields {
            var fields = self
            for bit in octets.indices where 1 << bit != Flags.identifier.rawValue {
                fields.octets[bit] = octets[bit] ?? bundle.octets[bit]
            }
            let status = Flags.status.rawValue.trailingZeroBitCount
            if let own = octets[status], let common = bundle.octets[status] {
                fields.octets[status] = zip(own, common).map { $0 | $1 }
            }
            return fields
        }

        /// What a record has once for all its numbers.
        var ofRecord: [[UInt8]?] {
            [Flags.timeStamp, .duration, .status, .patient, .supplementalTypes].map {
                octets[$0.rawValue.trailingZeroBitCount]
            }
        }

        var encoded: [UInt8] {
            let flags = octets.indices.reduce(UInt16(0)) { octets[$1] == nil ? $0 : $0 | 1 << $1 }
            return [UInt8(flags & 0xFF), UInt8(flags >> 8)] + octets.compactMap { $0 }.joined()
        }
    }

    /// The members of a bundle that differ in what a record has once, each as an observation of its own with what the
    /// bundle says of all; otherwise the observation that came.
    static func divide(_ observation: [UInt8]) throws(DecodeError) -> [[UInt8]] {
        func parts(_ cursor: inout ByteCursor) throws(DecodeError) -> (form: UInt8, Fields, ByteCursor) {
            let form = try cursor.uint8("observation class")
            let length = try cursor.uint16("observation length")
            var body = ByteCursor(Array(try cursor.bytes(Int(length), "observation")))
            let flags = Flags(rawValue: try body.uint16("observation flags"))
            return (form, try Fields(flags, &body), body)
        }
        var cursor = ByteCursor(observation)
        var (form, common, body) = try parts(&cursor)
        guard form == Class.bundle.rawValue else { return [observation] }
        var members: [(form: UInt8, fields: Fields, value: [UInt8])] = []
        for _ in 0..<(try body.uint8("number of observations")) {
            var (form, fields, value) = try parts(&body)
            members.append((form, fields.within(common), Array(value.rest())))
        }
        guard let first = members.first,
            !members.allSatisfy({ $0.fields.ofRecord == first.fields.ofRecord })
        else { return [observation] }
        return members.map { member in
            let content = member.fields.encoded + member.value
            return [member.form, UInt8(content.count & 0xFF), UInt8(content.count >> 8 & 0xFF)] + content
        }
    }

    /// The observation, or bundle with all its members, as it was before the device's clock was set: with each time stamp on
    /// the current timeline. Bytes that hold none stay as they are.
    static func onCurrentTimeline(_ observation: [UInt8]) -> [UInt8] {
        var named = observation
        /// Returns where the fields end.
        func mark(at start: Int) -> Int? {
            var body = ByteCursor(Array(named[min(start + headerSize, named.count)...]))
            guard let bits = try? body.uint16("observation flags"),
                let fields = try? Fields(Flags(rawValue: bits), &body)
            else { return nil }
            let flags = Flags(rawValue: bits)
            if flags.contains(.timeStamp) {
                ElapsedTime.markCurrent(&named[start + headerSize + 2 + (flags.contains(.type) ? 4 : 0)])
            }
            return start + headerSize + fields.encoded.count
        }
        guard let count = mark(at: 0), named[0] == Class.bundle.rawValue, count < named.count else {
            return named
        }
        var start = count + 1
        for _ in 0..<named[count] {
            guard start + headerSize <= named.count, mark(at: start) != nil else { break }
            start += headerSize + Int(named[start + 1]) + Int(named[start + 2]) << 8
        }
        return named
    }
}
