import Guided

/// Decodes with coverage; says whether there was a reading.
typealias Guide = @Sendable (_ bytes: [UInt8]) -> Bool

func guide(characteristic: String) -> Guide {
    guard let characteristic = BluetoothUUID(characteristic) else {
        fatalError("\(characteristic) is no UUID")
    }
    return { (try? Profiles.decode(characteristic: characteristic, bytes: $0)) != nil }
}
