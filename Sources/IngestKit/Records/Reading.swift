/// What one payload of a peripheral says, exactly, before anything is known of who sent it.
package struct Reading: Sendable, Equatable {
    package var kind: RecordKind
    package var measurements: [Measurement]
    /// The base time as sent, without the device's offset; nil when there is none or its date is
    /// unknown.
    package var deviceTime: DeviceTime?
    /// What the base time has beyond whole seconds, in units of the device's own; nil where it counts seconds.
    package var secondFraction: Int?
    /// The device's own offset from its base time, in minutes (glucose: Time Offset; continuous
    /// glucose: minutes since the session's start, whose time is another characteristic's).
    package var timeOffsetMinutes: Int?
    /// By how much the device's wall time is ahead of UTC, in seconds; nil where the device does not say it.
    package var utcOffsetSeconds: Int?
    /// Whether the device's clock was set since: what it shows now says nothing of this time, which was right.
    package var isOfEarlierTimeline = false
    package var sequence: Int?
    package var user: Int?
    /// Status in kebab case: `irregular-pulse`, `body-movement`.
    package var flags: [String]

    package init(
        kind: RecordKind, measurements: [Measurement] = [], deviceTime: DeviceTime? = nil,
        timeOffsetMinutes: Int? = nil, utcOffsetSeconds: Int? = nil, sequence: Int? = nil, user: Int? = nil,
        flags: [String] = []
    ) {
        self.kind = kind
        self.measurements = measurements
        self.deviceTime = deviceTime
        self.timeOffsetMinutes = timeOffsetMinutes
        self.utcOffsetSeconds = utcOffsetSeconds
        self.sequence = sequence
        self.user = user
        self.flags = flags
    }
}

/// What was measured.
package enum RecordKind: String, Sendable, Hashable, CaseIterable, Codable {
    case bloodPressure = "blood-pressure"
    case glucose
    case glucoseContext = "glucose-context"
    case bodyTemperature = "body-temperature"
    case weight
    case bodyComposition = "body-composition"
    case pulseOximetry = "pulse-oximetry"
    case heartRate = "heart-rate"
    case continuousGlucose = "continuous-glucose"
    /// A Generic Health Sensor's observation that none of the kinds above stands for.
    case healthObservation = "health-observation"
    case battery
    /// What a device can do, or is: the feature, type and location characteristics.
    case feature
    /// A message of the Record Access Control Point.
    case racp
    /// Of a continuous glucose monitor: when its session began, how long it lasts, how it is.
    case sessionStartTime = "session-start-time"
    case sessionRunTime = "session-run-time"
    case sensorStatus = "sensor-status"
    /// What a device's clock says.
    case currentTime = "current-time"
    case dateTime = "date-time"
    case bthome
    case miScale = "mi-scale"
    case mibeacon
    /// Steps, distances, energy: what somebody did in a span of time. Of imports alone, as the four after it.
    case activity
    case workout
    case sleep
    case nutrition
    case reproductiveHealth = "reproductive-health"
    /// What a laboratory found in somebody's blood. Of entries by hand alone.
    case laboratory
    /// The photograph that somebody sent with an entry: no reading, and for the destinations that its row names.
    case image
    /// A payload that could not be decoded, kept raw.
    case undecoded

    /// Whether destinations are sent readings of it. The others are answers of `decode` alone, kept here, or images.
    package var isDelivered: Bool {
        switch self {
        case .feature, .racp, .sessionStartTime, .sessionRunTime, .sensorStatus, .currentTime, .dateTime,
            .image, .undecoded:
            false
        default: true
        }
    }
}

/// One measured quantity.
package struct Measurement: Sendable, Equatable {
    package enum Value: Sendable, Equatable {
        case exact(ExactDecimal)
        case absent(AbsentReason)
    }

    /// In kebab case: `systolic`, `body-temperature`.
    package var type: String
    /// IEEE 11073-10101 (MDC) code as a decimal number; nil where there is none.
    package var code: UInt32?
    package var value: Value
    /// The device's own unit, in UCUM.
    package var unit: String

    package init(type: String, code: UInt32?, value: Value, unit: String) {
        self.type = type
        self.code = code
        self.value = value
        self.unit = unit
    }
}

/// Why a field that is there holds no number: a special value of IEEE 11073-20601, or a number that the device itself
/// disowns.
package enum AbsentReason: String, Sendable, Hashable, CaseIterable {
    case notANumber = "not-a-number"
    case notAtThisResolution = "not-at-this-resolution"
    case positiveInfinity = "positive-infinity"
    case negativeInfinity = "negative-infinity"
    case reserved
    /// The result is higher, or lower, than the device can measure; the number beside it is no measurement.
    case aboveDeviceRange = "above-device-range"
    case belowDeviceRange = "below-device-range"
    /// The device says that the measurement went wrong.
    case markedUnusable = "marked-unusable"
    /// Nothing was measured: the sensor touches nobody, or sends a number that no living body has.
    case notMeasured = "not-measured"
}

/// The bytes that a reading came from.
package struct RawPayload: Sendable, Hashable {
    /// The characteristic, or nil for a broadcast.
    package var characteristic: BluetoothUUID?
    package var bytes: [UInt8]

    package init(characteristic: BluetoothUUID?, bytes: [UInt8]) {
        self.characteristic = characteristic
        self.bytes = bytes
    }
}

extension Reading {
    /// The device says that it does not know who was measured: a guest.
    package static let unknownUserFlag = "unknown-user"
    /// The device says that it had kept the reading.
    package static let contextFollowsFlag = "context-follows"
    package static let fromMemoryFlag = "data-from-measurement-storage"
    /// The device's clock was moved further from its base time than the offset can say, so that the
    /// time of the reading is not known (Glucose Service 1.0.1, Time Offset).
    package static let timeOffsetOverrunFlag = "time-offset-overrun"
    package static let timeOffsetUnderrunFlag = "time-offset-underrun"
    /// The device's clock was set by more than Time Offset can say: the base time is known, and the
    /// moment is not.
    static let unknownOffsetFlags: Set = [timeOffsetOverrunFlag, timeOffsetUnderrunFlag]
    /// A fault in the sensor may have made its time wrong (Glucose Measurement, Sensor Status Annunciation, bit 11).
    package static let timeFaultFlag = "time-fault"
    /// The device's clock was set since by hand, or by nobody knows what (GATT Specification Supplement, Elapsed Time).
    package static let notCurrentTimeFlag = "time-not-current"
    /// Whether the device itself says that its time may be wrong.
    package var isTimeDoubtful: Bool {
        flags.contains { $0 == Self.timeFaultFlag || $0 == Self.notCurrentTimeFlag }
    }
    /// The device time is UTC, of a device that does not say its time zone.
    package static let utcTimeFlag = "device-time-utc"

    /// Whether its time is UTC, without a zone.
    package var isUTC: Bool { flags.contains(Self.utcTimeFlag) }

    /// The device's wall time never occurs in the gateway's zone.
    static let skippedTimeFlag = "device-time-skipped"
    /// What was measured is a control solution, to test the meter.
    package static let controlSolutionFlags: Set = ["type-control-solution", "location-control-solution"]

    /// What a glucose says of its time and of what was measured, and its context does not: it holds for both.
    package var flagsForContext: [String] {
        flags.filter {
            $0 == Self.timeFaultFlag || Self.unknownOffsetFlags.contains($0)
                || Self.controlSolutionFlags.contains($0)
        }
    }

    /// Whether the device itself says that this is of no person that it knows.
    var isOfNobody: Bool {
        flags.contains { $0 == Self.unknownUserFlag || Self.controlSolutionFlags.contains($0) }
    }
}

extension Measurement {
    /// Types of which a living body has more than 0.
    package static let positiveTypes: Set = [
        "systolic", "diastolic", "mean-arterial-pressure",
        "pulse-rate", "pulse-rate-fast", "pulse-rate-slow", "heart-rate",
        "spo2", "spo2-fast", "spo2-slow",
        "glucose",
        "weight", "height", "bmi", "basal-metabolism",
        "body-fat", "muscle-percentage", "muscle-mass", "fat-free-mass", "soft-lean-mass", "body-water-mass",
        "impedance", "impedance-low", "impedance-high",
    ]
}
