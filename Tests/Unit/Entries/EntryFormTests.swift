import Testing

@testable import IngestEntries

@Suite struct EntryFormTests {
    private func read(
        _ form: String, _ text: String, _ unit: String? = nil, pulse: String? = nil
    ) throws -> [String] {
        try #require(EntryForm.named(form)).read(text, unit: unit, pulse: pulse).map {
            "\($0.type) \($0.number) \($0.unit)"
        }
    }

    @Test(
        arguments: [
            ("glucose", "5.4", "mmol/L", "glucose 5.4 mmol/L"),
            // mg/dL unless another unit is written
            ("glucose", "97", nil, "glucose 97 mg/dL"), ("glucose", "40", nil, "glucose 40 mg/dL"),
            ("glucose", "97.0", nil, "glucose 97.0 mg/dL"),
            ("glucose", "12.5", "mg/dL", "glucose 12.5 mg/dL"),
            // the digits stay
            ("glucose", "5.40", "mmol/l", "glucose 5.40 mmol/L"),
            ("weight", "72.500", nil, "weight 72.500 kg"),
            ("weight", "160.0", "lb", "weight 160.0 [lb_av]"),
            ("height", "178", "cm", "height 1.78 m"),
            ("height", "178.5", "cm", "height 1.785 m"),
            ("body-temperature", "98.60", "F", "body-temperature 98.60 [degF]"),
            ("spo2", "97", nil, "spo2 97 %"),
            ("heart-rate", "62", "bpm", "heart-rate 62 /min"),
            ("hba1c", "6.10", nil, "hba1c 6.10 %"),
            ("carbohydrate", "0", "g", "carbohydrate 0 g"),
            ("water", "250", nil, "water 250 mL"), ("water", "1.5", "L", "water 1500 mL"),
            ("food-energy", "640.0", "kcal", "energy 640.0 kcal"), ("food-sodium", "0", nil, "sodium 0 mg"),
            ("resting-heart-rate", "58", "bpm", "resting-heart-rate 58 /min"),
            ("total-cholesterol", "182", nil, "total-cholesterol 182 mg/dL"),
            ("total-cholesterol", "4.70", "mmol/l", "total-cholesterol 4.70 mmol/L"),
            ("blood-potassium", "4.1", "mEq/L", "blood-potassium 4.1 mmol/L"),
            ("ferritin", "88", "ug/L", "ferritin 88 ng/mL"), ("tsh", "2.31", "uIU/mL", "tsh 2.31 m[IU]/L"),
        ] as [(String, String, String?, String)])
    func aNumberKeepsItsDigits(form: String, text: String, unit: String?, expected: String) throws {
        #expect(try read(form, text, unit) == [expected])
    }

    @Test func aBloodPressureIsTwoNumbersAndMayHaveAPulse() throws {
        #expect(
            try read("blood-pressure", "120/80", "mm[Hg]", pulse: "62") == [
                "systolic 120 mm[Hg]", "diastolic 80 mm[Hg]", "pulse-rate 62 /min",
            ])
        #expect(
            try read("blood-pressure", "16.0/10.7", "kPa") == ["systolic 16.0 kPa", "diastolic 10.7 kPa"])
    }

    @Test(
        arguments: [
            (
                "glucose", "5.4", nil, nil,
                "5.4 mg/dL is not plausible: expected 10 to 1200; if it is in mmol/L"
            ),
            // A hyperglycaemia in the one unit, and none that anybody lives with in the other.
            ("glucose", "12.5", nil, nil, "glucose 12.5 may be mg/dL or mmol/L: write the unit behind it"),
            ("glucose", "39", nil, nil, "may be mg/dL or mmol/L"),
            ("glucose", "55.0", nil, nil, "may be mg/dL or mmol/L"),
            ("glucose", "97", "mmol/L", nil, "97 mmol/L is not plausible: expected 0.60 to 66.60"),
            ("glucose", "9.99", "mg/dL", nil, "not plausible"),
            ("glucose", "1200.01", nil, nil, "not plausible"),
            // Nobody has none of it.
            ("body-fat", "0", nil, nil, "body-fat 0 % is not plausible: expected 1 to 100"),
            ("muscle-mass", "0", nil, nil, "not plausible"),
            ("body-water-mass", "0", "lb", nil, "not plausible"),
            ("glucose", "5,4", "mmol/L", nil, "5,4: expected a number"),
            ("glucose", "-5.4", "mmol/L", nil, "expected a number"),
            ("glucose", "1e2", nil, nil, "expected a number"),
            ("glucose", "97.", nil, nil, "expected a number"),
            ("glucose", ".5", nil, nil, "expected a number"), ("glucose", "", nil, nil, "expected a number"),
            ("glucose", "100.00000000000", nil, nil, "expected a number"),
            ("glucose", "97", "kg", nil, "kg: glucose is in mg/dL or mmol/L"),
            ("blood-pressure", "120", nil, nil, "expected two numbers"),
            ("blood-pressure", "120/80/62", nil, nil, "expected two numbers"),
            ("blood-pressure", "80/120", nil, nil, "the systolic one is first"),
            ("blood-pressure", "120/120", nil, nil, "the systolic one is first"),
            ("blood-pressure", "120/8", nil, nil, "diastolic 8 mm[Hg] is not plausible"),
            ("blood-pressure", "120/80", nil, "620", "pulse-rate 620 /min is not plausible"),
            ("weight", "72", nil, "62", "weight has no pulse rate"),
            ("total-cholesterol", "4.7", nil, nil, "expected 40 to 2000; if it is in mmol/L, write the unit"),
            ("triglycerides", "90", nil, nil, "triglycerides 90 may be mg/dL or mmol/L"),
            ("food-energy", "640", nil, nil, "energy 640 may be kcal or kJ"),
            ("water", "2", nil, nil, "water 2 mL is not plausible: expected 10 to 10000"),
        ] as [(String, String, String?, String?, String)])
    func aSlipIsAnError(form: String, text: String, unit: String?, pulse: String?, words: String) throws {
        let form = try #require(EntryForm.named(form))
        let error = #expect(throws: EntryError.self) { try form.read(text, unit: unit, pulse: pulse) }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }

    @Test(
        arguments: [
            ("glucose", "before", "meal-preprandial"), ("glucose", "after", "meal-postprandial"),
            ("glucose", "fasting", "meal-fasting"), ("glucose", "random", "meal-casual"),
            ("glucose", "bedtime", "meal-bedtime"), ("food-energy", "dinner", "meal-dinner"),
            ("food-fat", "snack", "meal-snack"),
        ])
    func aMealIsAFlag(form: String, word: String, flag: String) throws {
        #expect(try #require(EntryForm.named(form)).flags(meal: word) == [flag])
    }

    @Test(
        arguments: [
            ("weight", "before", "weight has no meal: it goes with glucose and with what is eaten"),
            ("water", "lunch", "water has no meal"),
            ("glucose", "lunch", "lunch: expected one of before, after, fasting, random, bedtime"),
            ("food-energy", "before", "before: expected one of breakfast, lunch, dinner, snack"),
        ])
    func aMealThatDoesNotFitIsAnError(form: String, word: String, words: String) throws {
        let form = try #require(EntryForm.named(form))
        let error = #expect(throws: EntryError.self) { try form.flags(meal: word) }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }

    /// A word that is said later makes no second measurement.
    @Test func aMealIsNoPartOfTheName() throws {
        let form = try #require(EntryForm.named("glucose"))
        func name(_ meal: String?) throws -> String {
            RecordEntry.manual(
                form, try form.read("97", unit: "mg/dL"), flags: try form.flags(meal: meal),
                at: EntryTime(instant: 1_795_162_500, utcOffset: 0), isTimeWritten: true, subject: nil
            ).name
        }
        #expect(try name("fasting") == name(nil))
    }

    @Test func everyFormTakesItsOwnUnits() throws {
        for form in EntryForm.all {
            #expect(form.second.isEmpty == (form.types.count == 1), "\(form.name)")
            #expect(form.second.isEmpty || form.second.count == form.units.count, "\(form.name)")
            #expect(form.kind.isDelivered, "\(form.name)")
            for unit in form.units { #expect(!unit.plausible.isEmpty, "\(form.name)") }
            if let plain = form.plainFrom {
                #expect(form.units[0].plausible.contains(plain), "\(form.name)")
            }
            guard form.units.count > 1, form.units[1].exponent == 0, form.plainFrom == nil else { continue }
            guard !["height", "weight", "body-temperature", "blood-pressure"].contains(form.name),
                form.units[1].recorded != "[lb_av]", form.name != "medication"
            else { continue }
            #expect(!form.units[0].plausible.overlaps(form.units[1].plausible), "\(form.name)")
        }
        #expect(Set(EntryForm.all.map(\.name)).count == EntryForm.all.count)
    }
}

@Suite struct EntryTimeTests {
    private let berlin: TimeZoneRules

    init() throws {
        berlin = try TimeZoneRules.load("Europe/Berlin")
    }

    @Test(
        arguments: [
            ("2026-11-20T09:15", 1_795_162_500, 3600), ("2026-11-20 09:15:07", 1_795_162_507, 3600),
            ("2026-11-20T09:15:07Z", 1_795_166_107, 0), ("2026-11-20T09:15:07-05:30", 1_795_185_907, -19_800),
            ("2019-03-01 08:00:00 +0100", 1_551_423_600, 3600),
            // occurs twice
            ("2026-10-25T02:30", 1_792_888_200, 7200),
        ] as [(String, Int64, Int)])
    func aMomentIsRead(text: String, instant: Int64, offset: Int) {
        let time = EntryTime(instant: instant, utcOffset: offset)
        #expect(EntryTime(text, in: berlin) == time)
        // As it is given for another try, in whichever zone.
        #expect(EntryTime(time.text, in: .utc) == time)
    }

    @Test func aWallTimeThatNeverOccursIsMarked() throws {
        let skipped = try #require(EntryTime("2026-03-29T02:30", in: berlin))
        #expect(skipped.isSkipped)
        #expect(skipped.instant == 1_774_747_800 && skipped.utcOffset == 3600)
        for text in ["2026-03-29T01:59:59", "2026-03-29T03:00", "2026-03-29T02:30+01:00", "2026-10-25T02:30"]
        {
            #expect(EntryTime(text, in: berlin)?.isSkipped == false, "\(text)")
        }
    }

    @Test(arguments: [
        "", "now", "2026-11-20", "2026-11-20T", "2026-11-20T9:15", "2026-02-29T09:15", "2026-11-20T24:00",
        "2026-11-20T09:15x", "2026-11-20T09:15:07Zx", "2026-11-20T09:15:07+1", "2026-11-20T09:15:07+24:00",
        "2026-11-20T09:15:60", "20261120T091500Z", "２026-11-20T09:15",
    ])
    func anythingElseIsNone(text: String) {
        #expect(EntryTime(text, in: berlin) == nil)
    }
}
