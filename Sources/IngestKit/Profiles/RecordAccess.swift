/// How a profile's peripherals report their stored records: the Record Access Control Point (GATT
/// Specification Supplement 3.190) of one service.
package struct RecordAccess: Sendable, Hashable {
    /// By what records can be asked for from one on.
    package enum Filter: Sendable, Hashable {
        /// Filter type 1 of the Glucose service: a number of 16 bits that counts up, and begins again
        /// at 0.
        case sequenceNumber
        /// Filter type 1 of the Continuous Glucose Monitoring service: minutes since the session's
        /// start.
        case timeOffset
        /// Filter type 1 of the Generic Health Sensor service: a number of 32 bits that counts up.
        case recordNumber
        /// All records or none.
        case none

        /// Bytes of a number at the control point.
        var numberSize: Int { self == .recordNumber ? 4 : 2 }
        /// Whether numbers begin again at 0 after their last.
        var beginsAgain: Bool { self == .sequenceNumber }
    }

    package static let controlPoint: BluetoothUUID = 0x2A52

    package let service: BluetoothUUID
    package let filter: Filter
    /// Whether peripherals of the profile may lack the control point; they send what they have as
    /// soon as they are subscribed to.
    package let isOptional: Bool

    package init(service: BluetoothUUID, filter: Filter, isOptional: Bool) {
        self.service = service
        self.filter = filter
        self.isOptional = isOptional
    }
}
