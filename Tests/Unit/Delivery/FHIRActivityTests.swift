import TestSupport
import Testing

@testable import IngestDelivery

/// What somebody did, ate and how they slept, in FHIR.
@Suite struct FHIRActivityTests {
    private static func text(_ record: RecordContent) -> String {
        String(decoding: FHIRBundle(records: [record], patientSystem: "urn:oid:2.999.1").bytes, as: UTF8.self)
    }

    @Test(
        arguments: [
            (.activity, "steps 812 1", [], "55423-8", #""value":812,"unit":"1""#, true),
            (.activity, "flights-climbed 3 1", [], "100304-5", #""value":3,"unit":"1""#, true),
            (
                .activity, "distance-walking-running 0.5 [mi_i]", [], "55430-3", #""value":804.7,"unit":"m""#,
                true
            ),
            (.activity, "active-energy 41.84 kJ", [], "41981-2", #""value":10.000,"unit":"kcal""#, true),
            (.activity, "exercise-time 12 min", [], "55411-3", #""value":12,"unit":"min""#, true),
            (.sleep, "duration 2700 s", ["asleep"], "93832-4", #""value":2700,"unit":"s""#, false),
            (.sleep, "duration 2700 s", ["asleep-deep"], "93831-6", #""value":2700,"unit":"s""#, false),
            (.sleep, "duration 2700 s", ["asleep-core"], "93830-8", #""value":2700,"unit":"s""#, false),
            (.sleep, "duration 2700 s", ["asleep-rem"], "93829-0", #""value":2700,"unit":"s""#, false),
            (.nutrition, "energy 865 kcal", [], "9052-2", #""value":865,"unit":"kcal""#, false),
        ] as [(RecordKind, String, [String], String, String, Bool)])
    func aSampleIsAnObservationByItsLOINCCode(
        kind: RecordKind, values: String, flags: [String], code: String, value: String, isPhysical: Bool
    ) throws {
        let record = try JunctionImportTests.record(kind, values, flags: flags)
        let text = Self.text(record)
        #expect(
            text.contains(#""code":{"coding":[{"system":"http://loinc.org","code":"\#(code)"}]}"#), "\(text)")
        #expect(text.contains(value), "\(text)")
        #expect(text.contains(#""code":"activity"}"#))
        #expect(text.contains(#""code":"PhysicalActivity"}"#) == isPhysical)
        #expect(
            text.contains(
                #""effectivePeriod":{"start":"2026-11-20T09:15:00+00:00","end":"2026-11-20T09:25:00+00:00"}"#)
        )
        #expect(FHIRActivity.hasForm(record))
    }

    @Test(arguments: [
        ("resting-heart-rate 52 /min", "40443-4"), ("heart-rate-variability-sdnn 48.5 ms", "80404-7"),
    ])
    func whatAWatchWorksOutHasNoCategory(values: String, code: String) throws {
        let text = Self.text(try JunctionImportTests.record(.activity, values))
        #expect(text.contains(#""code":"\#(code)""#))
        #expect(!text.contains(#""category""#))
    }

    @Test func aWorkoutIsItsSportAndItsSums() throws {
        let record = try JunctionImportTests.record(
            .workout, "duration 31.5 min,active-energy 286.4 kcal,distance-walking-running 5.21 km",
            flags: ["activity-running"])
        let text = Self.text(record)
        for part in [
            #""code":"73985-4"}]}"#, #""valueCodeableConcept":{"text":"Running"}"#,
            #""value":31.5,"unit":"min""#,
            #""code":"55424-6""#, #""value":286.4,"unit":"kcal""#, #""value":5210,"unit":"m""#,
        ] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
    }

    @Test(
        arguments: [
            (.activity, "vo2-max 41.2 mL/(kg.min)", []), (.activity, "", ["stand-hour-stood"]),
            (.sleep, "duration 60 s", ["awake"]), (.sleep, "duration 60 s", ["in-bed"]),
            (.nutrition, "protein 21 g", []),
        ] as [(RecordKind, String, [String])])
    func whatHasNoCodeIsPassedOver(kind: RecordKind, values: String, flags: [String]) throws {
        #expect(FHIRActivity.kindsInPart.contains(kind))
        #expect(!FHIRActivity.hasForm(try JunctionImportTests.record(kind, values, flags: flags)))
    }
}
