import FoundationEssentials
import Synchronization
import TestSupport

/// Validic's side, as strict as its public specification: it keeps what has the documented form, and answers 400 to
/// everything else.
final class FakeValidic: Sendable {
    /// A measurement or a sleep as it is kept.
    struct Kept: Equatable {
        let id: String
        let body: String
    }

    private struct State {
        var token = "token-1"
        var kept: [Kept] = []
        /// Requests, those that were refused among them.
        var requests = 0
        /// Why requests were refused.
        var faults: [String] = []
        /// Another answer than the specification's.
        var status: Int?
    }

    private let state = Mutex(State())

    var kept: [Kept] { state.withLock { $0.kept } }
    var requests: Int { state.withLock { $0.requests } }
    var faults: [String] { state.withLock { $0.faults } }

    func accept(token: String) { state.withLock { $0.token = token } }
    func answer(_ status: Int?) { state.withLock { $0.status = status } }

    func answer(_ request: TestReceiver.Received) -> TestReceiver.Answer {
        state.withLock { state in
            state.requests += 1
            if let status = state.status { return TestReceiver.Answer(status: status) }
            guard request.headers["authorization"] == "Bearer " + state.token else {
                return TestReceiver.Answer(status: 401, body: #"{"errors":["\#(state.token) expected"]}"#)
            }
            do throws(Fault) {
                let places = [
                    "measurements": "measurement", "sleep": "sleep", "summaries": "summary",
                    "workouts": "workout",
                ]
                guard request.target.hasPrefix("POST /connect/provider/data/"),
                    let type = places[String(request.target.dropFirst(28))],
                    request.headers["content-type"] == "application/json"
                else { throw Fault("target, Content-Type") }
                let id = try Self.check(request.body, type: type)
                if !state.kept.contains(where: { $0.id == id }) {
                    state.kept.append(Kept(id: id, body: request.text))
                }
                return TestReceiver.Answer(status: 201)
            } catch {
                state.faults.append(error.what)
                return TestReceiver.Answer(status: 400, body: #"{"errors":["\#(error.what)"]}"#)
            }
        }
    }

    typealias Fault = StrictJSON.Fault

    /// The units that the specification shows with each type.
    private static let units: [String: Set<String>] = [
        "systolic": ["mmHg"], "diastolic": ["mmHg"], "pulse": ["bpm"], "resting_heart_rate": ["bpm"],
        "body_weight": ["kg"], "bmi": ["kg/m2"], "blood_glucose": ["mg/dL", "mmol/L"],
        "spo2": ["percent"], "body_temperature": ["C"],
    ]
    /// The same of a sleep ("Submitting Sleep to Inform Connect").
    private static let sleepUnits: [String: Set<String>] = [
        "rem_sleep": ["s"], "awake_duration": ["s"], "light_sleep": ["s"], "deep_sleep": ["s"],
        "sleep_duration": ["s"], "time_to_fall_asleep": ["s"], "awake_count": ["count"],
    ]

    /// The same of a day's sums ("Submitting Summaries to Inform Connect").
    private static let summaryUnits: [String: Set<String>] = [
        "active_duration": ["s"], "active_energy_burned": ["kcal"], "basal_energy_burned": ["kcal"],
        "distance": ["m"],
    ]

    /// The same of a workout ("Submitting Workouts to Inform Connect").
    private static let workoutUnits: [String: Set<String>] = [
        "active_duration": ["s"], "steps": ["count"], "energy_burned": ["kcal"], "avg_heart_rate": ["bpm"],
        "heart_rate_zone_high": ["s"], "active_energy_burned": ["kcal"], "distance": ["m"],
    ]
    private static let categories = [
        "biking", "cardio", "running", "strength", "swimming", "walking", "other",
    ]

    /// - Returns: the `log_id`.
    static func check(_ body: [UInt8], type: String = "measurement") throws(Fault) -> String {
        let own: Set<String> = type == "workout" ? ["name", "category"] : []
        let record = try StrictJSON.object(
            String(decoding: body, as: UTF8.self),
            own.union([
                "log_id", "start_time", "end_time", "utc_offset", "offset_origin", "metrics", "source",
                "type", "version",
            ]),
            optional: ["user_notes"])
        if type == "workout" {
            _ = try StrictJSON.text(record, "name")
            guard categories.contains(try StrictJSON.text(record, "category")) else {
                throw Fault("category")
            }
        }
        let id = try StrictJSON.text(record, "log_id")
        guard id.utf8.count == 36 else { throw Fault("log_id") }
        let start = try StrictJSON.text(record, "start_time")
        let end = try StrictJSON.text(record, "end_time")
        guard start.utf8.count == 20, start.hasSuffix("Z"), end.utf8.count == 20, end.hasSuffix("Z"),
            type == "measurement" ? end == start : end >= start
        else {
            throw Fault("start_time, end_time")
        }
        guard let offset = record["utc_offset"].flatMap({ Int($0) }), abs(offset) <= 14 * 3600 else {
            throw Fault("utc_offset")
        }
        guard ["source", "profile", "user_defined"].contains(try StrictJSON.text(record, "offset_origin")),
            try StrictJSON.text(record, "type") == type,
            try StrictJSON.text(record, "version") == "1.0"
        else { throw Fault("offset_origin, type, version") }
        let source = try StrictJSON.object(record["source"], ["type", "device"])
        _ = try StrictJSON.text(source, "type")
        let device = try StrictJSON.object(source["device"], ["id", "model", "manufacturer"])
        for name in device.keys where device[name] != "null" { _ = try StrictJSON.text(device, name) }
        let metrics = try StrictJSON.elements(record["metrics"])
        if metrics.isEmpty { throw Fault("metrics") }
        for json in metrics {
            let metric = try StrictJSON.object(json, ["type", "origin", "unit", "value"])
            let known =
                ["sleep": sleepUnits, "summary": summaryUnits, "workout": workoutUnits][type] ?? units
            guard let units = known[try StrictJSON.text(metric, "type")],
                units.contains(try StrictJSON.text(metric, "unit"))
            else {
                throw Fault("type, unit")
            }
            guard ["device", "manual", "unknown"].contains(try StrictJSON.text(metric, "origin"))
            else { throw Fault("origin") }
            _ = try StrictJSON.number(metric, "value")
        }
        for json in try record["user_notes"].map(StrictJSON.elements) ?? [] {
            let note = try StrictJSON.object(json, ["type", "value"])
            guard ["message", "relationship_to_meal"].contains(try StrictJSON.text(note, "type")) else {
                throw Fault("user_notes")
            }
        }
        return id
    }
}
