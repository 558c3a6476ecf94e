import IngestRecords

/// The form that records have at Junction: what they say as samples of its series, and those as requests.
enum JunctionForm {
    /// The kinds of records that have a form there, or some of which have one.
    static let kinds: Set<RecordKind> = [
        .bloodPressure, .glucose, .continuousGlucose, .bodyTemperature, .weight, .bodyComposition,
        .pulseOximetry, .heartRate, .healthObservation, .miScale, .activity, .workout, .sleep, .nutrition,
        .reproductiveHealth,
    ]

    /// The source of what came from a phone's export.
    static let appleHealth = "apple_health_kit"

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
        /// Nil for a moment.
        let end: Int64?
        let isUpperBound: Bool
        /// The hardware's name, of what was imported.
        let product: String?
    }

    struct Workout {
        let id: String
        let start: Int64
        let end: Int64
        let product: String?
        let sport: String
        /// In seconds, kilocalories and metres, as JSON.
        let movingTime: String
        let calories: String?
        let distance: String?
    }

    /// What HealthKit added up over a day.
    struct Day {
        let time: Int64
        let end: Int64
        /// As `2026-11-20`.
        let date: String
        /// In kilocalories and whole minutes, as JSON.
        let activeEnergy: String?
        let exerciseTime: String?
    }

    enum Entry {
        case quantity(Sample)
        case bloodPressure(systolic: Sample, diastolic: Sample, pulse: Sample?)
        /// Of a summary of samples: the list that it belongs to.
        case listed(String, Sample)
        case workout(Workout)
        /// In whole centimetres, as JSON.
        case height(String, time: Int64)
        case day(Day)
        case cycle(JunctionCycles.Entry)
    }

    /// What one request may hold.
    struct Group: Hashable {
        let series: Series
        let provider: String
        let stage: Record.Stage
    }

    /// Those of them of which only some records have one.
    static let kindsInPart: Set<RecordKind> = [
        .activity, .bodyComposition, .healthObservation, .nutrition, .reproductiveHealth, .sleep,
    ]

    /// Whether something of a record of these has a form there, be it absent.
    static func hasForm(_ record: RecordContent) -> Bool {
        record.flags.contains { sleepStages[$0] != nil && record.kind == .sleep || standHours[$0] != nil }
            || JunctionCycles.entry(of: record) != nil
            || record.values.contains { value in
                quantities[value.type] != nil || bodyLists[value.type] != nil || value.type == "height"
                    || daySums.contains(value.type)
                    || record.kind == .nutrition && mealLists[value.type] != nil
            }
    }

    /// The requests for a batch, one for each series, source and stage, in the order in which the records bring them.
    /// The same batch gives the same requests, if nothing more is known of menstrual cycles.
    /// - Parameter cycles: what other records said of menstrual cycles.
    static func requests(
        for records: [RecordContent], _ settings: JunctionSettings,
        cycles: JunctionCycles = JunctionCycles()
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
        return groups.compactMap { group in
            let entries = entries[group] ?? []
            var changed: [JunctionCycles.Cycle] = []
            if group.series == .menstrualCycle {
                let more = entries.compactMap(\.cycle)
                changed = cycles.adding(more).cycles(with: more, after: cycles)
                if changed.isEmpty { return nil }
            }
            return Request(
                series: group.series, provider: group.provider,
                body: body(group, entries, changed, timeZone: settings.timeZone))
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
        switch record.kind {
        case .bloodPressure:
            func sample(_ type: String, _ unit: Unit) -> Sample? {
                record.values.lazy.filter { $0.type == type }.compactMap {
                    self.sample($0, in: unit, of: record)
                }.first
            }
            guard let systolic = sample("systolic", .mmHg), let diastolic = sample("diastolic", .mmHg) else {
                return []
            }
            let pulse = sample("pulse-rate", .bpm)
            return [(.bloodPressure, .bloodPressure(systolic: systolic, diastolic: diastolic, pulse: pulse))]
        case .workout: return workout(of: record).map { [(.workouts, .workout($0))] } ?? []
        case .sleep:
            return record.flags.compactMap { flag in
                sleepStages[flag].map {
                    (.sleep, .listed($0.list, sample($0.number, "stage", of: record)))
                }
            }
        default: break
        }
        if let day = day(of: record) { return [(.activity, .day(day))] }
        let hours = record.flags.compactMap { standHours[$0] }
        return hours.map { (.standHour, .quantity(sample($0, Unit.count.name, of: record))) }
            + (JunctionCycles.entry(of: record).map { [(.menstrualCycle, .cycle($0))] } ?? [])
            + record.values.compactMap { formed($0, of: record) }
    }

    /// Nil for what is no sum of a day.
    private static func day(of record: RecordContent) -> Day? {
        func number(_ type: String, _ code: String) -> ExactDecimal? {
            record.values.lazy.filter { $0.type == type }.compactMap { $0.converted(to: code) }.first
        }
        let energy = number("day-active-energy", "kcal")
        let exercise = number("day-exercise-time", "min")?.wholePart
        guard energy != nil || exercise != nil else { return nil }
        return Day(
            time: record.time, end: record.end ?? record.time, date: record.localDate,
            activeEnergy: energy?.description, exerciseTime: exercise.map { String($0) })
    }

    private static func formed(_ value: RecordContent.Value, of record: RecordContent) -> (Series, Entry)? {
        if record.kind == .nutrition, let (list, unit) = mealLists[value.type] {
            return sample(value, in: unit, of: record).map { (.meal, .listed(list, $0)) }
        }
        if let (list, unit) = bodyLists[value.type] {
            return sample(value, in: unit, of: record).map { (.body, .listed(list, $0)) }
        }
        if value.type == "height" {
            return value.converted(to: "cm")?.rounded.map {
                (.profile, .height(String($0), time: record.time))
            }
        }
        guard let (series, unit) = quantities[value.type] else { return nil }
        return sample(value, in: unit, of: record).map { (series, .quantity($0)) }
    }

    private static func workout(of record: RecordContent) -> Workout? {
        guard let end = record.end else { return nil }
        func number(_ code: String, where isWanted: (String) -> Bool) -> String? {
            record.values.filter { isWanted($0.type) }.compactMap { $0.number(in: code) }.first
        }
        return Workout(
            id: record.id.uppercased(), start: record.time, end: end, product: record.model,
            sport: SportName.of(record),
            movingTime: number("s") { $0 == "duration" } ?? String(end - record.time),
            calories: number("kcal") { $0 == "active-energy" },
            distance: number("m") { $0.hasPrefix("distance") })
    }

    /// Nil for what is absent, or has no form.
    private static func sample(
        _ value: RecordContent.Value, in unit: Unit, of record: RecordContent
    ) -> Sample? {
        // Whole minutes, as the SDKs count them.
        let number =
            value.type == "mindful-time"
            ? value.converted(to: "s")?.wholePart.map { String($0 / 60) } : value.number(in: unit.code)
        return number.map { sample($0, unit.name, of: record) }
    }

    private static func sample(_ number: String, _ unit: String, of record: RecordContent) -> Sample {
        Sample(
            value: number, unit: unit, source: source(of: record), time: record.time, end: record.end,
            isUpperBound: record.timeSource == .unknown,
            product: record.origin == .appleHealth ? record.model : nil)
    }

    private static func source(of record: RecordContent) -> String {
        switch record.origin {
        case .manual: return "unknown"
        case .appleHealth:
            if record.flags.contains("user-entered") { return "app" }
            let model = record.model?.lowercased() ?? ""
            return model.hasPrefix("watch") ? "watch" : model.hasPrefix("iphone") ? "phone" : "unknown"
        case nil: break
        }
        return switch record.kind {
        case .bloodPressure: "cuff"
        case .glucose: "fingerprick"
        case .continuousGlucose: "automatic"
        case .weight, .bodyComposition, .miScale: "scale"
        default: "unknown"
        }
    }
}
