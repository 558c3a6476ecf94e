extension Profile {
    /// Generic Health Sensor Service 1.0.
    static let genericHealthSensor = Profile(
        name: "generic-health-sensor", kinds: nil,
        sources: [
            Source(GenericHealthSensor.live, in: 0x1840, isOptional: true),
            Source(GenericHealthSensor.stored, in: 0x1840, isOptional: true),
        ],
        procedure: .observations,
        // Segments fit any MTU: this is what one link-layer packet carries.
        longestPayload: 244,
        decoders: [
            GenericHealthSensor.live: GenericHealthSensor.decodeLive,
            GenericHealthSensor.stored: GenericHealthSensor.decodeStored,
            ElapsedTime.currentElapsedTime: ElapsedTime.decode,
        ],
        splitters: [
            GenericHealthSensor.live: { GenericHealthSensor.divide($0, isStored: false) },
            GenericHealthSensor.stored: { GenericHealthSensor.divide($0, isStored: true) },
        ],
        assemblers: [
            GenericHealthSensor.live: GenericHealthSensor.assembleLive,
            GenericHealthSensor.stored: GenericHealthSensor.assembleStored,
        ],
        joiners: [
            GenericHealthSensor.live: { GenericHealthSensor.join($0, isStored: false) },
            GenericHealthSensor.stored: { GenericHealthSensor.join($0, isStored: true) },
        ],
        namer: GenericHealthSensor.name)
}

/// Live Health Observations and Stored Health Observations: an observation in segments, each with a
/// header; stored ones begin with their record number.
///
/// An observation may also come without the header, as published examples show it: the length field
/// tells which it is.
package enum GenericHealthSensor {
    package static let live: BluetoothUUID = 0x2B8B
    package static let stored: BluetoothUUID = 0x2BDD
    /// Record numbers are of 32 bits.
    package static let recordAccess = RecordAccess(service: 0x1840, filter: .recordNumber, isOptional: true)

    static let recordNumberSize = 4
    /// The longest observation, with its record number.
    private static let longestObservation =
        recordNumberSize + HealthObservation.headerSize + Int(UInt16.max)

    @Sendable
    static func decodeLive(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        try decodeValue(&cursor, isStored: false)
    }

    @Sendable
    static func decodeStored(_ cursor: inout ByteCursor) throws(DecodeError) -> Reading {
        try decodeValue(&cursor, isStored: true)
    }

    @Sendable
    static func assembleLive(_ packets: [[UInt8]]) throws(DecodeError) -> Profile.Assembly {
        try assemble(packets, isStored: false)
    }

    @Sendable
    static func assembleStored(_ packets: [[UInt8]]) throws(DecodeError) -> Profile.Assembly {
        try assemble(packets, isStored: true)
    }

    /// A whole observation in one payload.
    private static func decodeValue(
        _ cursor: inout ByteCursor, isStored: Bool
    ) throws(DecodeError) -> Reading {
        let payload = Array(cursor.rest())
        guard !payload.isEmpty else {
            throw .truncated(field: "segmentation header", needed: 1, had: 0)
        }
        return try decodeObservation(bare(payload, isStored), isStored)
    }

    /// A payload without the segmentation header that it may have.
    private static func bare(_ payload: [UInt8], _ isStored: Bool) -> ArraySlice<UInt8> {
        guard let first = payload.first else { return [] }
        let header = SegmentHeader(first)
        // A complete segment and the bare classes 3, 7 and 255 begin alike.
        let isSegment =
            header.isFirst && header.isLast
            && (fills(payload.dropFirst(), isStored) || !fills(payload[...], isStored))
        return isSegment ? payload.dropFirst() : payload[...]
    }

    /// The bytes of a whole observation, with its record number if it is a stored one: without the
    /// headers, whose counter goes on, so that it has the same bytes each time that it is sent.
    static func join(_ packets: [[UInt8]], isStored: Bool) -> [UInt8] {
        guard packets.count == 1 else { return packets.flatMap { $0.dropFirst() } }
        return Array(bare(packets[0], isStored))
    }

    /// The records of a whole value: several where it is a bundle whose members are not of one time, person or state. Each
    /// has the number of all.
    static func divide(_ payload: [UInt8], isStored: Bool) -> [[UInt8]] {
        let whole = bare(payload, isStored)
        let number = whole.prefix(isStored ? recordNumberSize : 0)
        // What cannot be divided is decoded whole, and the decoder says why.
        guard let members = try? HealthObservation.divide(Array(whole.dropFirst(number.count))),
            members.count > 1
        else { return [payload] }
        return members.map { number + $0 }
    }

    /// A stored observation is named as the live one that it may have been: without the record number, and as if the clock
    /// had not been set since.
    @Sendable
    static func name(of raw: RawPayload) -> RawPayload {
        guard [live, stored].contains(raw.characteristic) else { return raw }
        let number = raw.characteristic == stored ? recordNumberSize : 0
        return RawPayload(
            characteristic: live,
            bytes: HealthObservation.onCurrentTimeline(Array(raw.bytes.dropFirst(number))))
    }

    private static func fills(_ bytes: ArraySlice<UInt8>, _ isStored: Bool) -> Bool {
        HealthObservation.fills(isStored ? bytes.dropFirst(recordNumberSize) : bytes)
    }

    private static func decodeObservation(
        _ bytes: ArraySlice<UInt8>, _ isStored: Bool
    ) throws(DecodeError) -> Reading {
        var cursor = ByteCursor(Array(bytes))
        let number = isStored ? Int(try cursor.uint32("record number")) : nil
        var reading = try HealthObservation.decode(&cursor)
        reading.sequence = number
        return reading
    }

    private static func assemble(
        _ packets: [[UInt8]], isStored: Bool
    ) throws(DecodeError) -> Profile.Assembly {
        guard let first = packets.first else { return .incomplete }
        if packets.count == 1, !beginsSegments(first, isStored) {
            var cursor = ByteCursor(first)
            return .complete(try decodeValue(&cursor, isStored: isStored))
        }
        switch try SegmentHeader.join(packets, longest: longestObservation) {
        case .whole(let observation): return .complete(try decodeObservation(observation[...], isStored))
        case .incomplete: return .incomplete
        case .unrelated: return .unrelated
        }
    }

    /// Whether a payload is the first of several segments.
    private static func beginsSegments(_ payload: [UInt8], _ isStored: Bool) -> Bool {
        guard let octet = payload.first, !fills(payload[...], isStored) else { return false }
        let header = SegmentHeader(octet)
        return header.isFirst && !header.isLast
    }
}
