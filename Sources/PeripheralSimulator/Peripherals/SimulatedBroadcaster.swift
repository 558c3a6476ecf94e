/// A device that only advertises: it sends what it is told to, and takes no connection.
package struct SimulatedBroadcaster: Sendable {
    package let device: DeviceAddress
    private let kernel: SimulatedKernel

    package init(device: DeviceAddress, kernel: SimulatedKernel) {
        self.device = device
        self.kernel = kernel
    }

    /// Sends service data, with the UUID in front, as an advert.
    /// - Parameter times: how often, as devices do because adverts get lost.
    package func send(_ serviceData: [UInt8], times: Int = 1) async {
        // Flags, then service data (AD type 0x16).
        let advert: [UInt8] =
            [2, 0x01, 0x06, UInt8(clamping: serviceData.count + 1), 0x16] + serviceData
        for _ in 0..<times { await kernel.advertise(advert, from: device, isConnectable: false) }
    }
}

/// Service data of the broadcast formats, with the UUID in front.
package enum SimulatedServiceData {
    /// BTHome v2, not encrypted.
    package static func bthome(_ objects: [UInt8], isTriggered: Bool = false) -> [UInt8] {
        [0xD2, 0xFC, isTriggered ? 0x44 : 0x40] + objects
    }

    /// BTHome v2, encrypted.
    /// - Parameter key: 16 bytes.
    package static func bthome(
        _ objects: [UInt8], key: [UInt8], device: DeviceAddress, counter: UInt32
    ) -> [UInt8] {
        let head: [UInt8] = [0xD2, 0xFC, 0x41]
        let nonce = octets(of: device) + head + Wire.bytes(counter)
        guard let sealed = AESCCM.seal(objects, tagLength: 4, key: key, nonce: nonce) else { return head }
        return head + sealed.ciphertext + Wire.bytes(counter) + sealed.tag
    }

    /// MiBeacon of version 5 with its objects encrypted, without the device's address.
    /// - Parameters:
    ///   - counter: the lowest octet is the frame counter, the others the random number.
    ///   - key: 16 bytes.
    package static func mibeacon(
        _ objects: [UInt8], product: UInt16, key: [UInt8], device: DeviceAddress, counter: UInt32
    ) -> [UInt8] {
        // Objects, encrypted, version 5.
        let control: UInt16 = 0x5048
        let count = Wire.bytes(counter)
        let frame = Wire.bytes(product) + count.prefix(1)
        let nonce = octets(of: device).reversed() + frame + count.dropFirst()
        let sealed = AESCCM.seal(objects, tagLength: 4, key: key, nonce: nonce, authenticating: [0x11])
        guard let sealed else { return [] }
        return [0x95, 0xFE] + Wire.bytes(control) + frame + sealed.ciphertext + count.dropFirst()
            + sealed.tag
    }

    /// What a Mi scale knows of a weighing.
    package struct Weighing: Sendable {
        /// In 5 g.
        package var weight: UInt16
        package var time: DeviceTime
        package var isStable = true
        package var isRemoved = false
        /// In Ohm.
        package var impedance: UInt16?

        package init(weight: UInt16, time: DeviceTime) {
            self.weight = weight
            self.time = time
        }

        fileprivate var status: UInt8 { (isStable ? 0x20 : 0) | (isRemoved ? 0x80 : 0) }

        fileprivate var date: [UInt8] {
            Wire.bytes(UInt16(clamping: time.year))
                + [time.month, time.day, time.hours, time.minutes, time.seconds].map { UInt8(clamping: $0) }
        }
    }

    /// Mi Scale, in kilograms.
    package static func miScale(_ weighing: Weighing) -> [UInt8] {
        [0x1D, 0x18, weighing.status] + Wire.bytes(weighing.weight) + weighing.date
    }

    /// Mi Body Composition Scale, in kilograms.
    package static func miCompositionScale(_ weighing: Weighing) -> [UInt8] {
        let status = weighing.status | 0x04 | (weighing.impedance == nil ? 0 : 0x02)
        return [0x1B, 0x18, 0x02, status] + weighing.date + Wire.bytes(weighing.impedance ?? 0)
            + Wire.bytes(weighing.weight)
    }

    /// The address, most significant octet first.
    private static func octets(of device: DeviceAddress) -> [UInt8] {
        (0..<6).reversed().map { UInt8(truncatingIfNeeded: device.address.value >> (UInt64($0) * 8)) }
    }
}
