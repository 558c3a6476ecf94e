/// The control point of the Generic Health Sensor Service 1.0.
package enum HealthSensorControl {
    package static let service: BluetoothUUID = 0x1840
    package static let controlPoint: BluetoothUUID = 0x2BF4
    /// Has the sensor send what it observes from now on, until the link ends.
    package static let startLiveObservations: [UInt8] = [0x01]
}
