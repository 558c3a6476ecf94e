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
    }

    /// Class and length.
    static let headerSize = 3

    /// The kinds that the values belong to.
    private var kinds: Set<RecordKind> = []
    private var reading = Reading(kind: .healthObservation)
    private var duration: Measurement.Value?

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

    private init() {}

    /// A reading of the kind that all values belong to, if there is one.
    private var finished: Reading {
        var reading = self.reading
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
        let isUnusable = try decodeCommonFields(flags, &body)
        let first = reading.measurements.count
        try decodeValue(form, type: ownType, &body)
        guard isUnusable else { return }
        for index in reading.measurements.indices.suffix(from: first) {
            reading.measurements[index].value = .absent(.markedUnusable)
        }
    }

    /// - Returns: whether the device says that the values are none.
    private mutating func decodeCommonFields(
        _ flags: Flags, _ body: inout ByteCursor
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
            reading.flags += try codes("supplemental information", &body)
                .map(HealthNomenclature.supplementalFlag)
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
            reading.flags.append("value-mdc-\(try body.uint32("value"))")
        case .compoundDiscrete:
            kinds.insert(.healthObservation)
            reading.flags += try codes("values", &body).map { "value-mdc-\($0)" }
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
                reading.flags.append("value-mdc-\(try body.uint32("component value"))")
            default:
                kinds.insert(.healthObservation)
                reading.flags.append(Self.valueInRawFlag)
                return
            }
        }
    }
}
