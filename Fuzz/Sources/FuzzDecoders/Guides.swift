import Traced

/// Decodes with coverage; says whether there was a reading.
typealias Guide = @Sendable (_ bytes: [UInt8]) -> Bool

func guide(characteristic: String) -> Guide {
    guard let characteristic = BluetoothUUID(characteristic) else {
        fatalError("\(characteristic) is no UUID")
    }
    return { (try? Profiles.decode(characteristic: characteristic, bytes: $0)) != nil }
}

/// Of adverts.
func guide(key: String?, address: String?) -> Guide {
    let key = key.flatMap { BindKey($0) }
    let address = address.flatMap { BluetoothAddress($0) }
    return { (try? BroadcastFormats.decode($0, key: key, address: address)) != nil }
}
