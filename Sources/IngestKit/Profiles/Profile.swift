/// How one kind of peripheral is read: its service, what to subscribe to, and what the payloads
/// mean.
public struct Profile: Sendable {
    typealias Decoder = @Sendable (inout ByteCursor) throws(DecodeError) -> Reading

    /// An attribute value is never longer (Core Specification Vol 3 Part F 3.2.9).
    public static let maximumPayload = 512
    /// What a notification or indication carries without an MTU exchange: ATT_MTU 23 less opcode
    /// and handle (Core Specification Vol 3 Part F 3.4.7).
    public static let payloadOfDefaultMTU = 20

    /// As catalogue models name it: `blood-pressure`.
    public let name: String
    public let service: BluetoothUUID
    /// The characteristics to subscribe to, in this order.
    public let measurements: [BluetoothUUID]
    /// The longest payload that the profile defines, in bytes; one above `payloadOfDefaultMTU`
    /// needs an MTU exchange.
    public let longestPayload: Int
    let decoders: [BluetoothUUID: Decoder]

    /// What a payload of one of this profile's characteristics says. Bytes after the last field
    /// are accepted: later versions of a profile append fields.
    public func decode(
        _ bytes: [UInt8], of characteristic: BluetoothUUID
    ) throws(DecodeError) -> Reading {
        guard let decoder = decoders[characteristic] else {
            throw .unknownCharacteristic(characteristic)
        }
        return try Self.run(decoder, bytes)
    }

    static func run(_ decoder: Decoder, _ bytes: [UInt8]) throws(DecodeError) -> Reading {
        guard bytes.count <= maximumPayload else {
            throw .tooLong(count: bytes.count, limit: maximumPayload)
        }
        var cursor = ByteCursor(bytes)
        return try decoder(&cursor)
    }
}

/// All profiles, and all characteristics that can be decoded.
public enum Profiles {
    /// In the order of their names.
    public static let all: [Profile] = [.bloodPressure, .thermometer]

    /// What this version can read.
    public static var names: Set<String> { Set(all.map(\.name)) }

    /// The profile that catalogue models name so; nil for an unknown name.
    public static func named(_ name: String) -> Profile? {
        all.first { $0.name == name }
    }

    /// The characteristics that `decode` knows, in the order of their UUIDs.
    public static var characteristics: [BluetoothUUID] {
        decoders.keys.sorted { $0.description < $1.description }
    }

    /// What a payload says, whichever profile it belongs to.
    public static func decode(
        characteristic: BluetoothUUID, bytes: [UInt8]
    ) throws(DecodeError) -> Reading {
        guard let decoder = decoders[characteristic] else {
            throw .unknownCharacteristic(characteristic)
        }
        return try Profile.run(decoder, bytes)
    }

    private static let decoders: [BluetoothUUID: Profile.Decoder] = {
        var decoders: [BluetoothUUID: Profile.Decoder] = [BatteryLevel.characteristic: BatteryLevel.decode]
        for profile in all {
            // Profiles that share a characteristic share its decoder.
            decoders.merge(profile.decoders) { first, _ in first }
        }
        return decoders
    }()
}
