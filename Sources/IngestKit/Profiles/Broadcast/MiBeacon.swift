extension BroadcastFormat {
    /// Xiaomi MiBeacon, service data of FE95.
    static let mibeacon = BroadcastFormat(
        name: "mibeacon", kinds: [.mibeacon], services: [0xFE95], hasKeys: true, decoder: MiBeacon.decode)
}

/// Xiaomi's MiBeacon, versions 2 to 5 (iot.mi.com, "BLE MiBeacon protocol", version 5; translated in
/// pvvx/ATC_MiThermometer, InfoMijiaBLE). The encryption of versions 4 and 5 is as the public
/// parsers ble_monitor and xiaomi-ble do it.
enum MiBeacon {
    private struct FrameControl {
        let rawValue: UInt16

        var isEncrypted: Bool { rawValue & 1 << 3 != 0 }
        var hasAddress: Bool { rawValue & 1 << 4 != 0 }
        var hasCapability: Bool { rawValue & 1 << 5 != 0 }
        var hasObjects: Bool { rawValue & 1 << 6 != 0 }
        var isMesh: Bool { rawValue & 1 << 7 != 0 }
        // Bits 0 to 2 were once about the time; 8 to 11 tell how the device is bound and logged into.
        var version: UInt16 { rawValue >> 12 }
    }

    private static let versions: ClosedRange<UInt16> = 2...5
    /// The first version whose encryption has a check value, by which a wrong key is noticed.
    private static let firstVerified: UInt16 = 4
    /// The first version that names the random number as the upper part of a counter.
    private static let firstCounted: UInt16 = 5
    /// Bit of the capability byte: two bytes of input and output capabilities follow.
    private static let inputOutputBit: UInt8 = 1 << 5
    private static let randomLength = 3
    private static let tagLength = 4
    /// What is authenticated beside the objects: one byte that is always this.
    private static let additionalData: [UInt8] = [0x11]

    @Sendable
    static func decode(
        _ cursor: inout ByteCursor, _ context: BroadcastFormat.Context
    ) throws(DecodeError) -> Broadcast {
        let control = FrameControl(rawValue: try cursor.uint16("frame control"))
        guard versions.contains(control.version) else {
            throw .prohibitedValue(field: "MiBeacon version")
        }
        // What mesh devices send is of another form.
        guard !control.isMesh else { throw .prohibitedValue(field: "mesh flag") }
        let product = try cursor.uint16("product id")
        let frameCounter = try cursor.uint8("frame counter")
        var address = context.address
        if control.hasAddress {
            let named = try cursor.address("address")
            guard address == nil || address == named else { throw .otherAddress }
            address = named
        }
        if control.hasCapability, try cursor.uint8("capability") & inputOutputBit != 0 {
            _ = try cursor.uint16("input and output capability")
        }
        var broadcast = Broadcast(
            reading: Reading(kind: .mibeacon, sequence: Int(frameCounter)), contents: [],
            packetID: frameCounter, isTriggered: true)
        guard control.hasObjects else { return broadcast }
        var objects: [UInt8]
        if control.isEncrypted {
            guard control.version >= firstVerified else { throw .unverifiable }
            let (message, random) = try decrypt(
                &cursor, product: product, frameCounter: frameCounter, key: context.key, address: address)
            objects = message
            broadcast.isEncrypted = true
            if control.version >= firstCounted { broadcast.counter = random << 8 | UInt32(frameCounter) }
        } else {
            objects = Array(cursor.rest())
        }
        try MiBeaconObjects.decode(objects, product: product, into: &broadcast)
        return broadcast
    }

    private static func decrypt(
        _ cursor: inout ByteCursor, product: UInt16, frameCounter: UInt8, key: BindKey?,
        address: BluetoothAddress?
    ) throws(DecodeError) -> (message: [UInt8], random: UInt32) {
        let length = cursor.remaining - randomLength - tagLength
        guard length >= 0 else {
            throw .truncated(
                field: "random number and check value", needed: randomLength + tagLength,
                had: cursor.remaining)
        }
        guard let key else { throw .keyNeeded }
        guard let address else { throw .addressNeeded }
        let ciphertext = Array(try cursor.bytes(length, "objects"))
        let random = Array(try cursor.bytes(randomLength, "random number"))
        let tag = Array(try cursor.bytes(tagLength, "check value"))
        // All of it as it is sent, least significant octets first.
        let nonce =
            address.octets.reversed()
            + [UInt8(truncatingIfNeeded: product), UInt8(truncatingIfNeeded: product >> 8), frameCounter]
            + random
        let message = AESCCM.open(
            ciphertext, tag: tag, key: key.bytes, nonce: nonce, authenticating: additionalData)
        guard let message else { throw .keyMismatch }
        var field = ByteCursor(random)
        return (
            message, UInt32(truncatingIfNeeded: try field.integer(bytes: 3, signed: false, "random number"))
        )
    }
}
