/// What a simulated peripheral does beyond answering for its attributes: stored records that a
/// control point asks for, values that come by themselves, in the order and with the pauses of its
/// script.
///
/// A state machine on values, without I/O and without a clock. The link carries its steps out, one
/// after the other, and tells it of writes.
package protocol SimulatedSensor: Sendable {
    /// Its attributes, laid out anew for each link.
    var services: [SimulatedService] { get }
    var advert: [UInt8] { get }
    var tally: SensorTally { get }
    /// Whether a peripheral with a rhythm of its own wakes up again for it.
    var hasMore: Bool { get }

    /// The peripheral woke up.
    /// - Parameter time: its clock.
    mutating func wokeUp(at time: DeviceTime)

    /// A link was made; what an earlier one left half done is forgotten.
    mutating func linked()

    /// A value was written to one of its characteristics. A pause that is under way ends.
    /// - Parameter subscriptions: the characteristics whose values the central wants.
    /// - Returns: the ATT error code with which the write is refused; nil when it is taken.
    mutating func written(
        _ value: [UInt8], to characteristic: BluetoothUUID, subscriptions: Set<BluetoothUUID>
    ) -> UInt8?

    /// What comes next; nil while there is nothing to do. Asked after a write, after a subscription
    /// and when the step before is done: sent, confirmed if it was an indication, or waited.
    mutating func next(_ subscriptions: Set<BluetoothUUID>) -> SensorStep?
}

extension SimulatedSensor {
    package typealias Characteristic = SimulatedService.Characteristic

    package var hasMore: Bool { tally.confirmed < tally.readings }

    package mutating func wokeUp(at time: DeviceTime) {}

    package mutating func linked() {}

    package mutating func written(
        _ value: [UInt8], to characteristic: BluetoothUUID, subscriptions: Set<BluetoothUUID>
    ) -> UInt8? {
        nil
    }
}

/// One thing that a sensor does on a link.
package enum SensorStep: Sendable, Equatable {
    /// Sends a value as the subscription wants it; without a subscription nothing is sent.
    case send(BluetoothUUID, [UInt8])
    /// Notifies though nobody subscribed.
    case notifyUnasked(BluetoothUUID, [UInt8])
    case wait(Duration)
    /// Waits for another subscription.
    case waitForSubscription(atMost: Duration)
    case hangUp
}

/// What a sensor had to give and gave, in readings.
package struct SensorTally: Sendable, Equatable {
    package var readings: Int
    /// Sent; repetitions count.
    package var offered: Int
    /// Confirmed; of notifications, which nothing confirms, those that the link took.
    package var confirmed: Int

    package init(readings: Int = 0, offered: Int = 0, confirmed: Int = 0) {
        self.readings = readings
        self.offered = offered
        self.confirmed = confirmed
    }
}

/// ATT error codes that services answer writes with (Core Specification Vol 3 Part F 3.4.1.1 and
/// Supplement Part B 1.2).
package enum ControlPointError {
    package static let valueNotAllowed: UInt8 = 0x13
    /// Client Characteristic Configuration Descriptor Improperly Configured.
    package static let notSubscribed: UInt8 = 0xFD
    package static let procedureInProgress: UInt8 = 0xFE
}

/// A peripheral's sensor, changed on the radio's loop only.
final class SensorBox {
    var sensor: any SimulatedSensor

    init(_ sensor: any SimulatedSensor) {
        self.sensor = sensor
    }
}
