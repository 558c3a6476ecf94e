import Synchronization
import TestSupport

/// A link over which values of one characteristic come, and that has nothing else to read.
final class ScriptedLink: PeripheralLink {
    let device: DeviceAddress
    private let characteristic: BluetoothUUID
    private let isIndication: Bool
    private let isLost: Bool
    private let clock: DrivenClock
    private let values: Mutex<ArraySlice<[UInt8]>>

    /// - Parameter isLost: whether the signal is lost after the last confirmation was sent.
    init(
        to device: DeviceAddress, _ values: [[UInt8]], of characteristic: BluetoothUUID, isIndication: Bool,
        isLost: Bool, clock: DrivenClock
    ) {
        self.device = device
        self.characteristic = characteristic
        self.isIndication = isIndication
        self.isLost = isLost
        self.clock = clock
        self.values = Mutex(values[...])
    }

    var layout: AttributeLayout { .unknown }
    var ended: MonotonicInstant? { nil }
    var pduCount: Int { 0 }

    func has(_ characteristic: BluetoothUUID, in service: BluetoothUUID) async throws(LinkError) -> Bool {
        // What is asked after the last value finds the link lost.
        if isLost, values.withLock({ $0.isEmpty }) { throw .ended(.signalLost) }
        return characteristic == self.characteristic
    }

    func read(
        _ characteristic: BluetoothUUID, in service: BluetoothUUID
    ) async throws(LinkError) -> [UInt8] {
        throw .missing(characteristic)
    }

    func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, in service: BluetoothUUID
    ) async throws(LinkError) {}

    func writeWithoutResponse(
        _ value: [UInt8], to characteristic: BluetoothUUID, in service: BluetoothUUID
    ) async throws(LinkError) {}

    func subscribe(to characteristic: BluetoothUUID, in service: BluetoothUUID) async throws(LinkError) {}
    func ensureMTU(_ length: Int) async throws(LinkError) {}
    func confirm(_ value: ReceivedValue) async throws(LinkError) {}
    func checkDatabaseHash() async throws(LinkError) {}
    func close() async {}

    func nextValue(within timeout: Duration) async throws(LinkError) -> ReceivedValue? {
        clock.advance(by: .milliseconds(10))
        guard let value = values.withLock({ $0.popFirst() }) else {
            if isLost { throw .ended(.signalLost) }
            return nil
        }
        return ReceivedValue(
            characteristic: characteristic, value: value, isIndication: isIndication, received: clock.now)
    }
}
