public import IngestKit

/// A generic health sensor with live observations, which are switched on at a control point and come
/// in segments (Generic Health Sensor Service 1.0).
public struct HealthSensor: SimulatedSensor {
    /// One observation: a class, a length, flags and what they promise (IEEE 11073-10206 as the
    /// service carries it).
    public struct Observation: Sendable, Equatable {
        public var body: [UInt8]

        public init(body: [UInt8]) {
            self.body = body
        }

        /// A numeric observation of patient 1.
        /// - Parameters:
        ///   - type: an MDC code: 150456 is the oxygen saturation.
        ///   - unit: an MDC unit of the partition 4: 544 is percent.
        ///   - value: with exponent 0, up to 8,388,605.
        ///   - seconds: UTC, since 2000-01-01; up to 48 bits.
        public static func numeric(
            type: UInt32, unit: UInt16, value: Int32, seconds: UInt64
        ) -> Observation {
            // Type (0), time stamp (1) and patient (5).
            var body: [UInt8] = Wire.bytes(UInt16(0x0023)) + Wire.bytes(type)
            // UTC in seconds on the current timeline; the source is a cellular network, no offset.
            body += [0x22] + Wire.bytes(seconds).prefix(6) + [0x06, 0x00]
            body.append(0x01)
            body += Wire.bytes(unit) + Wire.bytes(value).prefix(3) + [0x00]
            return Observation(body: [0x01] + Wire.bytes(UInt16(body.count)) + body)
        }
    }

    public static let service: BluetoothUUID = 0x1840
    public static let features: BluetoothUUID = 0x2BF3
    public static let liveObservations: BluetoothUUID = 0x2B8B
    public static let controlPoint: BluetoothUUID = 0x2BF4

    private static let startLiveObservations: UInt8 = 0x01
    private static let stopLiveObservations: UInt8 = 0x02
    private static let success: UInt8 = 0x80

    /// Bytes of an observation in one segment: an ATT_MTU of 23 leaves 19.
    public var segmentLength = 19
    /// Hangs up after so many segments; once.
    public var breaksAfter: Int?
    /// Not yet given whole, the oldest first.
    public private(set) var observations: [Observation] = []
    /// Whether live observations are switched on.
    public private(set) var isLive = false
    public private(set) var segmentsSent = 0
    private let serial: String
    private var count = 0
    private var counter: UInt8 = 0
    private var segments: [[UInt8]] = []
    private var isGiving = false
    private var answer: [UInt8]?

    public init(_ observations: [Observation] = [], serial: String = "N-0001") {
        self.serial = serial
        for observation in observations { add(observation) }
    }

    /// The sensor observes.
    public mutating func add(_ observation: Observation) {
        observations.append(observation)
        count += 1
    }

    // MARK: The sensor

    public var services: [SimulatedService] {
        [
            SimulatedService(
                Self.service,
                [
                    // No optional feature; one type, the oxygen saturation.
                    Characteristic(Self.features, .read, value: [0x00, 0x01] + Wire.bytes(UInt32(150_456))),
                    Characteristic(Self.liveObservations, [.notify, .indicate]),
                    Characteristic(Self.controlPoint, [.indicate, .write]),
                ]),
            .deviceInformation(model: "Simulated Health Sensor", serial: serial),
        ]
    }

    public var advert: [UInt8] { .advert(services: [0x1840]) }

    public var tally: SensorTally {
        SensorTally(readings: count, offered: segmentsSent, confirmed: count - observations.count)
    }

    public mutating func linked() {
        isLive = false
        isGiving = false
        segments = []
        answer = nil
    }

    public mutating func written(
        _ value: [UInt8], to characteristic: BluetoothUUID, subscriptions: Set<BluetoothUUID>
    ) -> UInt8? {
        guard characteristic == Self.controlPoint else { return nil }
        guard subscriptions.contains(Self.controlPoint), subscriptions.contains(Self.liveObservations) else {
            return ControlPointError.notSubscribed
        }
        switch value {
        case [Self.startLiveObservations]: isLive = true
        case [Self.stopLiveObservations]: isLive = false
        default: return ControlPointError.valueNotAllowed
        }
        answer = [Self.success]
        return nil
    }

    public mutating func next(_ subscriptions: Set<BluetoothUUID>) -> SensorStep? {
        if let answer {
            self.answer = nil
            return .send(Self.controlPoint, answer)
        }
        if segments.isEmpty, isGiving {
            isGiving = false
            observations.removeFirst()
        }
        guard isLive, subscriptions.contains(Self.liveObservations) else { return nil }
        if let count = breaksAfter, count <= segmentsSent {
            breaksAfter = nil
            return .hangUp
        }
        if segments.isEmpty, let observation = observations.first {
            isGiving = true
            segments = split(observation.body)
        }
        guard !segments.isEmpty else { return nil }
        segmentsSent += 1
        return .send(Self.liveObservations, segments.removeFirst())
    }

    /// Each segment begins with whether it is the first (bit 0) and the last (bit 1), and a counter
    /// that rolls over from 63 to 0.
    private mutating func split(_ body: [UInt8]) -> [[UInt8]] {
        let starts = Array(stride(from: 0, to: body.count, by: max(1, segmentLength)))
        return starts.map { start in
            defer { counter = (counter + 1) & 0x3F }
            let header: UInt8 = (start == 0 ? 0x01 : 0) | (start == starts.last ? 0x02 : 0) | counter << 2
            return [header] + body[start...].prefix(max(1, segmentLength))
        }
    }
}
