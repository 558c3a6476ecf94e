/// A cuff of the allow-list, and a reading of it.
package enum SampleCuff {
    package static let address = BluetoothAddress(value: 0xF1F1_F1F1_F1F1)
    package static let dated: [UInt8] = [
        0x1E,  // flags: mmHg, time stamp, pulse rate, user id, measurement status
        0x8A, 0x00, 0x55, 0x00, 0x66, 0x00,  // 138, 85, 102
        0xEA, 0x07, 11, 20, 9, 14, 57,  // 2026-11-20 09:14:57
        0x48, 0x00, 1, 0x04, 0x00,  // pulse rate 72, user 1, irregular pulse
    ]

    package static func entry(
        address: BluetoothAddress? = address, subject: String? = nil, users: [Int: String] = [:]
    ) -> AllowedPeripheral {
        let model = PeripheralModel(
            id: 1001, name: "Generic blood pressure monitor", type: "blood-pressure-monitor",
            manufacturer: nil, model: nil, profile: "blood-pressure", recognised: [], bonding: .none,
            instructions: .init(pairing: "", beforeMeasurement: "", duringMeasurement: ""),
            readyBeforeMeasurement: false, rearm: nil, quirks: [])
        return AllowedPeripheral(
            model: model, address: address, alias: "kitchen cuff", subject: subject, users: users)
    }
}
