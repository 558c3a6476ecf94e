@testable import IngestBluetooth
@testable import IngestCore
@testable import IngestPeripherals

extension MonotonicInstant {
    /// Seconds after the moment at which a test begins.
    static func at(_ seconds: Double) -> Self {
        // To the nanosecond: 1.2 has no exact double.
        Self(nanoseconds: 1_000_000_000_000) + .nanoseconds(Int64((seconds * 1e9).rounded()))
    }
}

extension AdapterID {
    static let hci0 = AdapterID(index: 0)
    static let hci1 = AdapterID(index: 1)
}

extension DeviceAddress {
    /// A device with a public address.
    static func device(_ number: Int) -> Self {
        Self(BluetoothAddress(value: 0x0011_2200_0000 + UInt64(number)), .public)
    }
}

extension PeripheralModel {
    static func sample(
        id: Int = 1002, recognised: [[AdvertisementFilter.Mark]] = [[.service(0x1809)]],
        rearm: Duration? = nil, quirks: [Quirk] = []
    ) -> Self {
        PeripheralModel(
            id: id, name: "Sample", type: "thermometer", manufacturer: nil, model: nil,
            profile: "thermometer", recognised: recognised, bonding: .none,
            instructions: Instructions(pairing: "", beforeMeasurement: "", duringMeasurement: ""),
            readyBeforeMeasurement: false, rearm: rearm, quirks: quirks)
    }
}

extension Advertisement {
    /// A thermometer's advert: flags, and 1809 in the list of services.
    static func sample(
        of device: DeviceAddress, on adapter: AdapterID = .hci0, isConnectable: Bool = true,
        data: [UInt8] = [0x02, 0x01, 0x06, 0x03, 0x03, 0x09, 0x18], rssi: Int? = -60,
        at seconds: Double = 0
    ) -> Self {
        Advertisement(
            device: device, adapter: adapter, rssi: rssi, isConnectable: isConnectable, data: data,
            received: .at(seconds))
    }
}

/// SplitMix64, so that random bytes are the same in every run.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
