import TestSupport
import Testing

@testable import IngestEntries
@testable import IngestQueue
@testable import IngestRecords

@Suite struct HealthExportTests {
    static let all = HealthExport.Selection(sets: Set(HealthKitSet.allCases))

    /// An element with its attributes, and what is in it.
    struct Element {
        let name: String
        var attributes: [String: String]
        var children: [Element] = []
    }

    static func sample(
        _ type: String, _ value: String? = nil, _ unit: String? = nil,
        start: String = "2024-03-01 08:00:00 +0100",
        end: String? = nil, holding children: [Element] = []
    ) -> Element {
        var attributes = ["type": type, "sourceName": "Phone", "startDate": start, "endDate": end ?? start]
        attributes["value"] = value
        attributes["unit"] = unit
        let isCorrelation = type.hasPrefix("HKCorrelation")
        return Element(
            name: isCorrelation ? "Correlation" : "Record", attributes: attributes, children: children)
    }

    static func metadata(_ key: String, _ value: String) -> Element {
        Element(name: "MetadataEntry", attributes: ["key": key, "value": value])
    }

    private func read(
        _ elements: [Element], _ selection: HealthExport.Selection = all
    ) throws -> (entries: [RecordEntry], tally: HealthExport.Tally) {
        let export = HealthExport(selection, equalSamples: TemporarySamples.init)
        elements.tell(export)
        export.beginAgain()
        elements.tell(export)
        return (try export.takeEntries() + export.takeEqualEntries(1_000), export.tally)
    }

    private func words(_ entry: RecordEntry) -> String {
        ([entry.kind.rawValue] + entry.values.map { "\($0.type)=\($0.number) \($0.unit)" } + entry.flags)
            .joined(separator: " ")
    }

    /// HealthKit's type, value and unit, and the record.
    @Test(arguments: [
        ("HKQuantityTypeIdentifierStepCount", "812", "count", "activity steps=812 1"),
        (
            "HKQuantityTypeIdentifierDistanceWalkingRunning", "0.61234", "km",
            "activity distance-walking-running=0.61234 km"
        ),
        (
            "HKQuantityTypeIdentifierActiveEnergyBurned", "1.2e-05", "kcal",
            "activity active-energy=0.000012 kcal"
        ),
        ("HKQuantityTypeIdentifierStepCount", "1.2E3", "count", "activity steps=1200 1"),
        ("HKQuantityTypeIdentifierBloodGlucose", "97", "mg/dL", "glucose glucose=97 mg/dL"),
        ("HKQuantityTypeIdentifierBodyMassIndex", "24.2", "count", "weight bmi=24.2 kg/m2"),
        ("HKQuantityTypeIdentifierHeartRate", "1.05", "count/s", "heart-rate heart-rate=1.05 /s"),
        ("HKQuantityTypeIdentifierBodyMass", "11.4", "st", "weight weight=11.4 [stone_av]"),
        ("HKQuantityTypeIdentifierHeight", "5.91", "ft", "weight height=5.91 [ft_i]"),
        (
            "HKQuantityTypeIdentifierBloodGlucose", "5.40", "mmol<180.15588000005408>/L",
            "glucose glucose=5.40 mmol/L"
        ),
        ("HKQuantityTypeIdentifierBodyMass", "160.5", "lb", "weight weight=160.5 [lb_av]"),
        ("HKQuantityTypeIdentifierHeight", "178", "cm", "weight height=178 cm"),
        // Percentages are fractions.
        ("HKQuantityTypeIdentifierBodyFatPercentage", "0.215", "%", "body-composition body-fat=21.5 %"),
        ("HKQuantityTypeIdentifierOxygenSaturation", "0.97", "%", "pulse-oximetry spo2=97 %"),
        ("HKQuantityTypeIdentifierOxygenSaturation", "1", "%", "pulse-oximetry spo2=100 %"),
        ("HKQuantityTypeIdentifierHeartRate", "62", "count/min", "heart-rate heart-rate=62 /min"),
        (
            "HKQuantityTypeIdentifierBodyTemperature", "98.6", "degF",
            "body-temperature body-temperature=98.6 [degF]"
        ),
        ("HKQuantityTypeIdentifierDietaryProtein", "12.5", "g", "nutrition protein=12.5 g"),
        ("HKQuantityTypeIdentifierDietaryIron", "3", "mcg", "nutrition iron=3 ug"),
        (
            "HKCategoryTypeIdentifierMenstrualFlow", "HKCategoryValueMenstrualFlowLight", "",
            "reproductive-health menstrual-flow-light"
        ),
        // As iOS 18 says the same.
        (
            "HKCategoryTypeIdentifierMenstrualFlow", "HKCategoryValueVaginalBleedingLight", "",
            "reproductive-health menstrual-flow-light"
        ),
        (
            "HKCategoryTypeIdentifierOvulationTestResult",
            "HKCategoryValueOvulationTestResultLuteinizingHormoneSurge",
            "", "reproductive-health ovulation-test-result-luteinizing-hormone-surge"
        ),
        // As it was called up to iOS 13.
        (
            "HKCategoryTypeIdentifierOvulationTestResult", "HKCategoryValueOvulationTestResultPositive", "",
            "reproductive-health ovulation-test-result-luteinizing-hormone-surge"
        ),
        (
            "HKCategoryTypeIdentifierIntermenstrualBleeding", "HKCategoryValueNotApplicable", "",
            "reproductive-health intermenstrual-bleeding"
        ),
        (
            "HKCategoryTypeIdentifierAppleStandHour", "HKCategoryValueAppleStandHourStood", "",
            "activity stand-hour-stood"
        ),
    ])
    func aSampleIsARecord(type: String, value: String, unit: String, expected: String) throws {
        let (entries, tally) = try read([Self.sample(type, value, unit)])
        #expect(entries.map(words) == [expected])
        #expect(tally.taken.values.reduce(0, +) == 1)
    }

    @Test(arguments: [
        ("AsleepCore", "asleep-core"), ("AsleepREM", "asleep-rem"), ("InBed", "in-bed"), ("Awake", "awake"),
        ("TaiChi", "tai-chi"), ("PRWheelchair", "pr-wheelchair"), ("A", "a"), ("HIIT", "hiit"),
    ])
    func aWordIsTakenApartAtItsCapitals(_ word: String, _ expected: String) {
        #expect(HealthKitText.kebab(word) == expected)
    }

    /// What stands in the unit is no part of the name, so that it neither differs nor holds what the name is made of.
    @Test func theMolarMassIsNoPartOfTheName() throws {
        func entries(_ unit: String, _ value: String = "5.4") throws -> [RecordEntry] {
            try read([Self.sample("HKQuantityTypeIdentifierBloodGlucose", value, unit)]).0
        }
        let first = try #require(try entries("mmol<180.15588000005408>/L").first)
        #expect(first.name.hasSuffix("|5.4 mmol/L|1"))
        #expect(try entries("mmol<180.1558800000541>/L").first?.name == first.name)
        for unit in ["mmol<p>/L|1|x>/L", "mmol<1|2>/L", "mmol<180,1>/L"] {
            #expect(try entries(unit) == [], "\(unit)")
        }
    }

    @Test func aSpanHasItsEndAndTheZoneOfTheExport() throws {
        let (entries, _) = try read([
            Self.sample(
                "HKCategoryTypeIdentifierSleepAnalysis", "HKCategoryValueSleepAnalysisAsleepCore",
                start: "2024-03-01 01:00:00 +0100", end: "2024-03-01 01:30:30 +0100")
        ])
        let entry = try #require(entries.first)
        #expect(words(entry) == "sleep duration=1830 s asleep-core")
        #expect(entry.start == 1_709_251_200)
        #expect(entry.end == 1_709_253_030)
        #expect(entry.utcOffset == 3600)
        #expect(entry.stage == .historical)
    }

    @Test func aBloodPressureIsOneRecord() throws {
        let parts = [
            Self.sample("HKQuantityTypeIdentifierBloodPressureSystolic", "120", "mmHg"),
            Self.sample("HKQuantityTypeIdentifierBloodPressureDiastolic", "80", "mmHg"),
        ]
        let loose = Self.sample("HKQuantityTypeIdentifierBloodPressureSystolic", "121", "mmHg")
        let correlation = Self.sample("HKCorrelationTypeIdentifierBloodPressure", holding: parts.reversed())
        let (entries, tally) = try read(parts + [loose, correlation])
        #expect(entries.map(words) == ["blood-pressure systolic=120 mm[Hg] diastolic=80 mm[Hg]"])
        #expect(tally.loosePressures == 1)
    }

    @Test func aMealsPartsAreRecordsOnce() throws {
        let part = Self.sample("HKQuantityTypeIdentifierDietaryProtein", "12", "g")
        let (entries, _) = try read([part, Self.sample("HKCorrelationTypeIdentifierFood", holding: [part])])
        #expect(entries.map(words) == ["nutrition protein=12 g"])
    }

    private static func day(_ date: String, _ sums: [String: String]) -> Element {
        Element(
            name: "ActivitySummary",
            attributes: sums.merging(["dateComponents": date, "activeEnergyBurnedUnit": "kcal"]) { $1 })
    }

    /// At eleven in the evening, in a zone that is an hour ahead.
    private static let made = Element(
        name: "ExportDate", attributes: ["value": "2024-03-02 23:00:00 +0100"])
    private static let sums = [
        "activeEnergyBurned": "312.5", "activeEnergyBurnedGoal": "400", "appleExerciseTime": "12",
        "appleStandHours": "9",
    ]

    @Test func theSumsOfADayAreARecord() throws {
        let (entries, tally) = try read([Self.made, Self.day("2024-03-01", Self.sums)])
        let entry = try #require(entries.first)
        #expect(entries.count == 1 && tally.taken == [.activity: 1])
        #expect(
            words(entry)
                == "activity day-active-energy=312.5 kcal day-exercise-time=12 min day-stand-hours=9 h")
        #expect(entry.start == 1_709_247_600 && entry.end == 1_709_334_000 && entry.utcOffset == 3_600)
        #expect(
            entry.name
                == "HEALTHKIT|ActivitySummary|2024-03-01|2024-03-01|312.5 kcal,12 min,9 hr|1")
        // In an export that was made in summer, too.
        let later = Element(name: "ExportDate", attributes: ["value": "2024-07-02 23:00:00 +0200"])
        #expect(try read([later, Self.day("2024-03-01", Self.sums)]).entries.first?.name == entry.name)
    }

    /// A day that is not over, one of which nothing was counted, and one whose zone nobody knows.
    @Test func aDayWithoutItsSumsIsNoRecord() throws {
        let none = ["activeEnergyBurned": "0", "appleExerciseTime": "0", "appleStandHours": "0"]
        let (entries, tally) = try read([
            Self.day("2024-02-28", Self.sums), Self.made, Self.day("2024-03-02", Self.sums),
            Self.day("2024-03-01", none), Self.day("yesterday", Self.sums), Self.day("2024-02-27", [:]),
        ])
        #expect(entries.isEmpty && tally == HealthExport.Tally())
    }

    @Test func theFirstDayOfAPeriodIsMarked() throws {
        for (mark, flags) in [("1", " menstrual-cycle-start"), ("0", "")] {
            let flow = Self.sample(
                "HKCategoryTypeIdentifierMenstrualFlow", "HKCategoryValueMenstrualFlowLight",
                holding: [Self.metadata("HKMenstrualCycleStart", mark)])
            #expect(
                try read([flow]).entries.map(words) == ["reproductive-health menstrual-flow-light" + flags])
        }
    }

    @Test func aWorkoutHasItsSums() throws {
        func workout(_ more: [String: String], _ children: [Element]) -> Element {
            Element(
                name: "Workout",
                attributes: [
                    "workoutActivityType": "HKWorkoutActivityTypeTraditionalStrengthTraining",
                    "duration": "30.5", "durationUnit": "min", "sourceName": "Watch",
                    "startDate": "2024-03-01 08:00:00 +0100", "endDate": "2024-03-01 08:30:30 +0100",
                ].merging(more) { $1 }, children: children)
        }
        let sum = Element(
            name: "WorkoutStatistics",
            attributes: [
                "type": "HKQuantityTypeIdentifierActiveEnergyBurned", "sum": "211.5", "unit": "kcal",
            ])
        let old = [
            "totalEnergyBurned": "211.5", "totalEnergyBurnedUnit": "Cal", "totalDistance": "0",
            "totalDistanceUnit": "km",
        ]
        for element in [workout([:], [sum]), workout(old, [])] {
            #expect(
                try read([element]).entries.map(words) == [
                    "workout duration=30.5 min active-energy=211.5 kcal activity-traditional-strength-training"
                ])
        }
    }

    @Test func aWorkoutWithBothFormsOfItsSumsHasThemOnce() throws {
        func sum(_ type: String, _ sum: String, _ unit: String) -> Element {
            Element(
                name: "WorkoutStatistics",
                attributes: ["type": "HKQuantityTypeIdentifier" + type, "sum": sum, "unit": unit])
        }
        let workout = Element(
            name: "Workout",
            attributes: [
                "workoutActivityType": "HKWorkoutActivityTypeRunning", "duration": "30",
                "durationUnit": "min",
                "sourceName": "Watch", "startDate": "2024-03-01 08:00:00 +0100",
                "endDate": "2024-03-01 08:30:00 +0100", "totalEnergyBurned": "211.5",
                "totalEnergyBurnedUnit": "Cal",
                "totalDistance": "5.1", "totalDistanceUnit": "km",
            ],
            children: [
                sum("ActiveEnergyBurned", "211.5", "Cal"), sum("BasalEnergyBurned", "40", "Cal"),
                sum("DistanceWalkingRunning", "5.1", "km"),
            ])
        #expect(
            try read([workout]).entries.map(words) == [
                """
                workout duration=30 min active-energy=211.5 kcal basal-energy=40 kcal distance-walking-running=5.1 km \
                activity-running
                """
            ])
    }

    /// HealthKit's type, key and value, and the flag.
    @Test(arguments: [
        ("BloodGlucose", "HKBloodGlucoseMealTime", "1", ["meal-preprandial"]),
        ("BloodGlucose", "HKBloodGlucoseMealTime", "2", ["meal-postprandial"]),
        ("BloodGlucose", "HKBloodGlucoseMealTime", "3", []),
        ("HeartRate", "HKMetadataKeyHeartRateMotionContext", "0", []),
        ("HeartRate", "HKMetadataKeyHeartRateMotionContext", "1", ["motion-sedentary"]),
        ("HeartRate", "HKMetadataKeyHeartRateMotionContext", "2", ["motion-active"]),
        ("HeartRate", "HKExternalUUID", "1", []),
    ])
    func whatMetadataSayIsAFlag(type: String, key: String, value: String, flags: [String]) throws {
        let unit = type == "HeartRate" ? "count/min" : "mg/dL"
        var sample = Self.sample("HKQuantityTypeIdentifier" + type, "62", unit)
        sample.children = [Self.metadata(key, value), Self.metadata(key, value)]
        #expect(try read([sample]).entries.map(\.flags) == [flags])
    }

    /// The phone is in Paris now.
    @Test(arguments: [
        ("America/New_York", -18_000), ("Asia/Kathmandu", 20_700), ("UTC", 0), ("Mars/Olympus", 3_600),
        ("../../etc/passwd", 3_600),
    ])
    func aSampleIsOfTheZoneThatItWasMadeIn(zone: String, offset: Int) throws {
        var sample = Self.sample("HKQuantityTypeIdentifierHeartRate", "62", "count/min")
        let name = try read([sample]).entries[0].name
        sample.children = [Self.metadata("HKTimeZone", zone)]
        let entry = try #require(try read([sample]).entries.first)
        #expect(entry.utcOffset == offset)
        #expect(entry.name == name)
    }

    /// A night in which the clocks were changed: by the zone's rules, or by what the export says of each moment.
    @Test(
        arguments: [
            ("Europe/Berlin", "2026-03-29 01:30:00 +0100", "2026-03-29 03:30:00 +0200", 3_600, 7_200),
            (nil, "2026-03-29 01:30:00 +0100", "2026-03-29 03:30:00 +0200", 3_600, 7_200),
            ("Europe/Berlin", "2026-10-25 01:00:00 +0000", "2026-10-25 02:00:00 +0000", 3_600, nil),
            ("Europe/Berlin", "2026-10-25 00:30:00 +0000", "2026-10-25 01:30:00 +0000", 7_200, 3_600),
            ("Asia/Tokyo", "2026-03-29 01:30:00 +0100", "2026-03-29 03:30:00 +0200", 32_400, nil),
        ] as [(String?, String, String, Int, Int?)])
    func theEndOfASpanIsInTheZoneOfThen(
        zone: String?, start: String, end: String, offset: Int, endOffset: Int?
    ) throws {
        var sample = Self.sample("HKQuantityTypeIdentifierStepCount", "62", "count")
        sample.attributes["startDate"] = start
        sample.attributes["endDate"] = end
        sample.children = zone.map { [Self.metadata("HKTimeZone", $0)] } ?? []
        let entry = try #require(try read([sample]).entries.first)
        #expect(entry.utcOffset == offset)
        #expect(entry.endUTCOffset == endOffset)
        let content = try #require(
            EnteredRecord(entry, gateway: "box", received: entry.start).flatMap {
                RecordContent(json: $0.body)
            })
        #expect(content.end == entry.end)
        #expect(content.endUTCOffsetSeconds == endOffset ?? offset)
    }

    @Test func whereItIsFromIsKept() throws {
        var sample = Self.sample("HKQuantityTypeIdentifierHeartRate", "62", "count/min")
        sample.attributes["sourceVersion"] = "10.1"
        sample.attributes["device"] = """
            <<HKDevice: 0x281c4d7d0>, name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,1, \
            software:10.1>
            """
        sample.children = [Self.metadata("HKWasUserEntered", "1")]
        let entry = try #require(try read([sample]).entries.first)
        #expect(
            entry.source
                == RecordEntry.Source(
                    name: "Phone", version: "10.1", manufacturer: "Apple Inc.", model: "Watch6,1",
                    firmware: "10.1"))
        #expect(entry.flags == ["user-entered"])
    }

    /// The phone's zone, the owner's names for things, and pointers are other ones in the next export.
    @Test func theSameSampleHasTheSameNameInTheNextExport() throws {
        var first = Self.sample("HKQuantityTypeIdentifierHeartRate", "62", "count/min")
        first.attributes["device"] = "<<HKDevice: 0x281c4d7d0>, name:Apple Watch>"
        var second = first
        second.attributes["startDate"] = "2024-03-01 02:00:00 -0500"
        second.attributes["endDate"] = "2024-03-01 02:00:00 -0500"
        second.attributes["device"] = "<<HKDevice: 0x99>, name:Apple Watch>"
        second.attributes["sourceName"] = "Old phone"
        #expect(try read([first]).entries[0].name == read([second]).entries[0].name)
        #expect(
            try read([first]).entries[0].name
                == "HEALTHKIT|HKQuantityTypeIdentifierHeartRate|1709276400|1709276400|62 count/min|1")
        // docs/import.md shows this one.
        var entry = try read([first]).entries[0]
        entry.subject = "patient-17"
        #expect(entry.id(gateway: "box").text == "00e462f2-2b45-5bb1-bc1c-45ce60b76e4b")
        let sleep = try ["Asleep", "AsleepUnspecified"].map {
            try read([
                Self.sample("HKCategoryTypeIdentifierSleepAnalysis", "HKCategoryValueSleepAnalysis\($0)")
            ])
            .entries[0].name
        }
        #expect(sleep[0] == sleep[1])
    }

    @Test func equalSamplesAreDifferentRecords() throws {
        let egg = Self.sample("HKQuantityTypeIdentifierDietaryProtein", "6", "g")
        let other = Self.sample("HKQuantityTypeIdentifierDietaryProtein", "7", "g")
        let names = try read([egg, other, egg]).entries.map { $0.name.split(separator: "|").suffix(2) }
        #expect(names == [["7 g", "1"], ["6 g", "1"], ["6 g", "2"]])
    }

    /// As Apple's export writes them.
    @Test(arguments: [
        ("DistanceWheelchair", "1.25", "km", "activity distance-wheelchair=1.25 km"),
        ("PushCount", "320", "count", "activity wheelchair-pushes=320 1"),
        ("VO2Max", "41.33", "mL/min·kg", "activity vo2-max=41.33 mL/(kg.min)"),
        ("RestingHeartRate", "58", "count/min", "activity resting-heart-rate=58 /min"),
        ("HeartRateVariabilitySDNN", "43.2104", "ms", "activity heart-rate-variability-sdnn=43.2104 ms"),
        ("RespiratoryRate", "14.5", "count/min", "health-observation respiratory-rate=14.5 /min"),
    ])
    func whatAWatchWorksOutIsTaken(type: String, value: String, unit: String, expected: String) throws {
        let entries = try read([Self.sample("HKQuantityTypeIdentifier" + type, value, unit)]).entries
        #expect(entries.map(words) == [expected])
    }

    @Test func onlyWhatIsWantedIsTaken() throws {
        let elements = [
            Self.sample("HKQuantityTypeIdentifierBodyMass", "72", "kg"),
            Self.sample("HKQuantityTypeIdentifierBodyMass", "73", "kg", start: "2023-12-31 23:59:59 +0000"),
            Self.sample("HKQuantityTypeIdentifierHeartRate", "62", "count/min"),
            Self.sample("HKQuantityTypeIdentifierEnvironmentalAudioExposure", "40", "dBASPL"),
            Self.sample("HKQuantityTypeIdentifierEnvironmentalAudioExposure", "41", "dBASPL"),
            Self.sample("HKQuantityTypeIdentifierBodyMass", "9", "slug"),
        ]
        let (entries, tally) = try read(
            elements, HealthExport.Selection(sets: [.weight], since: 1_704_067_200, subject: "anna"))
        #expect(entries.map(words) == ["weight weight=72 kg"])
        #expect(entries.first?.subject == "anna")
        #expect(tally.earlier == 1)
        #expect(tally.unwanted == 1)
        #expect(tally.unknown == ["HKQuantityTypeIdentifierEnvironmentalAudioExposure": 2])
        #expect(tally.unknownUnits == ["slug": 1])
    }

    @Test(arguments: [
        ("", "count/min"), ("sixty", "count/min"), ("6.2e99", "count/min"),
        ("99999999999999999999", "count/min"),
        ("1e", "count/min"), (String(repeating: "1", count: 200), "count/min"),
    ])
    func aValueThatIsNoneIsCounted(value: String, unit: String) throws {
        let (entries, tally) = try read([Self.sample("HKQuantityTypeIdentifierHeartRate", value, unit)])
        #expect(entries.isEmpty)
        #expect(tally.unreadable == 1)
    }

    /// What no living body has is counted with what cannot be read.
    @Test(arguments: [
        ("HeartRate", "0", "count/min"), ("HeartRate", "-5", "count/min"), ("BodyMass", "0", "kg"),
        ("BloodGlucose", "-1", "mg/dL"), ("BodyFatPercentage", "0", "%"), ("OxygenSaturation", "0.0", "%"),
    ])
    func aNumberThatNobodyHasIsCounted(type: String, value: String, unit: String) throws {
        let (entries, tally) = try read([Self.sample("HKQuantityTypeIdentifier" + type, value, unit)])
        #expect(entries.isEmpty)
        #expect(tally.unreadable == 1)
    }

    /// Sums of sports that are no samples by themselves.
    @Test(arguments: [
        ("DistanceSwimming", "1500", "m", "distance-swimming=1500 m"),
        ("SwimmingStrokeCount", "812", "count", "swimming-strokes=812 1"),
        ("DistanceRowing", "4.2", "km", "distance-rowing=4.2 km"),
        ("DistancePaddleSports", "3", "km", "distance-paddle-sports=3 km"),
        ("DistanceSkatingSports", "3", "km", "distance-skating-sports=3 km"),
        ("DistanceCrossCountrySkiing", "9", "km", "distance-cross-country-skiing=9 km"),
        ("DistanceDownhillSnowSports", "9", "km", "distance-downhill-snow-sports=9 km"),
    ])
    func aWorkoutHasWhatItAddedUpTo(type: String, sum: String, unit: String, expected: String) throws {
        let statistics = Element(
            name: "WorkoutStatistics",
            attributes: ["type": "HKQuantityTypeIdentifier" + type, "sum": sum, "unit": unit])
        let workout = Element(
            name: "Workout",
            attributes: [
                "workoutActivityType": "HKWorkoutActivityTypeSwimming", "duration": "30",
                "durationUnit": "min", "sourceName": "Watch", "startDate": "2024-03-01 08:00:00 +0100",
                "endDate": "2024-03-01 08:30:00 +0100",
            ], children: [statistics])
        #expect(
            try read([workout]).entries.map(words) == [
                "workout duration=30 min \(expected) activity-swimming"
            ])
    }

    /// It would go out as 71 kg of heart rate, under the code of a heart rate.
    @Test(arguments: [
        ("HeartRate", "kg"), ("BodyMass", "mmHg"), ("BloodGlucose", "g"), ("OxygenSaturation", "count"),
        ("BodyTemperature", "%"), ("Height", "kg"),
    ])
    func aUnitOfSomethingElseIsCounted(type: String, unit: String) throws {
        let (entries, tally) = try read([Self.sample("HKQuantityTypeIdentifier" + type, "71", unit)])
        #expect(entries.isEmpty && tally.unknownUnits == [unit: 1])
    }

    @Test func aDateThatIsNoneIsCounted() throws {
        let type = "HKQuantityTypeIdentifierHeartRate"
        let (entries, tally) = try read([
            Self.sample(type, "62", "count/min", start: "2024-02-30 08:00:00 +0100"),
            Self.sample(type, "62", "count/min", end: "2024-02-28 08:00:00 +0100"),
            Self.sample(type, "62", "count/min", start: ""),
            // In which zone?
            Self.sample(type, "62", "count/min", start: "2024-02-28 08:00:00"),
        ])
        #expect(entries.isEmpty)
        #expect(tally.unreadable == 4)
    }

    /// One of them must not stand in the way of all that is committed with it.
    @Test(arguments: [
        sample("HKQuantityTypeIdentifierStepCount", "1.84467e+19", "count"),
        sample("HKQuantityTypeIdentifierStepCount", "1", "count", start: "9999-12-31 23:30:00 -0100"),
        sample("HKQuantityTypeIdentifierStepCount", "1", "count", end: "9999-12-31 23:30:00 -0100"),
    ])
    func whatNoRecordHoldsIsCountedAndLeftOut(odd: Element) throws {
        let good = Self.sample("HKQuantityTypeIdentifierHeartRate", "62", "count/min")
        let (entries, tally) = try read([good, odd, good])
        #expect(entries.count == 2 && tally.unreadable == 1)
        #expect(tally.taken == [.heartRate: 2])
        for entry in entries {
            #expect(EnteredRecord(entry, gateway: "box", received: 1_795_166_104) != nil)
        }
    }

    /// However many names an export makes up.
    @Test func unknownNamesAreBounded() throws {
        let elements = (0..<1000).map { Self.sample("Type\($0)", "1", "count") }
        let tally = try read(elements).tally
        #expect(tally.unknown.count == HealthExport.mostUnknown)
        #expect(tally.otherUnknown == 1000 - HealthExport.mostUnknown)
    }

    /// Everything that comes of an export is a record that the queue takes.
    @Test func longTextsAreCut() throws {
        var sample = Self.sample("HKQuantityTypeIdentifierHeartRate", "62", "count/min")
        sample.attributes["sourceName"] = String(repeating: "ü", count: 100_000)
        sample.attributes["device"] =
            "<<HKDevice: 0x0>, manufacturer:" + String(repeating: "👩‍👩‍👧", count: 10_000)
        let entry = try #require(try read([sample]).entries.first)
        #expect(EnteredRecord(entry, gateway: "box", received: 1_795_166_104) != nil)
    }
}

extension [HealthExportTests.Element] {
    /// Tells an export of a document that holds these.
    func tell(_ export: HealthExport) {
        func tell(_ element: HealthExportTests.Element) {
            export.begin(element.name, element.attributes)
            for child in element.children { tell(child) }
            export.end(element.name)
        }
        tell(.init(name: "HealthData", attributes: ["locale": "de_DE"], children: self))
    }
}

@Suite struct HealthExportPrologTests {
    private func pass(_ document: String, piece: Int) throws -> (String, Int) {
        var prolog = HealthExportProlog()
        var passed: [UInt8] = []
        var rest = Array(document.utf8)[...]
        repeat {
            passed += try prolog.pass(rest.prefix(piece), isLast: rest.isEmpty)
            if rest.isEmpty { break }
            rest = rest.dropFirst(piece)
        } while true
        return (String(decoding: passed, as: UTF8.self), prolog.lines)
    }

    /// The document type of iOS 16 is no XML: declarations are not closed.
    @Test(arguments: [1, 5, 1000])
    func whatIsBeforeTheFirstElementIsLeftOut(piece: Int) throws {
        let document = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE HealthData [
            <!ELEMENT HealthData (ExportDate,Me,Record*)>
            <!ATTLIST VisionPrescription
              type CDATA #REQUIRED
            <!ELEMENT RightEye EMPTY>
            ]>
            <HealthData locale="de_DE"><Record/></HealthData>
            """
        let (passed, lines) = try pass(document, piece: piece)
        #expect(passed == "<HealthData locale=\"de_DE\"><Record/></HealthData>")
        #expect(lines == 7)
    }

    @Test func entitiesAreRefused() {
        #expect(throws: HealthExportProlog.Failure.entities) {
            try pass("<!DOCTYPE HealthData [<!ENTITY a \"ha\">]><HealthData>&a;</HealthData>", piece: 10)
        }
    }

    @Test func whatHasNoSuchElementIsNoExport() {
        #expect(throws: HealthExportProlog.Failure.noExport) { try pass("<ClinicalDocument/>", piece: 10) }
        #expect(throws: HealthExportProlog.Failure.noExport) { try pass("", piece: 10) }
        #expect(throws: HealthExportProlog.Failure.noExport) {
            try pass(String(repeating: "x", count: 300_000) + "<HealthData/>", piece: 100_000)
        }
    }
}
