/// The control point of the Generic Health Sensor Service 1.0.
enum HealthSensorControl {
    static let service: BluetoothUUID = 0x1840
    static let controlPoint: BluetoothUUID = 0x2BF4
    /// Has the sensor send what it observes from now on, until the link ends.
    static let startLiveObservations: [UInt8] = [0x01]
}
