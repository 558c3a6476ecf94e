import Synchronization
import TestSupport

/// A link over which values of one characteristic come, live or from the device's memory, and that has nothing else to
/// read.
final class ScriptedLink: PeripheralLink {
    private struct Script {
        var values: ArraySlice<ReceivedValue> = []
        /// Values that come before the signal is lost; nil is all.
        var left: Int?
    }

    private static let controlPoint: BluetoothUUID = 0x2A52

    let device: DeviceAddress
    private let characteristic: BluetoothUUID
    private let isIndication: Bool
    private let pause: Duration
    private let stored: [[UInt8]]?
    private let clock: DrivenClock
    private let script: Mutex<Script>

    /// - Parameters:
    ///   - pause: before each value.
    ///   - isLost: whether the signal is lost after the last confirmation was sent.
    ///   - stored: what the device has at its control point; nil if it has none.
    ///   - lostAfter: after so many values the signal is lost.
    init(
        to device: DeviceAddress, _ values: [[UInt8]], of characteristic: BluetoothUUID, isIndication: Bool,
        pause: Duration = .milliseconds(10), isLost: Bool = false, stored: [[UInt8]]? = nil,
        lostAfter: Int? = nil, clock: DrivenClock
    ) {
        self.device = device
        self.characteristic = characteristic
        self.isIndication = isIndication
        self.pause = pause
        self.stored = stored
        self.clock = clock
        script = Mutex(Script(left: isLost ? values.count : lostAfter))
        script.withLock { $0.values += values.map(received) }
    }

    private func received(_ value: [UInt8]) -> ReceivedValue {
        ReceivedValue(
            characteristic: characteristic, value: value, isIndication: isIndication, received: clock.now)
    }

    var layout: AttributeLayout { .unknown }
    var ended: MonotonicInstant? { nil }
    var pduCount: Int { 0 }

    func has(_ characteristic: BluetoothUUID, in service: BluetoothUUID) async throws(LinkError) -> Bool {
        // What is asked after the last value finds the link lost.
        if script.withLock({ $0.left == 0 }) { throw .ended(.signalLost) }
        return characteristic == self.characteristic || characteristic == Self.controlPoint && stored != nil
    }

    func read(
        _ characteristic: BluetoothUUID, in service: BluetoothUUID
    ) async throws(LinkError) -> [UInt8] {
        throw .missing(characteristic)
    }

    /// Reports all that is stored, or from a sequence number on (Glucose Service 1.0.1, section 3.4).
    func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, in service: BluetoothUUID
    ) async throws(LinkError) {
        guard characteristic == Self.controlPoint, let stored, value.first == 0x01 else { return }
        let reported = stored.filter { record in
            value.count < 5 || number(record[1...]) >= number(value[3...])
        }
        let answer = ReceivedValue(
            characteristic: Self.controlPoint, value: [0x06, 0x00, 0x01, reported.isEmpty ? 0x06 : 0x01],
            isIndication: true, received: clock.now)
        script.withLock { $0.values += reported.map(received) + [answer] }
    }

    private func number(_ octets: ArraySlice<UInt8>) -> Int {
        octets.prefix(2).reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    func writeWithoutResponse(
        _ value: [UInt8], to characteristic: BluetoothUUID, in service: BluetoothUUID
    ) async throws(LinkError) {}

    func subscribe(to characteristic: BluetoothUUID, in service: BluetoothUUID) async throws(LinkError) {}
    func ensureMTU(_ length: Int) async throws(LinkError) {}
    func confirm(_ value: ReceivedValue) async throws(LinkError) {}
    func checkDatabaseHash() async throws(LinkError) {}
    func close() async {}

    func nextValue(within timeout: Duration) async throws(LinkError) -> ReceivedValue? {
        enum Next {
            case lost
            case none
            case value(ReceivedValue)
        }
        let next: Next = script.withLock { script in
            if script.left == 0 { return .lost }
            guard pause <= max(timeout, .milliseconds(10)), let value = script.values.popFirst() else {
                return .none
            }
            script.left = script.left.map { $0 - 1 }
            return .value(value)
        }
        switch next {
        case .lost: throw .ended(.signalLost)
        case .none: return nil
        case .value(let value):
            clock.advance(by: pause)
            return ReceivedValue(
                characteristic: value.characteristic, value: value.value, isIndication: value.isIndication,
                received: clock.now)
        }
    }
}
