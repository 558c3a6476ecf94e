import FoundationEssentials
import TestSupport
import Testing

@testable import IngestEntries
@testable import IngestQueue
@testable import IngestRecords

/// JSON of the app Health Auto Export, in the forms of its public documents (docs/import.md).
@Suite struct AutoExportTests {
    /// - Parameter size: how many bytes are read at a time.
    static func read(
        _ document: String, _ selection: HealthExport.Selection = HealthExportTests.all, by size: Int = 64
    ) throws -> (entries: [RecordEntry], tally: HealthExport.Tally) {
        let export = HealthExport(selection, equalSamples: TemporarySamples.init)
        let reader = AutoExportReader(export)
        let bytes = Array(document.utf8)
        for pass in 1...3 {
            let stream = JSONStream(reader)
            for start in stride(from: 0, to: bytes.count, by: size) {
                try stream.feed(bytes[start..<min(start + size, bytes.count)])
            }
            try stream.feed([], isLast: true)
            if pass == 2 { export.beginAgain() }
            if pass < 3 { reader.beginAgain() }
        }
        return (try export.takeEntries() + export.takeEqualEntries(1_000), export.tally)
    }

    static func metrics(_ metrics: String...) -> String {
        #"{"data":{"metrics":[\#(metrics.joined(separator: ","))],"workouts":[]}}"#
    }

    static func metric(_ name: String, _ units: String, _ samples: String...) -> String {
        #"{"name":"\#(name)","units":"\#(units)","data":[\#(samples.map { "{\($0)}" }.joined(separator: ","))]}"#
    }

    /// Of a moment with seconds, as those of samples are.
    static let date = #""date":"2024-02-06 14:30:07 -0800""#

    private func words(_ entry: RecordEntry) -> String {
        ([entry.kind.rawValue] + entry.values.map { "\($0.type)=\($0.number) \($0.unit)" } + entry.flags)
            .joined(separator: " ")
    }

    /// The app's metric, its unit and number, and the record.
    @Test(arguments: [
        ("step_count", "count", "812", "activity steps=812 1"),
        ("step_count", "steps", "812", "activity steps=812 1"),
        ("walking_running_distance", "km", "0.61234", "activity distance-walking-running=0.61234 km"),
        ("wheelchair_distance", "mi", "0.5", "activity distance-wheelchair=0.5 [mi_i]"),
        ("wheelchair_push_count", "count", "31", "activity wheelchair-pushes=31 1"),
        ("flights_climbed", "count", "3", "activity flights-climbed=3 1"),
        ("active_energy", "kJ", "1.2e-05", "activity active-energy=0.000012 kJ"),
        ("basal_energy_burned", "kcal", "71.5", "activity basal-energy=71.5 kcal"),
        ("apple_exercise_time", "min", "1", "activity exercise-time=1 min"),
        ("cycling_distance", "km", "2.50", "activity distance-cycling=2.50 km"),
        ("blood_glucose", "mg/dL", "97", "glucose glucose=97 mg/dL"),
        ("blood_glucose", "mmol/L", "5.40", "glucose glucose=5.40 mmol/L"),
        ("blood_glucose", #"mmol\/L"#, "5.40", "glucose glucose=5.40 mmol/L"),
        ("weight_body_mass", "lb", "160.5", "weight weight=160.5 [lb_av]"),
        ("weight_body_mass", "kg", "80.300000000000004", "weight weight=80.300000000000004 kg"),
        ("height", "cm", "178", "weight height=178 cm"),
        ("body_mass_index", "count", "24.2", "weight bmi=24.2 kg/m2"),
        ("body_fat_percentage", "%", "21.5", "body-composition body-fat=21.5 %"),
        ("lean_body_mass", "kg", "60", "body-composition fat-free-mass=60 kg"),
        ("vo2_max", #"ml\/(kg·min)"#, "45.2", "activity vo2-max=45.2 mL/(kg.min)"),
        ("vo2_max", "mL/min·kg", "45.2", "activity vo2-max=45.2 mL/(kg.min)"),
        ("resting_heart_rate", "bpm", "58", "activity resting-heart-rate=58 /min"),
        ("heart_rate_variability", "ms", "44.2", "activity heart-rate-variability-sdnn=44.2 ms"),
        ("respiratory_rate", "count/min", "15.5", "health-observation respiratory-rate=15.5 /min"),
        ("heart_rate", "count/min", "72", "heart-rate heart-rate=72 /min"),
        ("body_temperature", "degF", "98.6", "body-temperature body-temperature=98.6 [degF]"),
        ("blood_oxygen_saturation", "%", "97", "pulse-oximetry spo2=97 %"),
        ("blood_oxygen_saturation", "%", "100", "pulse-oximetry spo2=100 %"),
        ("basal_body_temperature", "degC", "36.5", "reproductive-health basal-body-temperature=36.5 Cel"),
        ("dietary_energy", "kcal", "480", "nutrition energy=480 kcal"),
        ("protein", "g", "12.5", "nutrition protein=12.5 g"),
        ("carbohydrates", "g", "42.5", "nutrition carbohydrate=42.5 g"),
        ("total_fat", "g", "9", "nutrition fat=9 g"),
        ("saturated_fat", "g", "3", "nutrition saturated-fat=3 g"),
        ("dietary_sugar", "g", "7", "nutrition sugar=7 g"),
        ("fiber", "g", "5", "nutrition fiber=5 g"),
        ("cholesterol", "mg", "30", "nutrition cholesterol=30 mg"),
        ("sodium", "mg", "400", "nutrition sodium=400 mg"),
        ("potassium", "mg", "300", "nutrition potassium=300 mg"),
        ("calcium", "mg", "120", "nutrition calcium=120 mg"),
        ("iron", "mcg", "3", "nutrition iron=3 ug"),
        ("dietary_water", "mL", "250", "nutrition water=250 mL"),
    ])
    func aSampleIsARecord(name: String, unit: String, number: String, expected: String) throws {
        let document = Self.metrics(
            Self.metric(name, unit, "\(Self.date),\"qty\":\(number),\"source\":\"Watch\""))
        let (entries, tally) = try Self.read(document)
        #expect(entries.map(words) == [expected])
        #expect(tally.taken.values.reduce(0, +) == 1)
        let entry = try #require(entries.first)
        #expect(entry.start == 1_707_258_607)
        #expect(entry.end == nil)
        #expect(entry.utcOffset == -28_800)
        #expect(entry.stage == .historical)
        #expect(entry.source.name == "Watch")
    }

    /// The members of an object are in any order: the app's own are not always in that of its documents.
    @Test func aMetricsNameMayStandBehindItsSamples() throws {
        let samples =
            #"{"qty":72.5,\#(Self.date)},{"source":"Scale","date":"2024-02-07 07:00:09 -0800","qty":72.4}"#
        let document = """
            {"data":{"workouts":[],"metrics":[{"data":[\(samples)],"units":"kg","name":"weight_body_mass"},
            {"data":[{\(Self.date),"qty":1}],"name":"handwashing","units":"count"}]}}
            """
        for size in [1, 1000] {
            let (entries, tally) = try Self.read(document, by: size)
            #expect(entries.map(words) == ["weight weight=72.5 kg", "weight weight=72.4 kg"])
            #expect(tally.unknown == ["handwashing": 1])
        }
    }

    @Test func aBloodPressureIsOneRecord() throws {
        let document = Self.metrics(
            Self.metric(
                "blood_pressure", "mmHg", #"\#(Self.date),"systolic":120,"diastolic":80,"source":"Cuff""#))
        let (entries, tally) = try Self.read(document)
        #expect(entries.map(words) == ["blood-pressure systolic=120 mm[Hg] diastolic=80 mm[Hg]"])
        #expect(max(0, tally.loosePressures) == 0)
    }

    @Test(arguments: [
        ("Before Meal", ["meal-preprandial"]), ("After Meal", ["meal-postprandial"]), ("Unspecified", []),
    ])
    func aGlucoseSaysWhenItWasMeasured(meal: String, flags: [String]) throws {
        let document = Self.metrics(
            Self.metric("blood_glucose", "mg/dL", #"\#(Self.date),"qty":97,"mealTime":"\#(meal)""#))
        #expect(try Self.read(document).entries.map(\.flags) == [flags])
    }

    @Test(arguments: [
        ("Core", "asleep-core"), ("Deep", "asleep-deep"), ("REM", "asleep-rem"), ("Asleep", "asleep"),
        ("Unspecified", "asleep"), ("In Bed", "in-bed"), ("Awake", "awake"),
    ])
    func aStageOfASleepIsARecord(value: String, flag: String) throws {
        let stage = """
            "startDate":"2024-02-05 23:00:00 -0800","endDate":"2024-02-05 23:30:30 -0800","qty":0.508,
            "value":"\(value)","source":"Watch"
            """
        let (entries, _) = try Self.read(Self.metrics(Self.metric("sleep_analysis", "hr", stage)))
        #expect(entries.map(words) == ["sleep duration=1830 s \(flag)"])
        #expect(entries.first?.end == 1_707_204_630)
    }

    @Test func whatTheAppAddsUpOfANightIsNoSample() throws {
        let night = """
            "date":"2024-02-06 00:00:00 -0800","totalSleep":7.5,"asleep":0,"core":3.5,"deep":1.5,"rem":2.0,
            "sleepStart":"2024-02-05 23:00:10 -0800","sleepEnd":"2024-02-06 06:30:00 -0800","source":"Watch"
            """
        let (entries, tally) = try Self.read(Self.metrics(Self.metric("sleep_analysis", "hr", night)))
        #expect(entries == [])
        #expect(tally.summarised == 1)
    }

    @Test(arguments: [
        (#""Unspecified":1,"Protection Used":0,"Protection Not Used":0"#, ["sexual-activity"]),
        (
            #""Unspecified":0,"Protection Used":1,"Protection Not Used":0"#,
            ["sexual-activity", "protection-used"]
        ),
        (#""Protection Not Used":1"#, ["sexual-activity", "protection-not-used"]),
        (#""Unspecified":1,"Protection Used":1,"Protection Not Used":0"#, nil),
    ])
    func sexualActivityIsToldByWhatIsCounted(counts: String, flags: [String]?) throws {
        let document = Self.metrics(Self.metric("sexual_activity", "count", "\(Self.date),\(counts)"))
        #expect(try Self.read(document).entries.map(\.flags) == (flags.map { [$0] } ?? []))
    }

    static func workout(_ more: String) -> String {
        """
        {"data":{"metrics":[],"workouts":[{"id":"7F0B8B1C","start":"2024-02-06 07:00:00 -0800",
        "end":"2024-02-06 07:31:30 -0800","location":"Outdoor",\(more),
        "heartRateData":[{"date":"2024-02-06 07:00:05 -0800","Min":120,"Avg":150.5,"Max":175,"units":"bpm"}],
        "heartRateRecovery":null,"route":[{"latitude":37.77,"longitude":-122.4,"timestamp":"2024-02-06 07:00:00 -0800"}]}]}}
        """
    }

    @Test(arguments: [
        ("Outdoor Run", "running"), ("Indoor Walk", "walking"), ("Pool Swim", "swimming"),
        ("Open Water Swim", "swimming"), ("Indoor Cycle", "cycling"),
        ("Traditional Strength Training", "traditional-strength-training"), ("Yoga", "yoga"),
        ("Carrera al aire libre", "carreraalairelibre"), ("Läufe", "other"), ("", "other"),
    ])
    func aWorkoutHasItsNameAsAFlag(name: String, activity: String) throws {
        let document = Self.workout(
            #"""
            "name":"\#(name)","duration":1890.5,"activeEnergyBurned":{"qty":211.5,"units":"kcal"},
            "distance":{"units":"km","qty":5.10},"intensity":{"qty":8,"units":"MET"}
            """#)
        let (entries, tally) = try Self.read(document)
        #expect(
            entries.map(words) == [
                "workout duration=1890.5 s active-energy=211.5 kcal distance=5.10 km activity-\(activity)"
            ])
        #expect(tally.unknown == [:])
        #expect(entries.first?.end == 1_707_233_490)
    }

    /// Its first version says no duration, and no pauses either.
    @Test func aWorkoutWithoutADurationIsLeftOut() throws {
        let (entries, tally) = try Self.read(
            Self.workout(#""name":"Running","totalEnergy":{"qty":1,"units":"kcal"}"#))
        #expect(entries == [])
        #expect(tally.unreadable == 1)
    }

    // MARK: Samples, and what is none

    private func taken(_ metrics: String...) throws -> (taken: Int, summarised: Int) {
        let (entries, tally) = try Self.read(
            #"{"data":{"metrics":[\#(metrics.joined(separator: ","))]}}"#)
        return (entries.count, tally.summarised)
    }

    private func steps(_ times: String...) -> String {
        let samples = times.map { #"{"date":"2024-02-06 \#($0) -0800","qty":10}"# }
        return #"{"name":"step_count","units":"count","data":[\#(samples.joined(separator: ","))]}"#
    }

    private func weights(_ times: String...) -> String {
        steps(times[0]).replacing("step_count", with: "weight_body_mass").replacing(
            "\"count\"", with: "\"kg\""
        )
        .replacing(
            "]}",
            with: times.dropFirst().map { #",{"date":"2024-02-06 \#($0) -0800","qty":10}"# }.joined() + "]}")
    }

    @Test func sumsAndAveragesOfHoursAreNoSamples() throws {
        #expect(try taken(steps("00:00:00")) == (0, 1))
        #expect(try taken(steps("08:00:00", "09:00:00"), weights("00:00:00")) == (0, 3))
    }

    /// A sum to the minute grows until the minute is over; a weight to the minute may be typed by hand.
    @Test func ofMinutesTheSumsAreNoSamples() throws {
        #expect(try taken(steps("08:01:00", "08:00:00"), weights("07:12:00", "08:00:00")) == (2, 2))
    }

    /// Samples begin at any second. So one time that is not on a full minute shows that the document holds samples.
    @Test func whereOneIsNotOnAMinuteAllAreSamples() throws {
        #expect(try taken(steps("08:00:00", "08:01:07")) == (2, 0))
        #expect(try taken(steps("08:00:00"), weights("07:12:31")) == (2, 0))
    }

    /// The app has heart rates by the second where it has all others by the minute, and nights begin at any second.
    @Test func heartRatesAndNightsTellNothingOfOthers() throws {
        let heartRates = Self.metric(
            "heart_rate", "bpm", #"\#(Self.date),"Min":72,"Avg":72,"Max":72"#,
            #""date":"2024-02-06 14:30:09 -0800","Min":70,"Avg":71.5,"Max":73"#,
            #""date":"2024-02-06 14:30:11 -0800","Avg":71.5"#)
        let night = Self.metric("sleep_analysis", "hr", #"\#(Self.date),"totalSleep":7"#)
        #expect(try taken(steps("08:01:00"), heartRates, night) == (1, 4))
    }

    @Test func aHeartRateOfASpanIsNoSample() throws {
        let even = #""date":"2024-02-06 14:31:00 -0800","Min":72,"Avg":72,"Max":72"#
        let span = #""date":"2024-02-06 14:32:00 -0800","Min":70,"Avg":71.5,"Max":73"#
        #expect(try taken(Self.metric("heart_rate", "bpm", even)) == (1, 0))
        #expect(try taken(Self.metric("heart_rate", "bpm", even, span)) == (0, 2))
        #expect(try taken(Self.metric("heart_rate", "bpm", even, span), steps("08:00:07")) == (2, 1))
    }

    // MARK: What is wrong

    @Test(arguments: [
        #""qty":"72""#, #""qty":null"#, #""qty":{"a":1}"#, #""qty":[1]"#, #""qty":true"#, #""Qty":72"#,
        "\"a\":1",
        #""qty":1.84467440737095516151"#, #""qty":1e300"#, #""qty":0"#, #""qty":-3"#,
    ])
    func aNumberThatIsNoneIsCounted(member: String) throws {
        let document = Self.metrics(Self.metric("weight_body_mass", "kg", "\(Self.date),\(member)"))
        let (entries, tally) = try Self.read(document)
        #expect(entries == [])
        #expect(tally.unreadable == 1)
    }

    /// A saturation of 0.97 % is nobody's, and whether a fraction is meant nobody says.
    @Test(arguments: ["0.97", "1", "1.9", "0", "-97"])
    func aPercentageThatMayBeAFractionIsCounted(number: String) throws {
        for name in ["blood_oxygen_saturation", "body_fat_percentage"] {
            let document = Self.metrics(Self.metric(name, "%", "\(Self.date),\"qty\":\(number)"))
            let (entries, tally) = try Self.read(document)
            #expect(entries == [])
            #expect(tally.unreadable == 1)
        }
    }

    @Test(arguments: [
        "2024-02-06 14:30:07", "2024-02-06", "06.02.2024 14:30:07 -0800", "", "2024-02-30 14:30:07 -0800",
        "99999-02-06 14:30:07 -0800", "2024-02-06 13:30:07 pm -0800", "2024-02-06 1:30:07 xm -0800",
    ])
    func aDateThatIsNoneIsCounted(date: String) throws {
        let whole = #"{\#(Self.date),"qty":71}"#
        let document = Self.metrics(
            #"{"name":"weight_body_mass","units":"kg","data":[\#(whole),{"date":"\#(date)","qty":72}]}"#)
        let (entries, tally) = try Self.read(document)
        #expect(entries.count == 1)
        #expect(tally.unreadable == 1)
    }

    /// A phone that shows twelve hours writes them.
    @Test(arguments: [
        ("2024-09-21 7:57:00\u{202F}am +1000", "2024-09-21 07:57:00 +1000"),
        ("2024-09-21 12:00:01 AM +1000", "2024-09-21 00:00:01 +1000"),
        ("2024-09-21 12:00:01\u{A0}PM +1000", "2024-09-21 12:00:01 +1000"),
        ("2024-09-21 11:59:59 pm -0330", "2024-09-21 23:59:59 -0330"),
        ("2024-09-21 07:57:00 +1000", "2024-09-21 07:57:00 +1000"),
    ])
    func twelveHoursAreRead(text: String, expected: String) {
        #expect(AutoExportTime.text(text) == expected)
    }

    @Test func whatHasNoKindIsCountedByItsName() throws {
        let document = """
            {"data":{"metrics":[{"name":"handwashing","units":"count","data":[{\(Self.date),"qty":1,"value":"Complete"}]},
            {"name":"insulin_delivery","units":"IU","data":[{\(Self.date),"qty":1,"reason":"Bolus"},{}]},{"data":[{}]}],
            "symptoms":[{"name":"Fatiga","start":"x"},{"name":"Tos"}],"stateOfMind":[{"labels":["a",{"b":1}]}],
            "medications":[],"ecg":[{"voltageMeasurements":[{"date":"x","voltage":1}]}],"heartRateNotifications":[{}]}}
            """
        let (entries, tally) = try Self.read(document)
        #expect(entries == [])
        #expect(
            tally.unknown == [
                "handwashing": 1, "insulin_delivery": 2, "?": 1, "symptoms": 2, "stateOfMind": 1, "ecg": 1,
                "heartRateNotifications": 1,
            ])
    }

    @Test(arguments: [
        #"{"data":{"metrics":[1,"a",null,[],[{"qty":1}],{"name":"height","units":"m","data":[1,"a",null,[]]}]}}"#,
        #"{"data":{"metrics":{"name":"height"},"workouts":[3,{"duration":{"qty":1}},{}]}}"#,
        #"{"data":{"metrics":[{"name":7,"units":null,"data":{"qty":1}},{"name":["a"],"data":[{"qty":1}]}]}}"#,
    ])
    func whatIsOfAnotherTypeIsPassedOver(document: String) throws {
        let (entries, tally) = try Self.read(document)
        #expect(entries == [])
        #expect(tally.unreadable + tally.unknown.values.reduce(0, +) > 0)
    }

    @Test func whatIsNoSampleAmongSamplesIsCounted() throws {
        let document = #"{"data":{"metrics":[{"name":"height","units":"m","data":[1,"a",null,[],[{}]]}]}}"#
        #expect(try Self.read(document).tally.unreadable == 5)
    }

    @Test(arguments: [
        (#"{"data":{}}"#, true), (#"{"data":{"metrics":[]}}"#, true), ("{}", false), (#"{"data":[]}"#, false),
        (#"{"metrics":[]}"#, false), (#"{"x":{"data":{}}}"#, false), ("[]", false), ("1", false),
    ])
    func anExportHasItsObject(document: String, isExport: Bool) throws {
        let reader = AutoExportReader(
            HealthExport(HealthExportTests.all, equalSamples: TemporarySamples.init))
        try JSONStream(reader).feed(Array(document.utf8)[...], isLast: true)
        #expect(reader.isExport == isExport)
    }

    @Test func aUnitInWhichNobodyMeasuresThisIsCounted() throws {
        let document = Self.metrics(Self.metric("weight_body_mass", "kcal", "\(Self.date),\"qty\":7"))
        #expect(try Self.read(document).tally.unknownUnits == ["kcal": 1])
    }

    @Test func onlyWhatIsAskedForIsTaken() throws {
        let document = Self.metrics(
            Self.metric(
                "weight_body_mass", "kg", "\(Self.date),\"qty\":71",
                #""date":"2024-02-07 08:00:01 -0800","qty":72"#),
            Self.metric("step_count", "count", "\(Self.date),\"qty\":7"))
        var selection = HealthExport.Selection(sets: [.weight], since: 1_707_300_000, subject: "patient-17")
        let (entries, tally) = try Self.read(document, selection)
        #expect(entries.map(\.subject) == ["patient-17"])
        #expect((tally.earlier, tally.unwanted) == (1, 1))
        selection.since = nil
        #expect(try Self.read(document, selection).tally.first?.text == "2024-02-06T14:30:07-08:00")
        #expect(try Self.read(document, selection).tally.last?.text == "2024-02-07T08:00:01-08:00")
    }

    /// Cut anywhere, and with bytes changed, put in and taken out: it is refused, or each entry is one that the queue
    /// takes, under a name of its own.
    @Test func whateverADocumentIsTheQueueTakesWhatComesOfIt() throws {
        let stage = """
            "startDate":"2024-02-05 23:00:00 -0800","endDate":"2024-02-05 23:30:30 -0800","value":"Core"
            """
        let whole = Array(
            Self.metrics(
                Self.metric(
                    "blood_glucose", #"mg\/dL"#, #"\#(Self.date),"qty":97.5,"mealTime":"After Meal""#),
                Self.metric("blood_oxygen_saturation", "%", "\(Self.date),\"qty\":97"),
                Self.metric("blood_pressure", "mmHg", #"\#(Self.date),"systolic":120,"diastolic":80"#),
                Self.metric("sleep_analysis", "hr", stage)
            ).utf8)
        var documents = (0..<whole.count).map { Array(whole[..<$0]) }
        var random = SeededGenerator(seed: 32)
        for _ in 0..<1_000 {
            var bytes = whole
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.insert(bytes[Int.random(in: 0..<bytes.count, using: &random)], at: place)
                default: bytes.remove(at: place)
                }
            }
            documents.append(bytes)
        }
        for document in documents {
            let export = HealthExport(
                HealthExportTests.all, census: SampleCensus(places: 1 << 10),
                equalSamples: TemporarySamples.init)
            let reader = AutoExportReader(export)
            for pass in 1...3 {
                try? JSONStream(reader).feed(document[...], isLast: true)
                if pass == 2 { export.beginAgain() }
                if pass < 3 { reader.beginAgain() }
            }
            let entries = try export.takeEntries() + export.takeEqualEntries(10)
            let areSound = entries.allSatisfy(\.isSound)
            #expect(areSound)
            #expect(Set(entries.map(\.name)).count == entries.count)
        }
    }

    // MARK: Names

    private func id(_ entry: RecordEntry?) -> String? { entry?.id(gateway: "box").text }

    /// What HealthKit has of a moment, and each stage of a sleep, is the same record out of Apple's export.
    @Test func whatIsWrittenAlikeIsTheSameRecordByEitherWay() throws {
        let stage = """
            "startDate":"2024-03-01 01:00:00 +0100","endDate":"2024-03-01 01:30:30 +0100","qty":0.508,"value":"Core"
            """
        let document = Self.metrics(
            Self.metric("weight_body_mass", "kg", #""date":"2024-03-01 08:00:07 +0100","qty":80.5"#),
            Self.metric("blood_oxygen_saturation", "%", #""date":"2024-03-01 08:00:08 +0100","qty":97"#),
            Self.metric(
                "blood_pressure", "mmHg", #""date":"2024-03-01 08:00:09 +0100","systolic":120,"diastolic":80"#
            ),
            Self.metric("sleep_analysis", "hr", stage))
        let entries = try Self.read(document).entries
        let elements = [
            HealthExportTests.sample(
                "HKQuantityTypeIdentifierBodyMass", "80.5", "kg", start: "2024-03-01 08:00:07 +0100"),
            HealthExportTests.sample(
                "HKQuantityTypeIdentifierOxygenSaturation", "0.97", "%", start: "2024-03-01 08:00:08 +0100"),
            HealthExportTests.sample(
                "HKCorrelationTypeIdentifierBloodPressure", start: "2024-03-01 08:00:09 +0100",
                holding: [
                    HealthExportTests.sample("HKQuantityTypeIdentifierBloodPressureSystolic", "120", "mmHg"),
                    HealthExportTests.sample("HKQuantityTypeIdentifierBloodPressureDiastolic", "80", "mmHg"),
                ]),
            HealthExportTests.sample(
                "HKCategoryTypeIdentifierSleepAnalysis", "HKCategoryValueSleepAnalysisAsleepCore",
                start: "2024-03-01 01:00:00 +0100", end: "2024-03-01 01:30:30 +0100"),
        ]
        let export = HealthExport(HealthExportTests.all, equalSamples: TemporarySamples.init)
        elements.tell(export)
        export.beginAgain()
        elements.tell(export)
        #expect(entries.count == 4)
        #expect(entries.map(id) == (try export.takeEntries()).map(id))
    }

    @Test func equalSamplesAreNumbered() throws {
        let helping = #"\#(Self.date),"qty":6,"source":"A""#
        let document = Self.metrics(Self.metric("protein", "g", helping, helping, helping))
        let names = try Self.read(document).entries.map(\.name)
        #expect(
            names
                == (1...3).map {
                    "HEALTHKIT|HKQuantityTypeIdentifierDietaryProtein|1707258607|1707258607|6 g|\($0)"
                })
    }

    /// A second time the document has one metric more.
    @Test func aDocumentThatChangesWhileItIsReadIsTold() throws {
        let export = HealthExport(HealthExportTests.all, equalSamples: TemporarySamples.init)
        let reader = AutoExportReader(export)
        let one = Self.metric("protein", "g", "\(Self.date),\"qty\":6")
        for (pass, document) in [[one], [one], [one, one]].enumerated() {
            let text = #"{"data":{"metrics":[\#(document.joined(separator: ","))]}}"#
            try JSONStream(reader).feed(Array(text.utf8)[...], isLast: true)
            if pass == 1 { export.beginAgain() }
            reader.beginAgain()
        }
        #expect(throws: HealthExport.Failure.changed) { try export.takeEntries() }
    }
}
