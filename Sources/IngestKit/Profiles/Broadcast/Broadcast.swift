/// What one advert of a broadcast format says: the reading, and what tells a new one from a
/// repetition.
package struct Broadcast: Sendable, Equatable {
    package var reading: Reading
    /// What was sent, by the sort of content: readings of one sort replace each other, and equal
    /// bytes are the same reading. The first is what this advert is about; others are readings that
    /// it holds as well. Empty where there is no reading.
    package var contents: [Content]
    /// The device's own count of its payloads, which comes round to 0.
    package var packetID: UInt8?
    /// Whether another packet ID is another reading even if nothing else has changed.
    package var isRenewedByPacketID = false
    /// The count that an encrypted broadcast is protected with: it only rises.
    package var counter: UInt32?
    package var isEncrypted = false
    /// Whether the device sends only when there is something to tell, so that the same content after
    /// a silence is a new reading.
    package var isTriggered = false
    /// Whether more of this measurement is about to come in a later advert.
    package var awaitsMore = false
    /// What the device says of its firmware.
    package var firmware: String?

    /// One sort of content.
    package struct Content: Sendable, Equatable, Codable {
        package var sort: [UInt8]
        package var bytes: [UInt8]
    }

    /// Whether there is anything in it that was measured or observed.
    package var isReading: Bool {
        !contents.isEmpty && !(reading.measurements.isEmpty && reading.flags.isEmpty) && !reading.isUnmeasured
    }
}

/// One format of broadcasts: the service data that it stands in, and what they mean.
package struct BroadcastFormat: Sendable {
    /// What a decoder has beside the bytes.
    struct Context: Sendable {
        /// The 16-bit service that the data belong to.
        var service: UInt16
        var key: BindKey?
        /// The device that sent them; nil where it is not known.
        var address: BluetoothAddress?
    }

    /// Decodes what follows the service's UUID.
    typealias Decoder = @Sendable (inout ByteCursor, Context) throws(DecodeError) -> Broadcast

    /// As catalogue models name it: `bthome`.
    package let name: String
    /// The kinds of records that its devices measure.
    let kinds: Set<RecordKind>
    /// The owners of its service data.
    let services: Set<UInt16>
    /// Whether its devices can encrypt.
    package let hasKeys: Bool
    let decoder: Decoder

    /// A service data structure: its value begins with the UUID.
    package struct Structure: Sendable, Equatable {
        var service: UInt16
        /// With the UUID.
        package var value: [UInt8]
    }

    /// The first structure of this format in an advert's data; nil if there is none.
    package func structure(in data: Span<UInt8>) -> Structure? {
        for value in Self.serviceData(in: data) {
            if let structure = structure(value) { return structure }
        }
        return nil
    }

    /// The values of the service data structures with a UUID of 16 bits, in their order.
    static func serviceData(in data: Span<UInt8>) -> [[UInt8]] {
        var values: [[UInt8]] = []
        var structures = AdvertisementStructures(data)
        while let (type, range) = structures.next() {
            guard type == AdvertisementDataType.shortServiceData else { continue }
            let value = data.extracting(range)
            values.append(value.indices.map { value[$0] })
        }
        return values
    }

    /// The value of a service data structure; nil if it is not of this format.
    func structure(_ value: [UInt8]) -> Structure? {
        var cursor = ByteCursor(value)
        guard let service = try? cursor.uint16("UUID"), services.contains(service) else { return nil }
        return Structure(service: service, value: value)
    }

    package func decode(
        _ structure: Structure, key: BindKey?, address: BluetoothAddress?
    ) throws(DecodeError) -> Broadcast {
        // A structure has one byte for its length.
        guard structure.value.count <= Int(UInt8.max) else {
            throw .tooLong(count: structure.value.count, limit: Int(UInt8.max))
        }
        var cursor = ByteCursor(structure.value)
        _ = try cursor.uint16("UUID")
        var broadcast = try decoder(&cursor, Context(service: structure.service, key: key, address: address))
        broadcast.reading.disownUnmeasured()
        return broadcast
    }
}

/// All broadcast formats.
package enum BroadcastFormats {
    /// In the order of their names.
    package static let all: [BroadcastFormat] = [.bthome, .miScale, .mibeacon]

    /// The format that catalogue models name so; nil for an unknown name.
    package static func named(_ name: String) -> BroadcastFormat? {
        all.first { $0.name == name }
    }

    /// What an advert says by the first structure that a format knows.
    /// - Parameter data: an advert's whole data, or the value of one service data structure.
    package static func decode(
        _ data: [UInt8], key: BindKey?, address: BluetoothAddress?
    ) throws(DecodeError) -> Reading {
        for value in BroadcastFormat.serviceData(in: data.span) {
            if let reading = try decode(value: value, key, address) { return reading }
        }
        guard let reading = try decode(value: data, key, address) else { throw .noBroadcast }
        return reading
    }

    /// What the value of one structure says; nil if no format knows it.
    private static func decode(
        value: [UInt8], _ key: BindKey?, _ address: BluetoothAddress?
    ) throws(DecodeError) -> Reading? {
        for format in all {
            guard let structure = format.structure(value) else { continue }
            return try format.decode(structure, key: key, address: address).reading
        }
        return nil
    }
}

extension Profile {
    static let bthome = Profile(broadcast: .bthome)
    static let mibeacon = Profile(broadcast: .mibeacon)
    static let miScale = Profile(broadcast: .miScale)

    private init(broadcast format: BroadcastFormat) {
        self.init(
            name: format.name, kinds: format.kinds, sources: [], procedure: .broadcast,
            longestPayload: Int(UInt8.max),
            decoders: [:])
    }
}

extension ByteCursor {
    /// A whole number of up to eight bytes, least significant octet first.
    mutating func integer(
        bytes count: Int, signed: Bool, _ field: String
    ) throws(DecodeError) -> Int64 {
        let value = try unsigned(count, field)
        guard signed, count < 8 else { return Int64(truncatingIfNeeded: value) }
        // Shifting left and back again extends the sign.
        let unused = UInt64(64 - count * 8)
        return Int64(bitPattern: value << unused) >> unused
    }

    /// Six octets of a device's address, the least significant first.
    mutating func address(_ field: String) throws(DecodeError) -> BluetoothAddress {
        BluetoothAddress(value: UInt64(truncatingIfNeeded: try integer(bytes: 6, signed: false, field)))
    }
}

extension BluetoothAddress {
    /// The six octets, the most significant first.
    var octets: [UInt8] {
        (0..<6).reversed().map { UInt8(truncatingIfNeeded: value >> (UInt64($0) * 8)) }
    }
}

extension Measurement {
    /// An integer of the payload times a power of ten.
    init(_ type: String, _ coefficient: Int64, _ exponent: Int8, _ unit: String, code: UInt32? = nil) {
        self.init(
            type: type, code: code,
            value: .exact(ExactDecimal(coefficient: coefficient, exponent: exponent)), unit: unit)
    }
}
