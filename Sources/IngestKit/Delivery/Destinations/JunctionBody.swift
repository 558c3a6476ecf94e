import IngestRecords

/// The bodies of requests, as Junction's SDKs encode them (vital-ios: Patches).
extension JunctionForm {
    /// The lists of a body's summary, all of which are there (BodyPatch).
    private static let listsOfBody = [
        "body_mass", "body_fat_percentage", "body_mass_index", "waist_circumference", "lean_body_mass",
    ]
    /// The same of a sleep (SleepPatch.Sleep).
    private static let listsOfSleep = [
        "heart_rate", "heart_rate_variability", "respiratory_rate", "wrist_temperature",
    ]
    private static let listsOfStages = [
        "unspecified_sleep_samples", "awake_sleep_samples", "deep_sleep_samples", "light_sleep_samples",
        "rem_sleep_samples", "in_bed_sleep_samples", "unknown_sleep_samples",
    ]
    /// The program that the samples are from. An export does not have the identifiers of a phone's programs.
    private static let bundle = "ingestd"

    /// - Parameter cycles: what a request of menstrual cycles has instead of its entries.
    static func body(
        _ group: Group, _ entries: [Entry], _ cycles: [JunctionCycles.Cycle], timeZone: String
    ) -> [UInt8] {
        var text = JSONText()
        text.beginObject()
        switch group.stage {
        case .live: text.member("stage", "daily")
        case .historical:
            text.member("stage", "historical")
            text.member("start_date", moment(entries.map(\.time).min() ?? 0))
            text.member("end_date", moment(entries.map(\.end).max() ?? 0))
        }
        text.member("time_zone", timeZone)
        text.member("provider", group.provider)
        text.key("data")
        switch group.series {
        case .body: addBody(entries, to: &text)
        case .meal: addMeal(entries, to: &text)
        case .profile: addProfile(entries, to: &text)
        case .sleep: addSleeps(entries, to: &text)
        case .menstrualCycle:
            text.beginArray()
            for cycle in cycles { text.value(cycle, provider: group.provider, bundle: bundle) }
            text.endArray()
        default:
            text.beginArray()
            for entry in entries { text.value(entry) }
            text.endArray()
        }
        text.member("is_final_chunk", true)
        text.endObject()
        return text.bytes
    }

    private static func samples(of entries: [Entry]) -> [(list: String, sample: Sample)] {
        entries.compactMap { if case .listed(let list, let sample) = $0 { (list, sample) } else { nil } }
    }

    private static func addBody(_ entries: [Entry], to text: inout JSONText) {
        text.beginObject()
        text.lists(listsOfBody, of: samples(of: entries))
        // Where the zone changed between days; here it is one.
        text.emptyList("time_zones")
        text.endObject()
    }

    /// One meal with the lists that it has (HealthKitNutritionRawData).
    private static func addMeal(_ entries: [Entry], to text: inout JSONText) {
        let samples = samples(of: entries)
        var lists: [String] = []
        for (list, _) in samples where !lists.contains(list) { lists.append(list) }
        text.beginArray()
        text.beginObject()
        text.key("healthkit")
        text.beginObject()
        text.member("source_bundle", bundle)
        text.lists(lists, of: samples)
        text.endObject()
        text.endObject()
        text.endArray()
    }

    /// The height of the last time that it was measured (ProfilePatch).
    private static func addProfile(_ entries: [Entry], to text: inout JSONText) {
        var newest: (number: String, time: Int64)?
        for case .height(let number, let time) in entries where time >= newest?.time ?? .min {
            newest = (number, time)
        }
        text.beginObject()
        text.key("height")
        text.value(json: Array((newest?.number ?? "null").utf8))
        text.endObject()
    }

    // MARK: - Sleeps

    private struct Sleep {
        var start: Int64
        var end: Int64
        let product: String
        var samples: [(list: String, sample: Sample)]
    }

    /// The longest pause within a sleep, in seconds (stitchedSleeps of vital-ios): a phone knows only the time in bed.
    private static func longestPause(of source: String) -> Int64 { source == "phone" ? 7_200 : 1_800 }

    /// Parts of one night by one device are one sleep.
    private static func sleeps(of entries: [Entry]) -> [Sleep] {
        var sleeps: [Sleep] = []
        let samples = samples(of: entries).enumerated().sorted {
            ($0.element.sample.time, $0.offset) < ($1.element.sample.time, $1.offset)
        }
        for (_, part) in samples {
            let (sample, product) = (part.sample, part.sample.product ?? "unknown")
            let end = sample.end ?? sample.time
            if let place = sleeps.lastIndex(where: { $0.product == product }),
                sample.time <= sleeps[place].end + longestPause(of: sample.source)
            {
                sleeps[place].end = max(sleeps[place].end, end)
                sleeps[place].samples.append(part)
            } else {
                sleeps.append(Sleep(start: sample.time, end: end, product: product, samples: [part]))
            }
        }
        return sleeps
    }

    private static func addSleeps(_ entries: [Entry], to text: inout JSONText) {
        text.beginArray()
        for sleep in sleeps(of: entries) {
            text.beginObject()
            text.member("start_date", moment(sleep.start))
            text.member("end_date", moment(sleep.end))
            text.member("source_bundle", bundle)
            text.member("product_type", sleep.product)
            for list in listsOfSleep { text.emptyList(list) }
            text.key("sleep_stages")
            text.beginObject()
            text.lists(listsOfStages, of: sleep.samples)
            text.endObject()
            text.key("metadata")
            text.beginObject()
            text.endObject()
            text.endObject()
        }
        text.endArray()
    }

    fileprivate static func moment(_ time: Int64) -> String {
        DeviceTime(wallSeconds: time).map { "\($0)Z" } ?? ""
    }

    fileprivate static func add(_ workout: Workout, to text: inout JSONText) {
        text.beginObject()
        text.member("id", workout.id)
        text.member("start_date", moment(workout.start))
        text.member("end_date", moment(workout.end))
        text.key("moving_time")
        text.value(json: Array(workout.movingTime.utf8))
        text.member("source_bundle", bundle)
        if let product = workout.product { text.member("product_type", product) }
        text.member("sport", workout.sport)
        for (name, number) in [("calories", workout.calories), ("distance", workout.distance)] {
            guard let number else { continue }
            text.key(name)
            text.value(json: Array(number.utf8))
        }
        text.emptyList("heart_rate")
        text.emptyList("respiratory_rate")
        text.key("metadata")
        text.beginObject()
        text.endObject()
        text.endObject()
    }
}

extension JunctionForm {
    /// A day's sums, and none of its samples, as the SDK posts them (ActivityPatch.Activity): those go as time series.
    fileprivate static func add(_ day: Day, to text: inout JSONText) {
        text.beginObject()
        text.key("day_summary")
        text.beginObject()
        text.member("calendar_date", day.date)
        for (name, number) in [
            ("active_energy_burned_sum", day.activeEnergy), ("exercise_time", day.exerciseTime),
        ] {
            guard let number else { continue }
            text.key(name)
            text.value(json: Array(number.utf8))
        }
        text.endObject()
        for list in [
            "active_energy_burned", "basal_energy_burned", "steps", "floors_climbed",
            "distance_walking_running",
            "vo2_max",
        ] { text.emptyList(list) }
        text.endObject()
    }
}

extension JunctionForm.Entry {
    /// Nil for what is of no menstrual cycle.
    var cycle: JunctionCycles.Entry? {
        if case .cycle(let entry) = self { entry } else { nil }
    }

    fileprivate var time: Int64 {
        switch self {
        case .quantity(let sample), .listed(_, let sample), .bloodPressure(let sample, _, _): sample.time
        case .workout(let workout): workout.start
        case .height(_, let time): time
        case .day(let day): day.time
        case .cycle(let entry): entry.day * 86_400
        }
    }

    fileprivate var end: Int64 {
        switch self {
        case .quantity(let sample), .listed(_, let sample), .bloodPressure(let sample, _, _):
            sample.end ?? sample.time
        case .workout(let workout): workout.end
        case .height(_, let time): time
        case .day(let day): day.end
        case .cycle(let entry): (entry.lastDay + 1) * 86_400
        }
    }
}

extension JSONText {
    fileprivate mutating func emptyList(_ name: String) {
        key(name)
        beginArray()
        endArray()
    }

    /// Lists of these names, each with its samples.
    fileprivate mutating func lists(
        _ names: [String], of samples: [(list: String, sample: JunctionForm.Sample)]
    ) {
        for name in names {
            key(name)
            beginArray()
            for (list, sample) in samples where list == name { value(sample) }
            endArray()
        }
    }

    fileprivate mutating func value(_ entry: JunctionForm.Entry) {
        switch entry {
        case .quantity(let sample), .listed(_, let sample): value(sample)
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
        case .workout(let workout): JunctionForm.add(workout, to: &self)
        case .day(let day): JunctionForm.add(day, to: &self)
        // They are not alone in their requests.
        case .height, .cycle: break
        }
    }

    fileprivate mutating func value(_ sample: JunctionForm.Sample) {
        beginObject()
        key("value")
        value(json: Array(sample.value.utf8))
        member("unit", sample.unit)
        member("type", sample.source)
        member("start_date", JunctionForm.moment(sample.time))
        member("end_date", JunctionForm.moment(sample.end ?? sample.time))
        if let product = sample.product { member("product_type", product) }
        if sample.isUpperBound {
            key("metadata")
            beginObject()
            member("time", "measured then or earlier")
            endObject()
        }
        endObject()
    }
}
