extension MonotonicInstant {
    /// Seconds after the moment at which a test begins.
    package static func at(_ seconds: Double) -> Self {
        // To the nanosecond: 1.2 has no exact double.
        Self(nanoseconds: 1_000_000_000_000) + .nanoseconds(Int64((seconds * 1e9).rounded()))
    }
}

extension AdapterID {
    package static let hci0 = AdapterID(index: 0)
    package static let hci1 = AdapterID(index: 1)
}

extension DeviceAddress {
    /// A device with a public address.
    package static func device(_ number: Int) -> Self {
        Self(BluetoothAddress(value: 0x0011_2200_0000 + UInt64(number)), .public)
    }
}

extension PeripheralModel {
    package static func sample(
        id: Int = 1002, profile: String = "thermometer",
        recognised: [[AdvertisementFilter.Mark]] = [[.service(0x1809)]],
        rearm: Duration? = nil, isReadyBeforeMeasurement: Bool = false, quirks: [Quirk] = []
    ) -> Self {
        PeripheralModel(
            id: id, name: "Sample", type: "thermometer", manufacturer: nil, model: nil,
            profile: profile, recognised: recognised, bonding: .none,
            instructions: Instructions(pairing: "", beforeMeasurement: "", duringMeasurement: ""),
            readyBeforeMeasurement: isReadyBeforeMeasurement, rearm: rearm, quirks: quirks)
    }
}

extension Advertisement {
    /// A thermometer's advert: flags, and 1809 in the list of services.
    package static func sample(
        of device: DeviceAddress, on adapter: AdapterID = .hci0, isConnectable: Bool = true,
        data: [UInt8] = [0x02, 0x01, 0x06, 0x03, 0x03, 0x09, 0x18], rssi: Int? = -60,
        at seconds: Double = 0
    ) -> Self {
        Advertisement(
            device: device, adapter: adapter, rssi: rssi, isConnectable: isConnectable, data: data,
            received: .at(seconds))
    }
}

extension AttributeLayout {
    /// Of one service with so many characteristics.
    package static func sample(characteristics count: Int) -> Self {
        var service = Service(firstHandle: 1, lastHandle: .max, characteristics: [:])
        for number in 0..<count {
            service.characteristics[BluetoothUUID(UInt16(number)).description] = Characteristic(
                properties: 0x20, valueHandle: UInt16(number) + 2, configurationHandle: nil)
        }
        return AttributeLayout(services: ["1809": service])
    }
}
