import IngestRecords

/// The form that records have at Junction: what they say as samples of its series, and those as requests.
enum JunctionForm {
    /// The kinds of records that have a form there.
    static let kinds: Set<RecordKind> = [
        .bloodPressure, .glucose, .continuousGlucose, .bodyTemperature, .weight, .bodyComposition,
        .pulseOximetry, .heartRate, .miScale,
    ]

    /// A resource that data is posted to.
    enum Series: String {
        case glucose
        case bloodPressure = "blood_pressure"
        case heartRate = "heartrate"
        case bloodOxygen = "blood_oxygen"
        case temperature
        case body

        /// The path of requests for a user.
        func path(user: String) -> String {
            self == .body ? "/v2/summary/body/\(user)" : "/v2/timeseries/\(user)/\(rawValue)"
        }
    }

    /// A request's place and body.
    struct Request: Equatable {
        let series: Series
        let provider: String
        let body: [UInt8]
    }

    /// One number.
    struct Sample {
        /// As JSON.
        let value: String
        let unit: String
        /// What kind of device it is from, in Junction's words.
        let source: String
        let time: Int64
        let isUpperBound: Bool
    }

    enum Entry {
        case quantity(Sample)
        case bloodPressure(systolic: Sample, diastolic: Sample, pulse: Sample?)
        /// Of the body's summary: the list that it belongs to.
        case body(String, Sample)
    }

    /// What one request may hold.
    private struct Group: Hashable {
        let series: Series
        let provider: String
        let stage: Record.Stage
    }

    /// The lists of a body's summary, all of which are there (BodyPatch of Junction's SDK).
    private static let bodyLists = [
        "body_mass", "body_fat_percentage", "body_mass_index", "waist_circumference", "lean_body_mass",
    ]

    /// The requests for a batch, one for each series, source and stage, in the order in which the records bring them.
    /// The same batch gives the same requests.
    static func requests(
        for records: [RecordContent], _ settings: JunctionSettings
    ) throws(SetAsideReason) -> [Request] {
        var groups: [Group] = []
        var entries: [Group: [Entry]] = [:]
        for record in records {
            for (series, entry) in try self.entries(of: record, under: settings.user) {
                let group = Group(
                    series: series, provider: settings.provider(of: record), stage: record.stage)
                if entries[group] == nil { groups.append(group) }
                entries[group, default: []].append(entry)
            }
        }
        return groups.map { group in
            Request(
                series: group.series, provider: group.provider,
                body: body(group, entries[group] ?? [], timeZone: settings.timeZone))
        }
    }

    // MARK: - Records

    private static func entries(
        of record: RecordContent, under user: String
    ) throws(SetAsideReason) -> [(Series, Entry)] {
        if let reason = record.reasonNotToFile(under: user) { throw reason }
        let found = kinds.contains(record.kind) ? formed(record) : []
        guard !found.isEmpty else {
            throw "has no value that this destination has a form for"
        }
        return found
    }

    private static func formed(_ record: RecordContent) -> [(Series, Entry)] {
        if record.kind == .bloodPressure {
            func sample(_ type: String) -> Sample? {
                record.values.lazy.compactMap { self.sample($0, of: record) }.first { $0.type == type }?.1
            }
            guard let systolic = sample("systolic"), let diastolic = sample("diastolic") else { return [] }
            return [
                (
                    .bloodPressure,
                    .bloodPressure(systolic: systolic, diastolic: diastolic, pulse: sample("pulse-rate"))
                )
            ]
        }
        return record.values.compactMap { value -> (Series, Entry)? in
            guard let (type, sample) = sample(value, of: record) else { return nil }
            switch type {
            case "glucose": return (.glucose, .quantity(sample))
            case "pulse-rate", "heart-rate": return (.heartRate, .quantity(sample))
            case "spo2": return (.bloodOxygen, .quantity(sample))
            case "body-temperature": return (.temperature, .quantity(sample))
            case "weight": return (.body, .body("body_mass", sample))
            case "bmi": return (.body, .body("body_mass_index", sample))
            case "body-fat": return (.body, .body("body_fat_percentage", sample))
            case "fat-free-mass": return (.body, .body("lean_body_mass", sample))
            default: return nil
            }
        }
    }

    /// Nil for what is absent, or has no form.
    private static func sample(
        _ value: RecordContent.Value, of record: RecordContent
    ) -> (type: String, Sample)? {
        guard let (number, unit) = number(of: value) else { return nil }
        return (
            value.type,
            Sample(
                value: number, unit: unit, source: source(of: record), time: record.time,
                isUpperBound: record.timeSource == .unknown)
        )
    }

    /// The number in Junction's unit, and the unit.
    private static func number(of value: RecordContent.Value) -> (String, String)? {
        func number(_ unit: String, in wanted: String) -> (String, String)? {
            value.number(in: wanted).map { ($0, unit) }
        }
        switch value.type {
        case "systolic", "diastolic": return number("mmHg", in: "mm[Hg]")
        case "pulse-rate", "heart-rate": return number("bpm", in: "/min")
        case "glucose": return number("mmol/L", in: "mmol/L")
        case "body-temperature": return number("\u{B0}C", in: "Cel")
        case "spo2", "body-fat": return number("%", in: "%")
        case "weight", "fat-free-mass": return number("kg", in: "kg")
        case "bmi": return number("index", in: "kg/m2")
        default: return nil
        }
    }

    private static func source(of record: RecordContent) -> String {
        // Of what was typed in, or came from another program, nothing tells.
        guard record.origin == nil else { return "unknown" }
        return switch record.kind {
        case .bloodPressure: "cuff"
        case .glucose: "fingerprick"
        case .continuousGlucose: "automatic"
        case .weight, .bodyComposition, .miScale: "scale"
        default: "unknown"
        }
    }
}

// MARK: - Text

extension JunctionForm {
    private static func body(_ group: Group, _ entries: [Entry], timeZone: String) -> [UInt8] {
        var text = JSONText()
        text.beginObject()
        switch group.stage {
        case .live: text.member("stage", "daily")
        case .historical:
            let times = entries.map(\.time)
            text.member("stage", "historical")
            text.member("start_date", moment(times.min() ?? 0))
            text.member("end_date", moment(times.max() ?? 0))
        }
        text.member("time_zone", timeZone)
        text.member("provider", group.provider)
        text.key("data")
        if group.series == .body {
            text.beginObject()
            for name in bodyLists {
                text.key(name)
                text.beginArray()
                for case .body(name, let sample) in entries { text.value(sample) }
                text.endArray()
            }
            // Where the zone changed between days; here it is one.
            text.key("time_zones")
            text.beginArray()
            text.endArray()
            text.endObject()
        } else {
            text.beginArray()
            for entry in entries { text.value(entry) }
            text.endArray()
        }
        text.member("is_final_chunk", true)
        text.endObject()
        return text.bytes
    }

    private static func moment(_ time: Int64) -> String {
        DeviceTime(wallSeconds: time).map { "\($0)Z" } ?? ""
    }
}

extension JunctionForm.Entry {
    fileprivate var time: Int64 {
        switch self {
        case .quantity(let sample), .body(_, let sample), .bloodPressure(let sample, _, _): sample.time
        }
    }
}

extension JSONText {
    fileprivate mutating func value(_ entry: JunctionForm.Entry) {
        switch entry {
        case .quantity(let sample), .body(_, let sample): value(sample)
        case .bloodPressure(let systolic, let diastolic, let pulse):
            beginObject()
            key("systolic")
            value(systolic)
            key("diastolic")
            value(diastolic)
            if let pulse {
                key("pulse")
                value(pulse)
            }
            endObject()
        }
    }

    fileprivate mutating func value(_ sample: JunctionForm.Sample) {
        beginObject()
        key("value")
        value(json: Array(sample.value.utf8))
        member("unit", sample.unit)
        member("type", sample.source)
        // One moment, not a span.
        for name in ["start_date", "end_date"] {
            member(name, DeviceTime(wallSeconds: sample.time).map { "\($0)Z" } ?? "")
        }
        if sample.isUpperBound {
            key("metadata")
            beginObject()
            member("time", "measured then or earlier")
            endObject()
        }
        endObject()
    }
}
