import IngestRecords

/// A record in Spike's form (docs/destinations/spike.md). The same record gives the same bytes.
struct SpikeNotification {
    /// The kinds that have a form there, or some of which have one.
    static let kinds = Set(RecordKind.allCases.filter { SpikeDataType($0) != nil })
    /// Those of them of which only some records have one.
    static let kindsInPart: Set<RecordKind> = [.activity, .healthObservation, .sleep]

    /// Whether something of a record of these has a form there, be it absent.
    static func hasForm(_ record: RecordContent) -> Bool {
        switch record.kind {
        case .activity: record.values.contains { $0.type == SpikeItem.restingHeartRate }
        case .healthObservation: record.values.contains { $0.type == SpikeItem.respiratoryRate }
        default: record.flags.contains { SpikeItem.sleepLevels[$0] != nil }
        }
    }

    /// The record's.
    let id: String
    let dataType: String
    let body: [UInt8]

    /// Nil where none of the record's values has a form.
    init?(_ record: RecordContent) {
        guard let subject = record.subject, let type = SpikeDataType(record.kind),
            let item = SpikeItem(record, type)
        else { return nil }
        id = record.id
        dataType = type.rawValue
        var text = JSONText()
        text.beginObject()
        text.member("event_id", record.id)
        text.member("event_type", "record_change")
        text.member("timestamp", record.received)
        text.key("user_id")
        text.null()
        text.member("client_user_id", subject)
        text.member("source", SpikeItem.source(of: record))
        text.member("data_type", dataType)
        text.key("data")
        text.beginArray()
        text.value(json: item.text.bytes)
        text.endArray()
        text.endObject()
        body = text.bytes
    }
}

/// The types of data that have something of ours.
private enum SpikeDataType: String {
    case glucose, heart, breathing, sleep, body
    case oxygenSaturation = "oxygen_saturation"
    case activitiesStream = "activities_stream"

    init?(_ kind: RecordKind) {
        switch kind {
        case .glucose, .continuousGlucose: self = .glucose
        case .heartRate, .activity: self = .heart
        case .pulseOximetry: self = .oxygenSaturation
        case .healthObservation: self = .breathing
        case .weight, .bodyComposition, .miScale: self = .body
        case .sleep: self = .sleep
        case .workout: self = .activitiesStream
        default: return nil
        }
    }
}

/// The one element of `data`.
private struct SpikeItem {
    static let restingHeartRate = "resting-heart-rate"
    static let respiratoryRate = "respiratory-rate"
    /// By our flags.
    static let sleepLevels = [
        "in-bed": "inBed", "awake": "awake", "asleep": "asleepUnspecified", "asleep-core": "light",
        "asleep-deep": "deep", "asleep-rem": "rem",
    ]

    /// The maker of the device, as far as it says so.
    static func source(of record: RecordContent) -> String { record.manufacturer ?? "ingestd" }

    private(set) var text = JSONText()
    private let record: RecordContent
    /// Wall times, as all times of `data` are: both as far from UTC as `timezone_offset` says, so that what lies between
    /// them is right when the clocks were changed.
    private let start: DeviceTime
    private let end: DeviceTime

    init?(_ record: RecordContent, _ type: SpikeDataType) {
        let offset = Int64(record.utcOffsetSeconds)
        guard let start = DeviceTime(wallSeconds: record.time + offset),
            let end = DeviceTime(wallSeconds: (record.end ?? record.time) + offset)
        else { return nil }
        (self.record, self.start, self.end) = (record, start, end)
        text.beginObject()
        let isFilled =
            switch type {
            case .glucose: glucose()
            case .heart: record.kind == .activity ? restingHeart() : heart()
            case .oxygenSaturation: oxygenSaturation()
            case .breathing: breathing()
            case .sleep: sleep()
            case .body: bodyData()
            case .activitiesStream: workout()
            }
        guard isFilled else { return nil }
        text.endObject()
    }

    // MARK: Types of data

    private mutating func glucose() -> Bool {
        guard let value = first("glucose", in: "mg/dL") else { return false }
        date(start)
        for name in ["avg_value", "min_value", "max_value"] { number(name, value) }
        text.member("unit", "mg/dL")
        source()
        offset()
        samples("intraday_data", "time", value)
        return true
    }

    private mutating func heart() -> Bool {
        guard let value = first("heart-rate", in: "/min") else { return false }
        date(start)
        offset()
        for name in ["min_hr", "avg_hr", "max_hr"] { number(name, value) }
        samples("heart_rate_samples", "time", value)
        source()
        return true
    }

    /// The day's: no sample.
    private mutating func restingHeart() -> Bool {
        guard let value = first(Self.restingHeartRate, in: "/min") else { return false }
        date(start)
        offset()
        number("resting_hr", value)
        source()
        return true
    }

    private mutating func oxygenSaturation() -> Bool {
        guard let value = first("spo2", in: "%") else { return false }
        date(start)
        for name in ["avg", "min", "max"] { number(name, value) }
        samples("intraday_data", "time", value)
        source()
        return true
    }

    private mutating func breathing() -> Bool {
        guard let value = first(Self.respiratoryRate, in: "/min") else { return false }
        date(start)
        number("avg_value", value)
        samples("intraday_data", "time", value)
        source()
        return true
    }

    /// One stage of a night; the sums of the night are nobody's here.
    private mutating func sleep() -> Bool {
        guard
            let (flag, level) = record.flags.lazy.compactMap({ flag in
                Self.sleepLevels[flag].map { (flag, $0) }
            }).first, let seconds = first("duration", in: "s")
        else { return false }
        date(end)
        // The only stage that says when somebody went to bed and got up.
        let isWhole = flag == "in-bed"
        if isWhole {
            text.member("bedtime_start", start.description)
            text.member("bedtime_end", end.description)
        }
        offset()
        if isWhole { number("bedtime_duration", seconds) }
        source()
        text.key("levels")
        text.beginArray()
        text.beginObject()
        text.member("date_time", start.description)
        text.member("level", level)
        number("seconds", seconds)
        text.endObject()
        text.endArray()
        return true
    }

    /// The names in `body_data`, with the types of ours; the unit, and by which power of ten the number grows.
    private static let bodyMembers: [(name: String, type: String, unit: String, exponent: Int8)] = [
        ("weight_kg", "weight", "kg", 0), ("height_cm", "height", "cm", 0), ("BMI", "bmi", "kg/m2", 0),
        ("bodyfat_percentage", "body-fat", "%", 0), ("muscle_mass_g", "muscle-mass", "kg", 3),
    ]

    private mutating func bodyData() -> Bool {
        let values = Self.bodyMembers.compactMap { name, type, unit, exponent in
            first(type, in: unit).flatMap { $0.times(1, exponent: exponent) }.map { (name, $0) }
        }
        guard !values.isEmpty else { return false }
        date(start)
        source()
        offset()
        text.key("body_data")
        text.beginObject()
        for (name, value) in values {
            text.key(name)
            text.beginObject()
            number("value", value)
            samples("timeseries", "timestamp", value)
            text.endObject()
        }
        text.endObject()
        return true
    }

    private mutating func workout() -> Bool {
        text.member("time_start", start.description)
        text.member("time_end", end.description)
        offset()
        text.member("activity_name", SportName.of(record))
        if let energy = first("active-energy", in: "kcal") { number("calories", energy) }
        source()
        if let duration = first("duration", in: "s") { number("moving_time", duration) }
        if let distance = first(in: "m", where: { $0.hasPrefix("distance") }) { number("distance", distance) }
        return true
    }

    // MARK: Members

    private mutating func date(_ moment: DeviceTime) {
        text.member("date", String(moment.description.prefix(10)))
    }

    private mutating func source() { text.member("source", Self.source(of: record)) }
    private mutating func offset() { text.member("timezone_offset", record.utcOffsetSeconds) }

    private mutating func number(_ name: String, _ value: ExactDecimal) {
        text.key(name)
        text.value(value)
    }

    /// A list of the one sample that there is.
    private mutating func samples(_ name: String, _ time: String, _ value: ExactDecimal) {
        text.key(name)
        text.beginArray()
        text.beginObject()
        text.member(time, start.description)
        number("value", value)
        text.endObject()
        text.endArray()
    }

    // MARK: Values

    /// The first value of a type that is there and has a form.
    private func first(_ type: String, in unit: String) -> ExactDecimal? { first(in: unit) { $0 == type } }

    private func first(in unit: String, where isWanted: (String) -> Bool) -> ExactDecimal? {
        record.values.filter { isWanted($0.type) }.compactMap { $0.converted(to: unit) }.first
    }
}
