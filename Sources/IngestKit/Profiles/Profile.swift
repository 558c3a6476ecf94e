/// How one kind of peripheral is read: what sends its measurements, in which order the link goes, and
/// what the payloads mean.
package struct Profile: Sendable {
    typealias Decoder = @Sendable (inout ByteCursor) throws(DecodeError) -> Reading
    /// Cuts a payload that holds several records into one for each.
    typealias Splitter = @Sendable ([UInt8]) throws(DecodeError) -> [[UInt8]]

    /// Says what the packets so far are, the newest last: never empty.
    package typealias Assembler = @Sendable ([[UInt8]]) throws(DecodeError) -> Assembly
    /// The bytes of the value that packets make up.
    typealias Joiner = @Sendable ([[UInt8]]) -> [UInt8]
    /// The payload that names a reading with a date.
    typealias Namer = @Sendable (RawPayload) -> RawPayload

    /// Whether packets make up one value.
    package enum Assembly: Sendable, Equatable {
        /// They are a whole value.
        case complete(Reading)
        /// They belong together, and more is to come.
        case incomplete
        /// The newest does not belong to those before it.
        case unrelated
    }

    /// A characteristic that sends measurements by itself, in its service.
    package struct Source: Sendable, Hashable {
        package let service: BluetoothUUID
        package let characteristic: BluetoothUUID
        /// Whether peripherals of the profile may lack it. One source at least must be there.
        package let isOptional: Bool
        /// The source that says the same and more: where the peripheral has it, this one is left alone.
        package let successor: BluetoothUUID?

        package init(
            _ characteristic: BluetoothUUID, in service: BluetoothUUID, isOptional: Bool = false,
            successor: BluetoothUUID? = nil
        ) {
            self.service = service
            self.characteristic = characteristic
            self.isOptional = isOptional
            self.successor = successor
        }
    }

    /// The order of things on the link.
    package enum Procedure: Sendable, Hashable {
        /// The peripheral sends what it has once it is subscribed to.
        case measurements
        /// The peripheral keeps records and reports them when asked (Record Access Control Point).
        case storedRecords(RecordAccess)
        /// The peripheral sends a value each second or so for as long as it is worn; its sources, in
        /// a stream, and those that are single measurements all the same.
        case stream(singles: Set<BluetoothUUID>)
        /// Generic Health Sensor: what is stored is asked for, live observations are switched on at a
        /// control point.
        case observations
        /// LifeScan's own protocol.
        case oneTouchVerio
        /// Read from adverts, never connected to.
        case broadcast
    }

    /// An attribute value is never longer (Core Specification Vol 3 Part F 3.2.9).
    package static let maximumPayload = 512
    /// What a notification or indication carries without an MTU exchange: ATT_MTU 23 less opcode
    /// and handle (Core Specification Vol 3 Part F 3.4.7).
    package static let payloadOfDefaultMTU = 20

    /// As catalogue models name it: `blood-pressure`.
    package let name: String
    /// Whether its peripherals send for as long as there is a link.
    package var isStream: Bool { if case .stream = procedure { true } else { false } }

    /// The kinds of records that its peripherals measure; nil where they may measure anything. Their battery, which makes
    /// no record of its own, is none of them.
    package let kinds: Set<RecordKind>?
    /// What to subscribe to, in this order. Empty for broadcasts.
    package let sources: [Source]
    package let procedure: Procedure
    /// The longest payload that the profile defines, in bytes; one above `payloadOfDefaultMTU`
    /// needs an MTU exchange.
    package let longestPayload: Int
    /// Characteristics that are read once and whose flags hold for each measurement that says nothing
    /// of its own: where a thermometer or a heart-rate sensor is worn.
    package let standing: [Source]
    /// Characteristics that are read once and say what the peripheral can do.
    package let features: [Source]
    /// The decoders of its characteristics: of the sources, and of those that are only read.
    let decoders: [BluetoothUUID: Decoder]
    /// For sources that put several records into one payload, or into one value of several packets.
    let splitters: [BluetoothUUID: Splitter]
    /// For sources that may spread one value over several packets.
    package let assemblers: [BluetoothUUID: Assembler]
    /// For those of them whose packets have something around the value.
    let joiners: [BluetoothUUID: Joiner]
    /// Where one reading may come in two payloads, which are named alike.
    let namer: Namer?

    init(
        name: String, kinds: Set<RecordKind>?, sources: [Source], procedure: Procedure = .measurements,
        longestPayload: Int,
        standing: [Source] = [], features: [Source] = [], decoders: [BluetoothUUID: Decoder],
        splitters: [BluetoothUUID: Splitter] = [:],
        assemblers: [BluetoothUUID: Assembler] = [:], joiners: [BluetoothUUID: Joiner] = [:],
        namer: Namer? = nil
    ) {
        self.name = name
        self.kinds = kinds
        self.sources = sources
        self.procedure = procedure
        self.longestPayload = longestPayload
        self.standing = standing
        self.features = features
        self.decoders = decoders
        self.splitters = splitters
        self.assemblers = assemblers
        self.joiners = joiners
        self.namer = namer
    }

    /// Whether values of this characteristic are measurements of the profile.
    package func measures(_ characteristic: BluetoothUUID) -> Bool {
        sources.contains { $0.characteristic == characteristic }
    }

    /// The payloads of single records that a value consists of, in order; the value itself where the
    /// profile puts one into each.
    package func records(
        in bytes: [UInt8], of characteristic: BluetoothUUID
    ) throws(DecodeError) -> [[UInt8]] {
        guard let splitter = splitters[characteristic] else { return [bytes] }
        // What came in packets may be longer than each of them.
        guard assemblers[characteristic] != nil || bytes.count <= Self.maximumPayload else {
            throw .tooLong(count: bytes.count, limit: Self.maximumPayload)
        }
        return try splitter(bytes)
    }

    /// What a payload of one of this profile's characteristics says. Bytes after the last field
    /// are accepted: later versions of a profile append fields.
    package func decode(
        _ bytes: [UInt8], of characteristic: BluetoothUUID
    ) throws(DecodeError) -> Reading {
        guard let decoder = decoders[characteristic] else {
            throw .unknownCharacteristic(characteristic)
        }
        return try Self.run(decoder, bytes)
    }

    /// Whether these packets of one characteristic, the newest last, make up a value.
    package func assemble(
        _ packets: [[UInt8]], of characteristic: BluetoothUUID
    ) throws(DecodeError) -> Assembly {
        guard let newest = packets.last else { return .incomplete }
        guard let assembler = assemblers[characteristic] else {
            return packets.count == 1 ? .complete(try decode(newest, of: characteristic)) : .unrelated
        }
        for packet in packets where packet.count > Self.maximumPayload {
            throw .tooLong(count: packet.count, limit: Self.maximumPayload)
        }
        let assembly = try assembler(packets)
        guard case .complete(var reading) = assembly else { return assembly }
        reading.disownUnmeasured()
        return .complete(reading)
    }

    /// The bytes of the value that these packets make up: what its record keeps and is named by.
    package func join(_ packets: [[UInt8]], of characteristic: BluetoothUUID) -> [UInt8] {
        joiners[characteristic]?(packets) ?? Array(packets.joined())
    }

    /// The payload that names a reading with a date; nil: the one that came.
    package func name(of raw: RawPayload) -> RawPayload? { namer?(raw) }

    static func run(_ decoder: Decoder, _ bytes: [UInt8]) throws(DecodeError) -> Reading {
        guard bytes.count <= maximumPayload else {
            throw .tooLong(count: bytes.count, limit: maximumPayload)
        }
        var cursor = ByteCursor(bytes)
        var reading = try decoder(&cursor)
        reading.disownUnmeasured()
        return reading
    }
}

/// All profiles, and all characteristics that can be decoded.
package enum Profiles {
    /// In the order of their names.
    package static let all: [Profile] = [
        .bloodPressure, .bodyComposition, .bthome, .continuousGlucose, .genericHealthSensor, .glucose,
        .heartRate, .miScale, .mibeacon, .oneTouchVerio, .pulseOximeter, .thermometer, .weightScale,
    ]

    /// Of the characteristics beside which there may be a clock that does not say its zone (2A2B, 2A08), those whose
    /// readings may say it.
    package static let sayingZones: Set<BluetoothUUID> = [
        EnhancedBloodPressure.measurement, EnhancedBloodPressure.record, GenericHealthSensor.live,
        GenericHealthSensor.stored,
    ]

    /// What this version can read.
    package static var names: Set<String> { Set(all.map(\.name)) }

    /// The profile that catalogue models name so; nil for an unknown name.
    package static func named(_ name: String) -> Profile? {
        all.first { $0.name == name }
    }

    /// The characteristics that `decode` knows, in the order of their UUIDs.
    package static var characteristics: [BluetoothUUID] {
        decoders.keys.sorted { $0.description < $1.description }
    }

    /// What a payload says, whichever profile it belongs to.
    package static func decode(
        characteristic: BluetoothUUID, bytes: [UInt8]
    ) throws(DecodeError) -> Reading {
        guard let decoder = decoders[characteristic] else {
            throw .unknownCharacteristic(characteristic)
        }
        return try Profile.run(decoder, bytes)
    }

    /// The payloads of single records that a value of the characteristic consists of, in order;
    /// the value itself where its profile puts one into each.
    static func records(
        in bytes: [UInt8], of characteristic: BluetoothUUID
    ) throws(DecodeError) -> [[UInt8]] {
        guard let profile = splitting[characteristic] else { return [bytes] }
        return try profile.records(in: bytes, of: characteristic)
    }

    /// The profiles that put several records into one payload, by the characteristic.
    private static let splitting: [BluetoothUUID: Profile] = {
        var profiles: [BluetoothUUID: Profile] = [:]
        for profile in all {
            for characteristic in profile.splitters.keys { profiles[characteristic] = profile }
        }
        return profiles
    }()

    private static let decoders: [BluetoothUUID: Profile.Decoder] = {
        var decoders: [BluetoothUUID: Profile.Decoder] = [
            BatteryLevel.characteristic: BatteryLevel.decode,
            RecordAccess.controlPoint: RecordAccessControlPoint.decode,
            CurrentTime.characteristic: CurrentTime.decode,
            CurrentTime.dateTime: CurrentTime.decodeDateTime,
        ]
        for profile in all {
            // Profiles that share a characteristic share its decoder.
            decoders.merge(profile.decoders) { first, _ in first }
        }
        return decoders
    }()
}
