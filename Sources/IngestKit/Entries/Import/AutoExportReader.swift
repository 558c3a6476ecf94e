/// Reads a JSON document of the app Health Auto Export (docs/import.md), and tells a `HealthExport` of each sample as
/// Apple's own export has it: the same samples are the same entries.
///
/// The document is told three times. The members of an object come in any order, so a metric's name may stand behind its
/// samples, and nothing in the document says whether its values are samples or sums and averages of them: the first time
/// it is looked through for both. The other two times are those of `HealthExport`.
package final class AutoExportReader: JSONStreamHandler {
    /// What was found when the document was looked through.
    struct Survey {
        /// The finest step of a metric's dates.
        enum Step: Int, Comparable {
            case hour
            case minute
            case second

            static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
        }

        /// The metrics in their order.
        var metrics: [(name: String, unit: String)] = []
        /// By the name of a known metric.
        var steps: [String: Step] = [:]
        /// Whether a heart rate was of a span, in which it went from one number to another.
        var hasHeartRateSpans = false

        /// Whether a metric's values are of spans of time, and no samples.
        func isSummarised(_ name: String, _ metric: AutoExportMetric) -> Bool {
            // The app has heart rates by the second where it has all others by the minute.
            if steps.contains(where: { $0.key != AutoExportMetric.heartRate && $0.value == .second }) {
                return false
            }
            switch steps[name] {
            case .second?: return false
            // Somebody may have typed it, with a time to the minute.
            case .minute?: return metric.isSum || name == AutoExportMetric.heartRate && hasHeartRateSpans
            case .hour?, nil: return true
            }
        }
    }

    /// Where in the document it is.
    private enum Place {
        case document
        case data
        /// An array of `data`, by its name.
        case section(String)
        case metric
        /// A metric's `data`.
        case samples
        case sample
        case workout
        /// Of a workout, by its name: a number with its unit.
        case quantity(String)
        case other
    }

    /// More than any export has: the app writes each metric once.
    private static let mostMetrics = 10_000
    private static let used: Set = [
        "date", "startDate", "endDate", "start", "end", "qty", "Min", "Avg", "Max", "systolic", "diastolic",
        "value", "mealTime", "source", "Unspecified", "Protection Used", "Protection Not Used", "name",
        "duration",
    ]
    private static let usedQuantities: Set = ["activeEnergyBurned", "distance"]

    private let export: HealthExport
    private var survey = Survey()
    private var isSurveyed = false
    /// Whether the document has what every export of the app has.
    package private(set) var isExport = false
    private var places: [Place] = []
    private var name = ""
    private var fields: [String: JSONStream.Value] = [:]
    /// Of the metric that is under way, as far as it has come.
    private var metric = (name: "", unit: "")
    private var step: Survey.Step?
    private var hasSpans = false
    /// Metrics that have begun.
    private var metrics = 0

    package init(_ export: HealthExport) {
        self.export = export
    }

    /// The document was told to its end, or as far as it can be read: it is told again from here on.
    package func beginAgain() {
        // A metric in which the document breaks off.
        if !isSurveyed, survey.metrics.count < metrics { endSurvey() }
        isSurveyed = true
        isExport = false
        places = []
        metrics = 0
    }

    // MARK: The document

    package func begin(isObject: Bool) {
        let place = place(isObject: isObject)
        places.append(place)
        switch place {
        case .data: isExport = true
        case .metric:
            metrics += 1
            metric = ("", "")
            step = nil
            hasSpans = false
        case .sample, .workout: fields = [:]
        case .document, .section, .samples, .quantity, .other: break
        }
        name = ""
    }

    private func place(isObject: Bool) -> Place {
        switch (places.last, isObject) {
        case (nil, true): .document
        case (.document?, true) where name == "data": .data
        case (.data?, false): .section(name)
        case (.section("metrics")?, true): .metric
        case (.section("workouts")?, true): .workout
        case (.metric?, false) where name == "data": .samples
        case (.samples?, true): .sample
        case (.workout?, true) where Self.usedQuantities.contains(name): .quantity(name)
        default: .other
        }
    }

    package func name(_ name: String?) {
        self.name = name ?? ""
    }

    package func value(_ value: JSONStream.Value) {
        switch places.last {
        case .metric?:
            guard case .text(let text) = value else { return }
            if name == "name" { metric.name = text }
            if name == "units" { metric.unit = AutoExportMetric.unit(text) }
        case .sample?, .workout?:
            if Self.used.contains(name) { fields[name] = value }
        case .quantity(let quantity)?:
            if name == "qty" { fields[quantity] = value }
            if name == "units" { fields[quantity + "Unit"] = value }
        // No sample at all.
        case .samples?, .section("metrics")?, .section("workouts")?: leaveOut(\.unreadable)
        default: break
        }
    }

    package func end() {
        switch places.popLast() {
        case .metric? where !isSurveyed: endSurvey()
        case .sample? where isSurveyed: takeSample()
        case .sample?: look()
        case .workout? where isSurveyed: takeWorkout()
        case .other? where isSurveyed:
            switch places.last {
            case .section(let section)?: export.leaveOut(unknown: section)
            case .samples?: leaveOut(\.unreadable)
            default: break
            }
        default: break
        }
    }

    /// How fine a sample's date is, whatever its metric is called.
    private func look() {
        if number("Min") != number("Max") { hasSpans = true }
        guard let time = text("date").flatMap({ EntryTime(AutoExportTime.text($0), in: nil) }) else { return }
        let wall = time.instant + Int64(time.utcOffset)
        step = max(step ?? .hour, wall % 3600 == 0 ? .hour : wall % 60 == 0 ? .minute : .second)
    }

    private func endSurvey() {
        guard survey.metrics.count < Self.mostMetrics else { return }
        survey.metrics.append(metric)
        // A night that was added up begins at any second.
        guard let known = AutoExportMetric.known[metric.name], known.form != .sleep else { return }
        if let step { survey.steps[metric.name] = max(survey.steps[metric.name] ?? .hour, step) }
        if metric.name == AutoExportMetric.heartRate, hasSpans { survey.hasHeartRateSpans = true }
    }

    private func leaveOut(_ count: WritableKeyPath<HealthExport.Tally, Int>) {
        if isSurveyed { export.tally[keyPath: count] += 1 }
    }

    private func number(_ field: String) -> String? {
        guard case .number(let text)? = fields[field] else { return nil }
        return text
    }

    private func text(_ field: String) -> String? {
        guard case .text(let text)? = fields[field] else { return nil }
        return text
    }

    // MARK: Samples

    private func takeSample() {
        guard metrics <= survey.metrics.count else {
            return metrics > Self.mostMetrics ? leaveOut(\.unreadable) : export.noteChange()
        }
        let (name, unit) = survey.metrics[metrics - 1]
        guard let metric = AutoExportMetric.known[name] else { return export.leaveOut(unknown: name) }
        switch metric.form {
        case .sleep: takeSleep(metric)
        case .sexualActivity: takeSexualActivity(metric)
        case _ where survey.isSummarised(name, metric): leaveOut(\.summarised)
        case .bloodPressure:
            tell("Correlation", metric.type) {
                let parts = [(HealthKitType.systolic, "systolic"), (HealthKitType.diastolic, "diastolic")]
                for (type, field) in parts {
                    tell("Record", type, ["value": number(field), "unit": unit])
                }
            }
        case .percentage:
            tell("Record", metric.type, ["value": number("qty").flatMap(Self.fraction), "unit": unit])
        case .quantity:
            var value = number("qty")
            if name == AutoExportMetric.heartRate, value == nil {
                value = number("Avg")
                // It went from one number to another while it was measured, or nobody knows whether it did.
                guard let value, number("Min") == value, number("Max") == value else {
                    return leaveOut(\.summarised)
                }
            }
            tell("Record", metric.type, ["value": value, "unit": unit]) {
                if let meal = text("mealTime").flatMap({ AutoExportMetric.meals[$0] }) {
                    tellMetadata("HKBloodGlucoseMealTime", meal)
                }
            }
        }
    }

    /// A stage of a sleep; what the app adds up of a night is no sample.
    private func takeSleep(_ metric: AutoExportMetric) {
        guard fields["value"] != nil else { return leaveOut(\.summarised) }
        let stage = text("value").flatMap { AutoExportMetric.sleep[$0] }
        guard let stage else { return leaveOut(\.unreadable) }
        tell("Record", metric.type, ["value": "HKCategoryValueSleepAnalysis" + stage])
    }

    /// The app counts them; one is a sample.
    private func takeSexualActivity(_ metric: AutoExportMetric) {
        let counts = ["Unspecified", "Protection Used", "Protection Not Used"].map { number($0) ?? "0" }
        guard counts.sorted() == ["0", "0", "1"] else { return leaveOut(\.summarised) }
        tell("Record", metric.type) {
            if counts[0] == "0" {
                tellMetadata("HKSexualActivityProtectionUsed", counts[1])
            }
        }
    }

    private func takeWorkout() {
        tell(
            "Workout", nil,
            [
                "workoutActivityType": AutoExportMetric.workout(text("name") ?? ""),
                "duration": number("duration"), "durationUnit": "s",
                "totalEnergyBurned": number("activeEnergyBurned"),
                "totalEnergyBurnedUnit": text("activeEnergyBurnedUnit").map(AutoExportMetric.unit),
                "totalDistance": number("distance"),
                "totalDistanceUnit": text("distanceUnit").map(AutoExportMetric.unit),
            ])
    }

    /// Tells the export of an element with the sample's dates and source.
    private func tell(
        _ element: String, _ type: String?, _ attributes: [String: String?] = [:], inside: () -> Void = {}
    ) {
        var whole = attributes.compactMapValues(\.self)
        let start = text("date") ?? text("startDate") ?? text("start")
        whole["type"] = type
        whole["startDate"] = start.map(AutoExportTime.text)
        whole["endDate"] = (text("endDate") ?? text("end") ?? start).map(AutoExportTime.text)
        whole["sourceName"] = text("source")
        export.begin(element, whole)
        inside()
        export.end(element)
    }

    private func tellMetadata(_ key: String, _ value: String) {
        export.begin("MetadataEntry", ["key": key, "value": value])
        export.end("MetadataEntry")
    }

    /// Percent as a fraction, with the same digits. Nil below 2, which no body has: it may be a fraction already.
    private static func fraction(_ text: String) -> String? {
        guard let number = HealthKitText.number(text),
            let whole = Int64(number.description.prefix { $0 != "." }),
            whole >= 2
        else { return nil }
        return number.times(1, exponent: -2)?.description
    }
}

/// Times as the app writes them: `2024-02-06 14:30:00 -0800`, and on a phone that shows twelve hours also
/// `2024-09-21 7:57:00 am +1000`, with a narrow blank that breaks no line in front of `am`
/// (irvinlim/apple-health-ingester, issue 25).
enum AutoExportTime {
    private static let usual = "2024-02-06 14:30:00 -0800".utf8.count

    /// The same with 24 hours; what is none of these forms is returned as it is.
    static func text(_ text: String) -> String {
        guard text.utf8.count != usual else { return text }
        let parts = text.split { $0 == " " || $0 == "\u{202F}" || $0 == "\u{A0}" }
        guard parts.count == 4, let colon = parts[1].firstIndex(of: ":"), let hour = Int(parts[1][..<colon]),
            (1...12).contains(hour)
        else { return text }
        let shift: Int
        switch parts[2].lowercased() {
        case "am": shift = 0
        case "pm": shift = 12
        default: return text
        }
        let hours = hour % 12 + shift
        return "\(parts[0]) \(hours < 10 ? "0" : "")\(hours)\(parts[1][colon...]) \(parts[3])"
    }
}
