import FoundationEssentials
import Synchronization
import TestSupport

@testable import IngestDelivery

/// Junction's side, as strict as what is public of it: its API reference, and what its SDKs send.
final class FakeJunction: Sendable {
    static let apiKey = "sk_us_key"
    static let user = "patient-17"

    private struct State {
        var keys: Set<String> = [apiKey]
        /// Ids by client_user_id.
        var users: [String: String] = [:]
        /// User ids by what may be exchanged, once.
        var signInTokens: [String: String] = [:]
        /// User ids by tokens.
        var access: [String: String] = [:]
        var refresh: [String: String] = [:]
        var issued = 0
        var lifetime = 3600
        /// `user/slug`.
        var connected: Set<String> = []
        /// What is kept, by what Junction tells it apart by.
        var samples: [String: String] = [:]
        var requests: [String] = []
        var bodies: [String] = []
        var faults: [String] = []
        /// Other answers, by a part of the target.
        var answers: [String: TestReceiver.Answer] = [:]
        /// A text that data is refused for.
        var refused: String?
        /// What happens when data comes.
        var whileTaking: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// Method and path of each request.
    var requests: [String] { state.withLock { $0.requests } }
    /// What came as data, unpacked.
    var bodies: [String] { state.withLock { $0.bodies } }
    var faults: [String] { state.withLock { $0.faults } }
    /// `user/resource/provider/type/time` to the value with its unit.
    var samples: [String: String] { state.withLock { $0.samples } }
    var connected: Set<String> { state.withLock { $0.connected } }
    var users: [String: String] { state.withLock { $0.users } }
    var accessTokens: Set<String> { state.withLock { Set($0.access.keys) } }

    func count(_ part: String) -> Int { requests.count { $0.contains(part) } }

    func answer(_ part: String, _ status: Int, _ body: String = "") {
        state.withLock { $0.answers[part] = TestReceiver.Answer(status: status, body: body) }
    }
    func whileTaking(_ body: (@Sendable () -> Void)?) { state.withLock { $0.whileTaking = body } }
    func refuse(_ text: String) { state.withLock { $0.refused = text } }
    func answerAsEver(_ part: String) { state.withLock { $0.answers[part] = nil } }
    func accept(keys: Set<String>) { state.withLock { $0.keys = keys } }
    func setLifetime(_ seconds: Int) { state.withLock { $0.lifetime = seconds } }
    func add(user: String, id: String) { state.withLock { $0.users[user] = id } }
    func disconnect() { state.withLock { $0.connected = [] } }
    func endAccess() { state.withLock { $0.access = [:] } }
    func endRefresh() { state.withLock { $0.refresh = [:] } }

    /// A sign-in token, as the customer's backend gets it.
    func signInToken(
        for id: String, issuer: String = "id-signer-sandbox-us@vital-id-sandbox-us.iam.gserviceaccount.com"
    ) -> String {
        func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
        func url(_ text: String) -> String {
            base64(text).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }
        let jwt = state.withLock { state in
            state.issued += 1
            let claims =
                #"{"iss":"\#(issuer)","uid":"\#(id)","tenant_id":"t","claims":{"vital_team_id":"team"},"n":\#(state.issued)}"#
            let jwt = url(#"{"alg":"RS256","typ":"JWT"}"#) + "." + url(claims) + ".c2ln"
            state.signInTokens[jwt] = id.lowercased()
            return jwt
        }
        return base64(#"{"public_key":"AIza","user_token":"\#(jwt)"}"#)
    }

    func answer(_ request: TestReceiver.Received) -> TestReceiver.Answer {
        state.withLock { state in
            state.requests.append(request.target)
            if let other = state.answers.first(where: { request.target.contains($0.key) }) {
                return other.value
            }
            do throws(StrictJSON.Fault) {
                return try Self.take(request, &state)
            } catch {
                state.faults.append(error.what)
                return TestReceiver.Answer(status: 422, body: #"{"detail":"\#(error.what)"}"#)
            }
        }
    }

    private typealias Fault = StrictJSON.Fault

    private static func take(
        _ request: TestReceiver.Received, _ state: inout State
    ) throws(Fault) -> TestReceiver.Answer {
        guard request.headers["accept"] == "application/json" else { throw Fault("Accept") }
        let parts = request.target.split(separator: "/").map(String.init)
        if request.target == "POST /auth/v1/token" { return try tokens(request, &state) }
        guard request.headers["content-type"] == "application/json" else { throw Fault("Content-Type") }
        let caller: String?
        if let key = request.headers["x-vital-api-key"] {
            guard state.keys.contains(key) else {
                return TestReceiver.Answer(status: 401, body: "the key \(key) is none")
            }
            caller = nil
        } else {
            let token = request.headers["authorization"]?.replacing("Bearer ", with: "") ?? ""
            guard let id = state.access[token] else {
                return TestReceiver.Answer(status: 401, body: "\(token) is none")
            }
            caller = id
        }
        func check(_ user: String) throws(Fault) {
            guard state.users.values.contains(user) || caller == user else { throw Fault("no user \(user)") }
            if let caller, caller != user { throw Fault("another user") }
        }
        switch (parts.dropFirst(2).first, parts.count) {
        case ("user", 3) where caller == nil: return try makeUser(request, &state)
        case ("link", 6) where parts[3...4] == ["provider", "manual"]:
            let body = try StrictJSON.object(
                request.text, ["user_id"], optional: ["provider_id", "granted_permissions"])
            let user = try StrictJSON.text(body, "user_id")
            try check(user)
            guard JunctionProvider(rawValue: parts[5]) != nil || parts[5] == "apple_health_kit" else {
                throw Fault("provider")
            }
            guard state.connected.insert("\(user)/\(parts[5])").inserted else {
                return TestReceiver.Answer(status: 409)
            }
            return TestReceiver.Answer(status: 200, body: #"{"success":true}"#)
        case ("timeseries", 5):
            try check(parts[3])
            return try data(request, user: parts[3], resource: parts[4], &state)
        case ("summary", 5):
            let summaries = [
                "activity", "body", "meal", "menstrual_cycle", "profile", "sleep", "workouts",
            ]
            guard summaries.contains(parts[3]) else {
                return TestReceiver.Answer(status: 404)
            }
            try check(parts[4])
            return try data(request, user: parts[4], resource: parts[3], &state)
        default: return TestReceiver.Answer(status: 404)
        }
    }

    private static func makeUser(
        _ request: TestReceiver.Received, _ state: inout State
    ) throws(Fault) -> TestReceiver.Answer {
        let body = try StrictJSON.object(
            request.text, ["client_user_id"],
            optional: ["fallback_time_zone", "fallback_birth_date", "ingestion_start", "ingestion_end"])
        let name = try StrictJSON.text(body, "client_user_id")
        if let known = state.users[name] {
            return TestReceiver.Answer(
                status: 400,
                body:
                    #"{"detail":{"error_type":"INVALID_REQUEST","error_message":"Client user id already exists.","user_id":"\#(known)","created_on":"2023-02-27T12:31:24+00:00"}}"#
            )
        }
        let id = "00000000-0000-4000-8000-" + padded(state.users.count + 1, 12)
        state.users[name] = id
        return TestReceiver.Answer(
            status: 200,
            body:
                #"{"user_id":"\#(id)","team_id":"\#(id)","client_user_id":"\#(name)","created_on":"2026-11-22T00:00:00+00:00","connected_sources":[],"fallback_time_zone":null}"#
        )
    }

    private static func tokens(
        _ request: TestReceiver.Received, _ state: inout State
    ) throws(Fault) -> TestReceiver.Answer {
        guard request.headers["content-type"] == "application/x-www-form-urlencoded" else {
            throw Fault("Content-Type")
        }
        var fields: [String: String] = [:]
        for field in request.text.split(separator: "&") {
            let pair = field.split(separator: "=").map(String.init)
            guard pair.count == 2 else { throw Fault("form") }
            fields[pair[0]] = pair[1].replacing("%3A", with: ":")
        }
        let user: String?
        switch fields["grant_type"] {
        case "urn:ietf:params:oauth:grant-type:token-exchange":
            guard Set(fields.keys) == ["grant_type", "subject_token_type", "subject_token"],
                fields["subject_token_type"] == "urn:junction:sign-in-token"
            else { throw Fault("form") }
            user = fields["subject_token"].flatMap { state.signInTokens.removeValue(forKey: $0) }
        case "refresh_token":
            guard Set(fields.keys) == ["grant_type", "refresh_token"] else { throw Fault("form") }
            user = fields["refresh_token"].flatMap { state.refresh.removeValue(forKey: $0) }
        default: throw Fault("grant_type")
        }
        guard let user else {
            return TestReceiver.Answer(status: 400, body: #"{"detail":{"error_type":"invalid_token"}}"#)
        }
        state.issued += 1
        // Both are new with each answer.
        state.access = state.access.filter { $0.value != user }
        state.access["access-\(state.issued)"] = user
        state.refresh["refresh-\(state.issued)"] = user
        return TestReceiver.Answer(
            status: 200,
            body:
                #"{"access_token":"access-\#(state.issued)","refresh_token":"refresh-\#(state.issued)","expires_in":\#(state.lifetime)}"#
        )
    }
}

// MARK: - Data

extension FakeJunction {
    /// Units that the SDK has for each resource.
    private static let units: [String: String] = [
        "glucose": "mmol/L", "heartrate": "bpm", "blood_oxygen": "%", "temperature": "°C",
        "systolic": "mmHg", "diastolic": "mmHg", "pulse": "bpm", "body_mass": "kg",
        "body_fat_percentage": "%", "body_mass_index": "index", "lean_body_mass": "kg",
        "waist_circumference": "centimeter", "basal_body_temperature": "°C", "respiratory_rate": "bpm",
        "steps": "count", "floors_climbed": "count", "wheelchair_push": "count", "stand_hour": "count",
        "distance": "meter", "calories_active": "kcal", "calories_basal": "kcal", "vo2_max": "mL/kg/min",
        "heartrate_variability": "rmssd", "mindfulness_minutes": "minute", "water": "mL",
        "energy_total": "kcal", "carbohydrates": "gram", "fiber": "gram", "sugar": "gram",
        "fat_total": "gram",
        "fat_saturated": "gram", "protein": "gram", "cholesterol": "mg", "calcium": "mg", "iron": "mg",
        "potassium": "mg", "sodium": "mg", "unspecified_sleep_samples": "stage",
        "awake_sleep_samples": "stage",
        "deep_sleep_samples": "stage", "light_sleep_samples": "stage", "rem_sleep_samples": "stage",
        "in_bed_sleep_samples": "stage",
    ]
    /// vital-ios, TimeSeriesData.name.
    private static let series: Set<String> = [
        "glucose", "heartrate", "blood_oxygen", "temperature", "basal_body_temperature", "respiratory_rate",
        "steps",
        "floors_climbed", "wheelchair_push", "stand_hour", "distance", "calories_active", "calories_basal",
        "vo2_max",
        "heartrate_variability", "mindfulness_minutes", "water",
    ]
    /// vital-ios, HealthKitNutritionRawData, of what an import has.
    private static let meals: Set<String> = [
        "energy_total", "carbohydrates", "fiber", "sugar", "fat_total", "fat_saturated", "protein",
        "cholesterol",
        "calcium", "iron", "potassium", "sodium",
    ]
    private static let sources: Set<String> = [
        "unknown", "phone", "watch", "app", "ring", "chest_strap", "multiple_sources", "automatic",
        "manual_scan", "cuff", "fingerprick", "insulin_pump", "scale", "lab", "exercise_machine", "earphone",
    ]

    private static func data(
        _ request: TestReceiver.Received, user: String, resource: String, _ state: inout State
    ) throws(Fault) -> TestReceiver.Answer {
        guard request.headers["content-encoding"] == "gzip",
            let unpacked = try? Gzip.decompress(request.body, limit: 1 << 20)
        else { throw Fault("gzip") }
        let text = String(decoding: unpacked, as: UTF8.self)
        let (provider, found) = try check(text, resource: resource)
        if let refused = state.refused, text.contains(refused) {
            return TestReceiver.Answer(status: 422, body: #"{"detail":"\(refused)"}"#)
        }
        guard state.connected.contains("\(user)/\(provider)") else {
            return TestReceiver.Answer(status: 400, body: #"{"detail":"no connected source"}"#)
        }
        state.bodies.append(text)
        state.whileTaking?()
        for (key, value) in found { state.samples["\(user)/\(key)"] = value }
        return TestReceiver.Answer(status: 200, body: #"{"success":true}"#)
    }

    /// What the body of a request says.
    static func check(
        _ text: String, resource: String
    ) throws(StrictJSON.Fault) -> (provider: String, samples: [(key: String, value: String)]) {
        let envelope: Set<String> = ["stage", "time_zone", "provider", "data", "is_final_chunk"]
        let dates: Set<String> = ["start_date", "end_date"]
        let body = try StrictJSON.object(text, envelope, optional: dates)
        let isHistorical = try StrictJSON.text(body, "stage") == "historical"
        guard isHistorical || body["stage"] == #""daily""#,
            dates.allSatisfy({ (body[$0] != nil) == isHistorical })
        else { throw Fault("stage") }
        if isHistorical { for name in dates { try moment(body, name) } }
        guard body["is_final_chunk"] == "true" else { throw Fault("is_final_chunk") }
        _ = try StrictJSON.text(body, "time_zone")
        let provider = try StrictJSON.text(body, "provider")
        var found: [(key: String, value: String)] = []
        func take(_ json: String, _ series: String) throws(Fault) {
            guard let unit = units[series] else { throw Fault("resource \(series)") }
            let sample = try StrictJSON.object(
                json, ["value", "unit", "type", "start_date", "end_date"],
                optional: ["source_bundle", "product_type", "metadata"])
            guard try StrictJSON.text(sample, "unit") == unit else { throw Fault("unit") }
            let source = try StrictJSON.text(sample, "type")
            guard sources.contains(source) else { throw Fault("type") }
            let time = try moment(sample, "start_date")
            try moment(sample, "end_date")
            if let metadata = sample["metadata"] { _ = try StrictJSON.object(metadata, ["time"]) }
            found.append(
                (
                    "\(series)/\(provider)/\(source)/\(time)",
                    try StrictJSON.number(sample, "value") + " " + unit
                ))
        }
        switch resource {
        case "activity":
            for element in try StrictJSON.elements(body["data"]) {
                for sum in try day(element) { found.append(("\(sum.key)/\(provider)", sum.value)) }
            }
        case "menstrual_cycle":
            for element in try StrictJSON.elements(body["data"]) {
                let (start, lists) = try cycle(element, provider)
                found.append(("cycle/\(provider)/\(start)", lists))
            }
        case "blood_pressure":
            for element in try StrictJSON.elements(body["data"]) {
                let members = try StrictJSON.object(element, ["systolic", "diastolic"], optional: ["pulse"])
                for name in members.keys.sorted() { try take(members[name] ?? "", name) }
            }
        case "body":
            let lists = [
                "body_mass", "body_fat_percentage", "body_mass_index", "waist_circumference",
                "lean_body_mass",
            ]
            let members = try StrictJSON.object(body["data"], Set(lists + ["time_zones"]))
            for name in lists {
                for element in try StrictJSON.elements(members[name]) { try take(element, name) }
            }
            guard try StrictJSON.elements(members["time_zones"]).isEmpty else { throw Fault("time_zones") }
        case "meal":
            for element in try StrictJSON.elements(body["data"]) {
                let meal = try StrictJSON.object(element, ["healthkit"])
                let lists = try StrictJSON.object(meal["healthkit"], ["source_bundle"], optional: meals)
                _ = try StrictJSON.text(lists, "source_bundle")
                for name in lists.keys.sorted() where name != "source_bundle" {
                    for element in try StrictJSON.elements(lists[name]) { try take(element, name) }
                }
            }
        case "profile":
            let profile = try StrictJSON.object(body["data"], ["height"])
            found.append(("height/\(provider)", try StrictJSON.number(profile, "height")))
        case "sleep":
            for element in try StrictJSON.elements(body["data"]) {
                let lists: Set<String> = [
                    "heart_rate", "heart_rate_variability", "respiratory_rate", "wrist_temperature",
                ]
                let sleep = try StrictJSON.object(
                    element,
                    lists.union([
                        "start_date", "end_date", "source_bundle", "product_type", "sleep_stages", "metadata",
                    ]))
                for name in ["start_date", "end_date"] { try moment(sleep, name) }
                for name in ["source_bundle", "product_type"] { _ = try StrictJSON.text(sleep, name) }
                for name in lists where !(try StrictJSON.elements(sleep[name]).isEmpty) { throw Fault(name) }
                _ = try StrictJSON.object(sleep["metadata"], [])
                let stages = try StrictJSON.object(
                    sleep["sleep_stages"],
                    Set(
                        ["unspecified", "awake", "deep", "light", "rem", "in_bed", "unknown"].map {
                            "\($0)_sleep_samples"
                        }))
                for name in stages.keys.sorted() {
                    for element in try StrictJSON.elements(stages[name]) { try take(element, name) }
                }
            }
        case "workouts":
            for element in try StrictJSON.elements(body["data"]) {
                let workout = try StrictJSON.object(
                    element,
                    [
                        "id", "start_date", "end_date", "moving_time", "source_bundle", "sport", "heart_rate",
                        "respiratory_rate", "metadata",
                    ], optional: ["product_type", "calories", "distance"])
                let time = try moment(workout, "start_date")
                try moment(workout, "end_date")
                var words = [
                    try StrictJSON.text(workout, "sport"), try StrictJSON.number(workout, "moving_time"),
                ]
                for name in ["calories", "distance"] where workout[name] != nil {
                    words.append(try StrictJSON.number(workout, name))
                }
                found.append(("workout/\(provider)/\(time)", words.joined(separator: " ")))
            }
        default:
            guard series.contains(resource) else { throw Fault("resource \(resource)") }
            for element in try StrictJSON.elements(body["data"]) { try take(element, resource) }
        }
        if found.isEmpty { throw Fault("no sample") }
        return (provider, found)
    }

    /// vital-ios, ActivityPatch.Activity.
    private static func day(_ json: String) throws(Fault) -> [(key: String, value: String)] {
        let lists: Set<String> = [
            "active_energy_burned", "basal_energy_burned", "steps", "floors_climbed",
            "distance_walking_running",
            "vo2_max",
        ]
        let activity = try StrictJSON.object(json, lists.union(["day_summary"]))
        // Its samples go as time series.
        for name in lists where !(try StrictJSON.elements(activity[name]).isEmpty) { throw Fault(name) }
        let day = try StrictJSON.object(
            activity["day_summary"], ["calendar_date"],
            optional: [
                "active_energy_burned_sum", "basal_energy_burned_sum", "steps_sum", "floors_climbed_sum",
                "distance_walking_running_sum", "vo2_max", "low", "medium", "high", "max_heart_rate",
                "min_heart_rate", "avg_heart_rate", "resting_heart_rate", "exercise_time",
                "distance_wheelchair",
                "wheelchair_use", "wheelchair_push",
            ])
        let date = try calendarDate(day, "calendar_date")
        var found: [(key: String, value: String)] = []
        for name in day.keys.sorted() where name != "calendar_date" {
            let number = try StrictJSON.number(day, name)
            if name == "exercise_time", Int(number) == nil { throw Fault(name) }
            found.append(("\(name)/\(date)", number))
        }
        return found
    }

    /// vital-ios, LocalMenstrualCycle and MenstrualCycle, whose optional members are null.
    private static func cycle(_ json: String, _ provider: String) throws(Fault) -> (
        start: String, lists: String
    ) {
        let words: [String: (member: String, words: Set<String>)] = [
            "menstrual_flow": ("flow", ["unspecified", "none", "light", "medium", "heavy"]),
            "cervical_mucus": ("quality", ["dry", "sticky", "creamy", "watery", "egg_white"]),
            "ovulation_test": (
                "test_result",
                ["negative", "positive", "luteinizing_hormone_surge", "estrogen_surge", "indeterminate"]
            ),
        ]
        let empty = ["contraceptive", "detected_deviations", "home_pregnancy_test", "home_progesterone_test"]
        let others = ["intermenstrual_bleeding", "sexual_activity", "basal_body_temperature"]
        let local = try StrictJSON.object(json, ["source_bundle", "cycle"])
        _ = try StrictJSON.text(local, "source_bundle")
        let cycle = try StrictJSON.object(
            local["cycle"],
            Set(["period_start", "period_end", "cycle_end", "source"] + words.keys + empty + others))
        let start = try calendarDate(cycle, "period_start")
        var (said, last) = ("", "9999-12-31")
        if cycle["cycle_end"] != "null" { last = try calendarDate(cycle, "cycle_end") }
        let periodEnd = try calendarDate(cycle, "period_end")
        guard start <= periodEnd, periodEnd <= last else { throw Fault("period_end") }
        said += "\(periodEnd) \(last)"
        for name in empty where !(try StrictJSON.elements(cycle[name]).isEmpty) { throw Fault(name) }
        for name in words.keys.sorted() + others {
            for element in try StrictJSON.elements(cycle[name]) {
                let own: Set<String> =
                    switch name {
                    case "intermenstrual_bleeding": []
                    case "sexual_activity": ["protection_used"]
                    case "basal_body_temperature": ["value"]
                    default: [words[name]?.member ?? ""]
                    }
                let entry = try StrictJSON.object(element, own.union(["date"]))
                let date = try calendarDate(entry, "date")
                guard start <= date, date <= last else { throw Fault("\(name) outside of its cycle") }
                said += " \(name) \(date)"
                if let (member, words) = words[name] {
                    let word = try StrictJSON.text(entry, member)
                    guard words.contains(word) else { throw Fault(word) }
                    said += " \(word)"
                } else if name == "basal_body_temperature" {
                    said += " \(try StrictJSON.number(entry, "value"))"
                } else if name == "sexual_activity" {
                    guard let used = entry["protection_used"], ["true", "false", "null"].contains(used) else {
                        throw Fault(name)
                    }
                    said += " \(used)"
                }
            }
        }
        let source = try StrictJSON.object(cycle["source"], ["provider", "type", "app_id"])
        guard try StrictJSON.text(source, "provider") == provider,
            try StrictJSON.text(source, "type") == "app"
        else { throw Fault("source") }
        return (start, said)
    }

    /// `2026-11-20`.
    private static func calendarDate(_ members: [String: String], _ name: String) throws(Fault) -> String {
        let text = try StrictJSON.text(members, name)
        guard text.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}/) != nil else { throw Fault(name) }
        return text
    }

    /// ISO 8601 in UTC, in whole seconds.
    @discardableResult
    private static func moment(_ members: [String: String], _ name: String) throws(Fault) -> String {
        let text = try StrictJSON.text(members, name)
        guard text.utf8.count == 20, text.hasSuffix("Z"), text.dropFirst(10).first == "T" else {
            throw Fault(name)
        }
        return text
    }
}
