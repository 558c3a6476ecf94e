import FoundationEssentials
import TestSupport
import Testing

@testable import IngestDelivery
@testable import IngestQueue

/// The form at Spike of what was imported from a phone.
@Suite struct SpikeImportTests {
    /// What a notification has from `data_type` on, without the last bracket; nil without a form.
    private static func sent(_ record: RecordContent) throws -> String? {
        guard let notification = SpikeNotification(record) else { return nil }
        let text = String(decoding: notification.body, as: UTF8.self)
        let start = try #require(text.firstRange(of: "\"data_type\""))
        return String(text[start.lowerBound...].dropLast())
    }

    private static func level(_ name: String) -> String {
        """
        "data_type":"sleep","data":[{"date":"2026-11-20","timezone_offset":0,"source":"ingestd",\
        "levels":[{"date_time":"2026-11-20T09:15:00","level":"\(name)","seconds":600}]}]
        """
    }

    @Test(
        arguments: [
            (
                .healthObservation, "respiratory-rate 14.5 /min", [],
                """
                "data_type":"breathing","data":[{"date":"2026-11-20","avg_value":14.5,\
                "intraday_data":[{"time":"2026-11-20T09:15:00","value":14.5}],"source":"ingestd"}]
                """
            ),
            (
                .healthObservation, "respiratory-rate 0.25 /s", [],
                """
                "data_type":"breathing","data":[{"date":"2026-11-20","avg_value":15.00,\
                "intraday_data":[{"time":"2026-11-20T09:15:00","value":15.00}],"source":"ingestd"}]
                """
            ),
            (
                .activity, "resting-heart-rate 52 /min", [],
                """
                "data_type":"heart","data":[{"date":"2026-11-20","timezone_offset":0,"resting_hr":52,\
                "source":"ingestd"}]
                """
            ),
            (.sleep, "duration 600 s", ["asleep-deep"], level("deep")),
            (.sleep, "duration 600 s", ["asleep-core"], level("light")),
            (.sleep, "duration 600 s", ["asleep-rem"], level("rem")),
            (.sleep, "duration 600 s", ["awake"], level("awake")),
            (.sleep, "duration 600 s", ["asleep", "user-entered"], level("asleepUnspecified")),
            (
                .workout, "duration 31.5 min,active-energy 286.4 kcal,distance-walking-running 5.21 km",
                ["activity-running"],
                """
                "data_type":"activities_stream","data":[{"time_start":"2026-11-20T09:15:00",\
                "time_end":"2026-11-20T09:25:00","timezone_offset":0,"activity_name":"Running",\
                "calories":286.4,"source":"ingestd","moving_time":1890,"distance":5210}]
                """
            ),
            (
                .workout, "duration 600 s,active-energy 418.4 kJ,distance 2 [mi_i]", ["activity-cycling"],
                """
                "data_type":"activities_stream","data":[{"time_start":"2026-11-20T09:15:00",\
                "time_end":"2026-11-20T09:25:00","timezone_offset":0,"activity_name":"Cycling",\
                "calories":100.00,"source":"ingestd","moving_time":600,"distance":3219}]
                """
            ),
            (
                .workout, "", [],
                """
                "data_type":"activities_stream","data":[{"time_start":"2026-11-20T09:15:00",\
                "time_end":"2026-11-20T09:25:00","timezone_offset":0,"activity_name":"Other",\
                "source":"ingestd"}]
                """
            ),
        ] as [(RecordKind, String, [String], String)])
    func whatWasImportedHasItsForm(kind: RecordKind, values: String, flags: [String], sent: String) throws {
        let record = try JunctionImportTests.record(kind, values, flags: flags)
        #expect(try Self.sent(record) == sent)
        #expect(!SpikeNotification.kindsInPart.contains(kind) || SpikeNotification.hasForm(record))
    }

    /// The clocks are put back at 3 in that night.
    @Test func aNightInBedIsAPeriodInTheZoneInWhichItBegan() throws {
        let record = try JunctionImportTests.record(
            .sleep, "duration 30600 s", flags: ["in-bed"], start: "2026-10-24T23:00:00+02:00",
            end: "2026-10-25T06:30:00+01:00")
        #expect(
            try Self.sent(record) == """
                "data_type":"sleep","data":[{"date":"2026-10-25","bedtime_start":"2026-10-24T23:00:00",\
                "bedtime_end":"2026-10-25T07:30:00","timezone_offset":7200,"bedtime_duration":30600,\
                "source":"ingestd","levels":[{"date_time":"2026-10-24T23:00:00","level":"inBed",\
                "seconds":30600}]}]
                """)
    }

    @Test func aSpanWithoutAnEndIsAMoment() throws {
        let record = try JunctionImportTests.record(.workout, "", flags: ["activity-yoga"], end: nil)
        #expect(
            try #require(try Self.sent(record)).contains(
                #""time_start":"2026-11-20T09:15:00","time_end":"2026-11-20T09:15:00""#))
    }

    @Test(
        arguments: [
            (.activity, "steps 812 1", []), (.activity, "distance-walking-running 1.2 km", []),
            (.activity, "active-energy 41 kcal", []), (.activity, "basal-energy 18 kcal", []),
            (.activity, "flights-climbed 3 1", []), (.activity, "heart-rate-variability-sdnn 48 ms", []),
            (.activity, "vo2-max 41.2 mL/(kg.min)", []), (.activity, "", ["stand-hour-stood"]),
            (.healthObservation, "mdc-163840 72 /min", []), (.sleep, "duration 60 s", []),
            (.nutrition, "energy 865 kcal", []), (.reproductiveHealth, "", ["menstrual-flow-light"]),
            (.bloodPressure, "systolic 138 mm[Hg],diastolic 85 mm[Hg]", []),
            (.bodyTemperature, "body-temperature 36.6 Cel", []),
        ] as [(RecordKind, String, [String])])
    func whatHasNoFormIsPassedOver(kind: RecordKind, values: String, flags: [String]) throws {
        let record = try JunctionImportTests.record(kind, values, flags: flags)
        #expect(SpikeNotification(record) == nil)
        #expect(!SpikeNotification.kinds.contains(kind) || SpikeNotification.kindsInPart.contains(kind))
        #expect(!SpikeNotification.kindsInPart.contains(kind) || !SpikeNotification.hasForm(record))
    }

    @Test(arguments: ["sleep", "workout"])
    func theDocumentsElementIsThatOfTheSample(name: String) throws {
        func file(_ path: String) throws -> String {
            try String(contentsOf: URL(filePath: "\(Repository.root)/docs/\(path)"), encoding: .utf8)
        }
        let json = RecordContent.assigning("patient-17", to: try file("samples/\(name).json"))
        let record = try #require(RecordContent(json: json))
        let sent = try #require(try Self.sent(record))
        let element = try #require(sent.split(separator: "\"data\":[", maxSplits: 1).last).dropLast()
        #expect(try file("destinations/spike.md").contains("\n\(element)\n"), "\(element)")
    }

    /// When it began and when it ended.
    @Test func aFailureTellsBetweenWhichTimesItWasMeasured() throws {
        let json = RecordContent.assigning(
            "patient-17",
            to: try String(
                contentsOf: URL(filePath: Repository.root + "/docs/samples/sleep.json"), encoding: .utf8))
        let spike = Spike(
            settings: SpikeSettings(url: "http://127.0.0.1:9/"), transport: HTTPTransport(),
            clock: DrivenClock(), secret: { "" })
        let submission = try #require(
            spike.failedSubmission(of: OutgoingBatch(gateway: "box", records: [json])))
        #expect(submission.dataType == "sleep")
        #expect(submission.from == "2026-11-20T01:10:00Z" && submission.to == "2026-11-20T01:55:00Z")
    }
}
