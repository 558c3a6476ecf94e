extension HealthExport {
    /// An element of the export that is a sample, with what was found in it.
    struct Sample {
        /// What it says.
        enum Content {
            /// - Parameter said: the same as it stands in the export, for its name.
            case values([RecordEntry.Value], flags: [String], said: String)
            case unreadable
            case unknownUnit(String)
        }

        /// More parts, statistics or characters of a value than any sample has.
        private static let mostParts = 16
        private static let longestValue = 128
        /// More bytes than what a phone writes into an attribute that is used has.
        private static let longestAttribute = 4096
        /// Those that are used.
        private static let used: Set = [
            "type", "workoutActivityType", "startDate", "endDate", "value", "unit", "duration",
            "durationUnit",
            "totalEnergyBurned", "totalEnergyBurnedUnit", "totalDistance", "totalDistanceUnit", "sourceName",
            "sourceVersion", "device", "creationDate", "activeEnergyBurned", "activeEnergyBurnedUnit",
            "appleExerciseTime", "appleStandHours",
        ]

        let element: String
        /// HealthKit's identifier.
        let type: String
        /// Of a blood pressure.
        private(set) var parts: [Sample] = []
        private(set) var isUserEntered = false
        /// What its metadata say of it.
        private(set) var flags: [String] = []
        /// The zone that it was made in, by its name in the time zone database.
        private(set) var timeZone: String?
        private let attributes: [String: String]
        private var statistics: [(type: String, sum: String, unit: String)] = []
        private var wasProtected: Bool?
        /// When it began and ended, where no attributes say so.
        private var span: (start: EntryTime, end: EntryTime)?
        /// The date of a day.
        private var date: String?

        init(_ element: String, _ attributes: [String: String]) {
            self.element = element
            // A longer one counts as absent: samples are held until their parents end.
            self.attributes = attributes.filter {
                Self.used.contains($0.key) && $0.value.utf8.count <= Self.longestAttribute
            }
            let attributes = self.attributes
            type =
                element == "ActivitySummary"
                ? element : (attributes["type"] ?? attributes["workoutActivityType"]) ?? ""
        }

        /// Of a day, whose date is of no zone. Nil without a date.
        /// - Parameter utcOffset: how far the phone's zone was ahead of UTC when it exported, in seconds.
        init?(day attributes: [String: String], utcOffset: Int) {
            guard let date = attributes["dateComponents"], let midnight = EntryTime(date + "T00:00Z", in: nil)
            else { return nil }
            self.init("ActivitySummary", attributes)
            self.date = date
            let start = midnight.instant - Int64(utcOffset)
            span = (
                EntryTime(instant: start, utcOffset: utcOffset),
                EntryTime(instant: start + 86_400, utcOffset: utcOffset)
            )
        }

        mutating func add(part: Sample) {
            guard parts.count < Self.mostParts else { return }
            var part = part
            // A part's own parts say nothing, and there could be ever more of them.
            part.parts = []
            part.statistics = []
            parts.append(part)
        }

        mutating func add(metadata: [String: String]) {
            switch metadata["key"] {
            case "HKWasUserEntered": isUserEntered = metadata["value"] == "1"
            case "HKSexualActivityProtectionUsed": wasProtected = metadata["value"] == "1"
            case "HKMenstrualCycleStart" where metadata["value"] == "1" && !flags.contains(Self.cycleStart):
                flags.append(Self.cycleStart)
            case "HKTimeZone": timeZone = metadata["value"].flatMap(HealthKitText.bounded)
            case let key?:
                guard let flag = metadata["value"].flatMap({ Self.metadataFlags[key]?[$0] }),
                    !flags.contains(flag)
                else { return }
                flags.append(flag)
            case nil: break
            }
        }

        /// The first day of a period (HKMetadataKeyMenstrualCycleStart).
        private static let cycleStart = "menstrual-cycle-start"

        /// By key and value (HKBloodGlucoseMealTime, HKHeartRateMotionContext of HealthKit); 0 is not set.
        private static let metadataFlags = [
            "HKBloodGlucoseMealTime": ["1": "meal-preprandial", "2": "meal-postprandial"],
            "HKMetadataKeyHeartRateMotionContext": ["1": "motion-sedentary", "2": "motion-active"],
        ]

        mutating func add(statistics: [String: String]) {
            guard self.statistics.count < Self.mostParts, let type = statistics["type"],
                let sum = statistics["sum"], let unit = statistics["unit"],
                [type, sum, unit].allSatisfy({ $0.utf8.count <= Self.longestValue })
            else { return }
            self.statistics.append((type, sum, unit))
        }

        var start: EntryTime? { span?.start ?? moment("startDate") }
        var end: EntryTime? { span?.end ?? moment("endDate") }
        /// When it came into the phone's store, in seconds since 1970.
        var created: Int64? { moment("creationDate")?.instant }

        /// Nil for one without its offset, too: in which zone it is, nothing tells.
        private func moment(_ name: String) -> EntryTime? {
            attributes[name].flatMap { EntryTime($0, in: nil) }
        }

        /// Its time in its name. A day's midnights are other moments in an export that was made in another zone.
        func timeInName(_ start: EntryTime, _ end: EntryTime) -> String {
            if let date { return "\(date)|\(date)" }
            return "\(start.instant)|\(end.instant)"
        }

        var source: RecordEntry.Source {
            let device = attributes["device"].map(HealthKitText.device)
            return RecordEntry.Source(
                name: attributes["sourceName"].flatMap(HealthKitText.bounded),
                version: attributes["sourceVersion"].flatMap(HealthKitText.bounded),
                manufacturer: device?.manufacturer, model: device?.model, firmware: device?.firmware)
        }

        // MARK: What it says

        func quantity(_ type: HealthKitType) -> Content {
            let text = attributes["value"] ?? ""
            let unit = attributes["unit"] ?? ""
            switch Self.value(text, unit, type.type, type.code) {
            case .success(let value):
                // Nobody has been measured who has it.
                if !value.isPositive, Measurement.positiveTypes.contains(type.type) { return .unreadable }
                return .values([value], flags: [], said: "\(text) \(HealthKitUnit.name(unit))")
            case .failure(let obstacle): return obstacle.content
            }
        }

        /// Its duration, where that is what it is about, and its word as a flag.
        func category(_ type: HealthKitType) -> Content {
            let word = attributes["value"] ?? ""
            guard word.utf8.count <= Self.longestValue, let start, let end else { return .unreadable }
            let value = RecordEntry.Value(
                type: type.type, code: nil,
                number: ExactDecimal(coefficient: end.instant - start.instant, exponent: 0), unit: "s")
            let name = HealthKitText.kebab(Self.word(word))
            switch type.type {
            // Without a word.
            case "mindful-time": return .values([value], flags: [], said: "")
            case "duration": return .values([value], flags: name.isEmpty ? [] : [name], said: name)
            case "sexual-activity":
                let protection = wasProtected.map { $0 ? ["protection-used"] : ["protection-not-used"] }
                return .values([], flags: [type.type] + (protection ?? []), said: "")
            case "intermenstrual-bleeding": return .values([], flags: [type.type], said: "")
            default:
                if name.isEmpty { return .unreadable }
                return .values([], flags: ["\(type.type)-\(name)"], said: name)
            }
        }

        func pressureValues() -> Content {
            var values: [RecordEntry.Value] = []
            var said: [String] = []
            for identifier in [HealthKitType.systolic, HealthKitType.diastolic] {
                guard let type = HealthKitType.quantities[identifier],
                    let part = parts.first(where: { $0.type == identifier })
                else { return .unreadable }
                guard case .values(let value, _, let text) = part.quantity(type) else {
                    return part.quantity(type)
                }
                values += value
                said.append(text)
            }
            return .values(values, flags: [], said: said.joined(separator: ","))
        }

        /// Its duration, and the sums of what was measured meanwhile.
        func workoutValues() -> Content {
            let duration = attributes["duration"] ?? ""
            let unit = attributes["durationUnit"] ?? ""
            switch Self.value(duration, unit, "duration", nil) {
            case .failure(let obstacle): return obstacle.content
            case .success(let value):
                let activity = HealthKitText.kebab(Self.dropping("HKWorkoutActivityType", from: type))
                return .values(
                    [value] + sums(), flags: activity.isEmpty ? [] : ["activity-\(activity)"],
                    said: "\(duration) \(unit)")
            }
        }

        private func sums() -> [RecordEntry.Value] {
            let sums = statistics.compactMap { item in
                (HealthKitType.quantities[item.type]?.type ?? HealthKitType.workoutSums[item.type]).flatMap {
                    Self.number(item.sum, item.unit, $0)
                }
            }
            // Up to iOS 15 there were two sums, as attributes. An export may have both, and they are the same sums.
            let attributed = [
                ("totalEnergyBurned", "active-energy"), ("totalDistance", "distance"),
            ].compactMap { name, type -> RecordEntry.Value? in
                guard let sum = attributes[name], !sums.contains(where: { $0.type.hasPrefix(type) }) else {
                    return nil
                }
                return Self.number(sum, attributes[name + "Unit"] ?? "", type)
            }
            return attributed + sums
        }

        /// Nil for 0, which says that nobody counted.
        private static func number(_ text: String, _ unit: String, _ type: String) -> RecordEntry.Value? {
            guard case .success(let value) = value(text, unit, type, nil) else { return nil }
            return value.isPositive ? value : nil
        }

        /// What the day's sums are; 0 says that nobody counted.
        func sumsOfDay() -> Content {
            var values: [RecordEntry.Value] = []
            var said: [String] = []
            for (name, type, unit) in [
                ("activeEnergyBurned", "day-active-energy", attributes["activeEnergyBurnedUnit"] ?? ""),
                ("appleExerciseTime", "day-exercise-time", "min"),
                ("appleStandHours", "day-stand-hours", "hr"),
            ] {
                guard let sum = attributes[name] else { continue }
                switch Self.value(sum, unit, type, nil) {
                case .failure(let obstacle): return obstacle.content
                case .success(let value) where value.isPositive:
                    values.append(value)
                    said.append("\(sum) \(unit)")
                case .success: break
                }
            }
            return .values(values, flags: [], said: said.joined(separator: ","))
        }

        private enum Obstacle: Error {
            case number
            case unit(String)

            var content: Content {
                switch self {
                case .number: .unreadable
                case .unit(let unit): .unknownUnit(unit)
                }
            }
        }

        private static func value(
            _ text: String, _ unit: String, _ type: String, _ code: UInt32?
        ) -> Result<RecordEntry.Value, Obstacle> {
            guard let (ucum, exponent) = HealthKitUnit.ucum(unit, of: type) else {
                return .failure(.unit(unit))
            }
            guard text.utf8.count <= longestValue,
                let number = HealthKitText.number(text)?.times(1, exponent: exponent)
            else { return .failure(.number) }
            return .success(RecordEntry.Value(type: type, code: code, number: number, unit: ucum))
        }

        /// `HKCategoryValueSleepAnalysisAsleepCore` is `AsleepCore`; what belongs to the type is left out.
        private static func word(_ text: String) -> Substring {
            let value = dropping("HKCategoryValue", from: text)
            let prefixes = [
                "SleepAnalysis", "AppleStandHour", "MenstrualFlow", "VaginalBleeding", "CervicalMucusQuality",
                "OvulationTestResult",
            ]
            guard let prefix = prefixes.first(where: value.hasPrefix) else { return value }
            let word = value.dropFirst(prefix.count)
            // Two were called otherwise in earlier versions of iOS: the same sample has the same name.
            switch (prefix, word) {
            case ("SleepAnalysis", "AsleepUnspecified"): return "Asleep"
            case ("OvulationTestResult", "Positive"): return "LuteinizingHormoneSurge"
            default: return word
            }
        }

        private static func dropping(_ prefix: String, from text: String) -> Substring {
            text.hasPrefix(prefix) ? text.dropFirst(prefix.count) : text[...]
        }
    }
}

extension RecordEntry.Value {
    /// Whether it is more than 0.
    fileprivate var isPositive: Bool {
        !number.hasPrefix("-") && number.contains { ("1"..."9").contains($0) }
    }
}
