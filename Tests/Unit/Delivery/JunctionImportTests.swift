import TestSupport
import Testing

@testable import IngestDelivery

/// The form at Junction of what was imported from a phone.
@Suite struct JunctionImportTests {
    private static let settings = JunctionSettings(user: FakeJunction.user, timeZone: "Europe/London")

    /// Values as `TYPE NUMBER UNIT`, with commas.
    static func record(
        _ kind: RecordKind, _ values: String, flags: [String] = [],
        start: String = "2026-11-20T09:15:00+00:00",
        end: String? = "2026-11-20T09:25:00+00:00", model: String? = "Watch6,1"
    ) throws -> RecordContent {
        try #require(
            RecordContent(json: json(kind, values, flags: flags, start: start, end: end, model: model)))
    }

    static func json(
        _ kind: RecordKind, _ values: String, flags: [String], start: String, end: String?,
        model: String? = nil, id: String = "6f093134-4bcc-5b87-8bbc-517e7fce2d6e", program: String? = nil
    ) -> String {
        var text = JSONText()
        text.beginObject()
        text.member("version", 1)
        text.member("id", id)
        text.member("kind", kind.rawValue)
        text.member("stage", "historical")
        text.key("time")
        text.beginObject()
        text.member("value", start)
        if let end { text.member("end", end) }
        text.member("source", "imported")
        text.member("received", "2026-11-20T20:15:00Z")
        text.endObject()
        text.key("measurements")
        text.beginArray()
        for value in values.split(separator: ",") {
            let words = value.split(separator: " ").map(String.init)
            text.beginObject()
            text.member("type", words[0])
            text.key("value")
            text.value(json: Array(words[1].utf8))
            text.member("unit", words[2])
            text.endObject()
        }
        text.endArray()
        text.key("flags")
        text.beginArray()
        for flag in flags { text.value(flag) }
        text.endArray()
        text.member("subject", FakeJunction.user)
        text.key("device")
        text.beginObject()
        if let model { text.member("model", model) }
        text.endObject()
        text.key("origin")
        text.beginObject()
        text.member("type", "apple-health")
        if let program { text.member("name", program) }
        text.endObject()
        text.member("gateway", "box")
        text.endObject()
        return text.string
    }

    /// The one request for records, which the fake takes.
    private static func request(_ records: [RecordContent]) throws -> (
        request: JunctionForm.Request, text: String
    ) {
        let requests = try JunctionForm.requests(for: records, settings)
        try #require(requests.count == 1)
        let text = String(decoding: requests[0].body, as: UTF8.self)
        _ = try FakeJunction.check(text, resource: requests[0].series.name)
        return (requests[0], text)
    }

    private static let path = FakeJunction.user

    @Test(
        arguments: [
            (
                .activity, "steps 812 1", [], "timeseries/U/steps",
                #""value":812,"unit":"count","type":"watch""#
            ),
            (
                .activity, "flights-climbed 3 1", [], "timeseries/U/floors_climbed",
                #""value":3,"unit":"count""#
            ),
            (
                .activity, "wheelchair-pushes 40 1", [], "timeseries/U/wheelchair_push",
                #""value":40,"unit":"count""#
            ),
            (
                .activity, "distance-walking-running 0.61234 km", [], "timeseries/U/distance",
                #""value":612.34,"unit":"meter""#
            ),
            (
                .activity, "distance-walking-running 0.5 [mi_i]", [], "timeseries/U/distance",
                #""value":804.7,"unit":"meter""#
            ),
            (
                .activity, "distance-wheelchair 80 m", [], "timeseries/U/distance",
                #""value":80,"unit":"meter""#
            ),
            (
                .activity, "active-energy 12.5 kcal", [], "timeseries/U/calories_active",
                #""value":12.5,"unit":"kcal""#
            ),
            (
                .activity, "basal-energy 418.4 kJ", [], "timeseries/U/calories_basal",
                #""value":100.00,"unit":"kcal""#
            ),
            (
                .activity, "vo2-max 41.2 mL/(kg.min)", [], "timeseries/U/vo2_max",
                #""value":41.2,"unit":"mL/kg/min""#
            ),
            (
                .activity, "heart-rate-variability-sdnn 48.5 ms", [], "timeseries/U/heartrate_variability",
                #""value":48.5,"unit":"rmssd""#
            ),
            (
                .activity, "mindful-time 659 s", [], "timeseries/U/mindfulness_minutes",
                #""value":10,"unit":"minute""#
            ),
            (.activity, "", ["stand-hour-stood"], "timeseries/U/stand_hour", #""value":0,"unit":"count""#),
            (.activity, "", ["stand-hour-idle"], "timeseries/U/stand_hour", #""value":1,"unit":"count""#),
            (
                .healthObservation, "respiratory-rate 14 /min", [], "timeseries/U/respiratory_rate",
                #""value":14,"unit":"bpm""#
            ),
            (
                .reproductiveHealth, "basal-body-temperature 36.55 Cel", [],
                "timeseries/U/basal_body_temperature",
                #""value":36.55,"unit":"°C""#
            ),
            (
                .heartRate, "heart-rate 61 /min", [], "timeseries/U/heartrate",
                #""value":61,"unit":"bpm","type":"watch""#
            ),
            (
                .nutrition, "water 0.25 L", ["user-entered"], "timeseries/U/water",
                #""value":250,"unit":"mL","type":"app""#
            ),
            (
                .activity, "day-active-energy 312.5 kcal,day-exercise-time 12.9 min,day-stand-hours 9 h", [],
                "summary/activity/U",
                #"[{"day_summary":{"calendar_date":"2026-11-20","active_energy_burned_sum":312.5,"exercise_time":12},"#
            ),
            (
                .activity, "day-active-energy 418.4 kJ", [], "summary/activity/U",
                #""active_energy_burned_sum":100.00},"active_energy_burned":[],"basal_energy_burned":[]"#
            ),
            (
                .reproductiveHealth, "", ["menstrual-flow-light", "menstrual-cycle-start"],
                "summary/menstrual_cycle/U",
                #"[{"source_bundle":"ingestd","cycle":{"period_start":"2026-11-20","period_end":"2026-11-20","#
                    + #""cycle_end":null,"menstrual_flow":[{"date":"2026-11-20","flow":"light"}],"#
            ),
            (
                .nutrition, "carbohydrate 42.5 g", [], "summary/meal/U",
                #"[{"healthkit":{"source_bundle":"ingestd","carbohydrates":[{"value":42.5,"unit":"gram""#
            ),
            (.nutrition, "sodium 1.2 g", [], "summary/meal/U", #""sodium":[{"value":1200,"unit":"mg""#),
            (.weight, "height 178 cm", [], "summary/profile/U", #""data":{"height":178}"#),
            (.weight, "height 1.785 m", [], "summary/profile/U", #""data":{"height":179}"#),
            (.weight, "height 5.91 [ft_i]", [], "summary/profile/U", #""data":{"height":180}"#),
            (
                .weight, "waist-circumference 910 mm", [], "summary/body/U",
                #""waist_circumference":[{"value":91.0,"unit":"centimeter""#
            ),
        ] as [(RecordKind, String, [String], String, String)])
    func whatWasImportedGoesWhereThePhonesSDKPutsIt(
        kind: RecordKind, values: String, flags: [String], path: String, expected: String
    ) throws {
        let record = try Self.record(kind, values, flags: flags)
        let (request, text) = try Self.request([record])
        #expect("/v2/" + path == request.series.path(user: "U"))
        #expect(request.provider == "apple_health_kit")
        #expect(text.contains(expected), "\(text)")
        #expect(JunctionForm.hasForm(record) || !JunctionForm.kindsInPart.contains(kind))
    }

    @Test func aSpanHasItsEndAndTheHardwareItsName() throws {
        let (_, text) = try Self.request([try Self.record(.activity, "steps 812 1")])
        #expect(
            text
                == #"{"stage":"historical","start_date":"2026-11-20T09:15:00Z","end_date":"2026-11-20T09:25:00Z","#
                + #""time_zone":"Europe/London","provider":"apple_health_kit","data":[{"value":812,"unit":"count","#
                + #""type":"watch","start_date":"2026-11-20T09:15:00Z","end_date":"2026-11-20T09:25:00Z","#
                + #""product_type":"Watch6,1"}],"is_final_chunk":true}"#)
    }

    /// With a pause of 30 min; the next night, and what another watch saw, are others.
    @Test func thePartsOfANightAreOneSleep() throws {
        func part(_ flag: String, _ start: String, _ end: String, _ model: String = "Watch6,1") throws
            -> RecordContent
        {
            try Self.record(.sleep, "duration 1 s", flags: [flag], start: start, end: end, model: model)
        }
        let (_, text) = try Self.request([
            try part("asleep-deep", "2026-11-20T01:10:00+00:00", "2026-11-20T01:55:00+00:00"),
            try part("asleep-core", "2026-11-20T00:10:00+00:00", "2026-11-20T01:10:00+00:00"),
            try part("awake", "2026-11-20T02:25:00+00:00", "2026-11-20T02:30:00+00:00"),
            try part("asleep-rem", "2026-11-20T23:10:00+00:00", "2026-11-20T23:50:00+00:00"),
            try part("in-bed", "2026-11-20T00:00:00+00:00", "2026-11-20T03:00:00+00:00", "Watch3,4"),
        ])
        let sleeps = text.ranges(of: #"{"start_date":""#).count
        #expect(sleeps == 3)
        #expect(
            text.contains(
                #"{"start_date":"2026-11-20T00:10:00Z","end_date":"2026-11-20T02:30:00Z","source_bundle":"ingestd","#
                    + #""product_type":"Watch6,1","heart_rate":[]"#))
        #expect(
            text.contains(
                #""deep_sleep_samples":[{"value":4,"unit":"stage","type":"watch","start_date":"2026-11-20T01:10"#
            ))
        #expect(text.contains(#"{"start_date":"2026-11-20T23:10:00Z","end_date":"2026-11-20T23:50:00Z""#))
    }

    @Test(arguments: [
        (["activity-running"], "Running"), (["activity-mind-and-body"], "Mind and Body"),
        (["activity-high-intensity-interval-training"], "High Intensity Interval Training"),
        (["activity-underwater-diving"], "Other"), ([], "Other"),
    ])
    func aWorkoutHasItsSportAndItsSums(flags: [String], sport: String) throws {
        let record = try Self.record(
            .workout, "duration 31.5 min,active-energy 286.4 kcal,distance-walking-running 5.21 km",
            flags: flags,
            start: "2026-11-20T17:00:00+00:00", end: "2026-11-20T17:31:30+00:00")
        let (request, text) = try Self.request([record])
        #expect(request.series.path(user: "U") == "/v2/summary/workouts/U")
        #expect(
            text.contains(
                #""data":[{"id":"6F093134-4BCC-5B87-8BBC-517E7FCE2D6E","start_date":"2026-11-20T17:00:00Z","#
                    + #""end_date":"2026-11-20T17:31:30Z","moving_time":1890,"source_bundle":"ingestd","#
                    + #""product_type":"Watch6,1","sport":"\#(sport)","calories":286.4,"distance":5210,"#))
    }

    /// What Junction has no place for is passed over, and no dead letter.
    @Test(
        arguments: [
            (.activity, "exercise-time 30 min", []), (.activity, "resting-heart-rate 52 /min", []),
            (.activity, "nike-fuel 10 1", []), (.activity, "distance-cycling 8 km", []),
            (.activity, "day-stand-hours 9 h", []),
            (.bodyComposition, "muscle-mass 30 kg", []), (.reproductiveHealth, "", ["user-entered"]),
            (.sleep, "duration 60 s", ["user-entered"]), (.nutrition, "caffeine 90 mg", []),
        ] as [(RecordKind, String, [String])])
    func whatHasNoPlaceIsPassedOver(kind: RecordKind, values: String, flags: [String]) throws {
        let record = try Self.record(kind, values, flags: flags)
        #expect(JunctionForm.kindsInPart.contains(kind))
        #expect(!JunctionForm.hasForm(record))
    }
}
