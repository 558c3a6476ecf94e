package import IngestRecords

/// What the operator set for Validic.
package struct ValidicSettings: DestinationForm {
    /// Which of Validic's APIs takes the records.
    package enum API: Sendable, Hashable {
        /// Inform Connect. `sourceType` is what Validic calls the gateway as a source of records.
        case inform(sourceType: String = "ingestd")
        /// The first one, with Validic's ids of the organization and of its user.
        case v1(organization: String, userID: String)
    }

    package static let typeName = "validic"
    package static let keys: [KeyDescription] = [
        KeyDescription(
            "api", "`inform` or `v1`", default: "`inform`",
            "Which API: the measurements of Inform Connect, or the record forms of the first one."),
        KeyDescription(
            "application_id", "text", default: "`ingestd`",
            "What Validic calls the gateway as a source of records, with `api: inform`."),
        KeyDescription(
            "environment", "`production` or `sandbox`", default: "`production`", "Has no effect for now."),
        KeyDescription(
            "organization", "text", default: "required with `api: v1`",
            "Validic's id of the organization that the person belongs to."),
        .proxy,
        KeyDescription(
            "user", "text", default: "required",
            "The person for whom the gateway signs in, and whose records go there: a `subject`, or one of `users`."
        ),
        KeyDescription(
            "user_id", "text", default: "`user`",
            "Validic's id of the person, with `api: v1`: the `_id` of the answer that made the user."),
    ]
    package static let takesOneRecord = true

    /// The value of `api`.
    private enum Choice: String, CaseIterable {
        case inform, v1
    }

    /// The person whose access token it is, by the name that records have as `subject`.
    package let user: String
    /// Nil where it is Validic's own.
    package let url: String?
    package let api: API
    /// Where the API is, up to `/connect` or `/v1`, without a slash at its end.
    let base: String

    /// - Parameter url: nil for Validic's own host of that API.
    package init(user: String, url: String? = nil, api: API = .inform()) {
        self.user = user
        self.api = api
        self.url = url
        let url = url ?? api.host
        base = url.hasSuffix("/") ? String(url.dropLast()) : url
    }

    package init?(_ entries: some DestinationEntries) {
        let url = entries["url"]?.httpURL()
        let user = entries.required("user", "the person for whom to sign in")?.text()
        let choice = entries["api"]?.choice(of: Choice.self) ?? .inform
        let userID = entries["user_id"]?.text()
        let applicationID = entries["application_id"]?.text()
        let organization = entries["organization"]?.text()
        _ = entries["environment"]?.choice(of: JunctionSettings.Environment.self)
        _ = entries.required("credential", "the person's access token")
        let unused: [String]
        switch choice {
        case .inform: unused = ["organization", "user_id"]
        case .v1:
            _ = entries.required("organization", "the id of the organization")
            unused = ["application_id"]
        }
        for key in unused { entries[key]?.warning("has no effect with api: \(choice.rawValue)") }
        guard let user else { return nil }
        switch choice {
        case .inform:
            self.init(user: user, url: url, api: applicationID.map { .inform(sourceType: $0) } ?? .inform())
        case .v1:
            self.init(
                user: user, url: url, api: .v1(organization: organization ?? "", userID: userID ?? user))
        }
    }

    /// The kinds that have a form there.
    package var kinds: Set<RecordKind>? {
        switch api {
        case .inform: Validic.kinds
        case .v1: ValidicRecord.kinds
        }
    }

    package var kindsInPart: Set<RecordKind> {
        switch api {
        case .inform: Validic.kindsInPart
        case .v1: ValidicRecord.kindsInPart
        }
    }

    package func hasForm(for record: RecordContent) -> Bool {
        switch api {
        case .inform: Validic.hasForm(record)
        case .v1: ValidicRecord.hasForm(record)
        }
    }

    package var person: String? { user }
    package var endpoint: String { base }

    package func connect(_ parts: DestinationParts) -> ConnectedDestination {
        let validic = Validic(settings: self, transport: parts.transport, clock: parts.clock) {
            try parts.secret() ?? ""
        }
        return ConnectedDestination(destination: validic) { _ in await validic.renew() }
    }
}

extension ValidicSettings.API {
    fileprivate var host: String {
        switch self {
        case .inform: "https://api.v2.validic.com"
        case .v1: "https://api.validic.com"
        }
    }
}

/// Posts records to Validic, one in a request, for the one person whose access token it has: as measurements, sleep,
/// workouts and summaries of its Inform Connect API, or as records of its first API (docs/destinations/validic.md).
package final class Validic: Destination {
    /// What a record is at Inform Connect, by its `type`.
    enum Resource: String {
        case measurement, sleep, summary, workout

        init(_ record: RecordContent) {
            switch record.kind {
            case .sleep: self = .sleep
            case .workout: self = .workout
            default:
                self = record.values.contains { sumsOfDay.contains($0.type) } ? .summary : .measurement
            }
        }

        var path: String {
            switch self {
            case .measurement: "/connect/provider/data/measurements"
            case .sleep: "/connect/provider/data/sleep"
            case .summary: "/connect/provider/data/summaries"
            case .workout: "/connect/provider/data/workouts"
            }
        }
    }

    /// The kinds that have a form at Inform Connect, or some of which have one.
    static let kinds: Set<RecordKind> = [
        .activity, .bloodPressure, .glucose, .bodyTemperature, .weight, .pulseOximetry, .heartRate, .miScale,
        .sleep, .workout,
    ]
    /// Those of them of which only some records have one.
    static let kindsInPart: Set<RecordKind> = [.activity, .sleep]

    /// Whether something of a record of these has a form there, be it absent.
    static func hasForm(_ record: RecordContent) -> Bool {
        switch record.kind {
        case .activity:
            record.values.contains { $0.type == restingHeartRate || sumsOfDay.contains($0.type) }
        default: record.flags.contains { sleepMetrics[$0] != nil }
        }
    }

    private let settings: ValidicSettings
    private let posts: AuthorizedPosts<String>

    /// A record on its way: where to, and its bytes under a token.
    private struct Request {
        let url: String
        let headers: @Sendable (_ token: String) -> [(String, String)]
        let body: @Sendable (_ token: String) -> [UInt8]
    }

    package init(
        settings: ValidicSettings, transport: HTTPTransport, clock: any GatewayClock,
        token: @escaping @Sendable () async throws -> String
    ) {
        self.settings = settings
        posts = AuthorizedPosts(transport: transport, clock: clock, read: token)
    }

    package func deliver(_ batch: OutgoingBatch) async -> DeliveryAnswer {
        guard batch.records.count == 1, let record = RecordContent(json: batch.records[0]) else {
            return .unfit("is not one record that can be read")
        }
        if let reason = record.reasonNotToFile(under: settings.user) { return .unfit(reason) }
        guard let request = request(for: record) else {
            return .unfit("has no value that this destination has a form for")
        }
        let answer = await posts.perform { await self.post(request, token: $0) }
        // The token is all of the session.
        return answer == .unauthorized(httpStatus: 401) ? .sessionEnded(httpStatus: 401) : answer
    }

    /// Reads the token and the files of TLS anew before the next request.
    /// - Returns: false where the token is the one that the server rejected: to try it again would not help.
    package func renew() async -> Bool { await posts.renew() }

    private func request(for record: RecordContent) -> Request? {
        let common = [("Content-Type", "application/json"), ("User-Agent", "ingestd")]
        switch settings.api {
        case .inform(let sourceType):
            return Self.body(of: record, sourceType: sourceType).map { body in
                Request(
                    url: settings.base + Resource(record).path,
                    headers: { common + [("Authorization", "Bearer \($0)")] }, body: { _ in body })
            }
        case .v1(let organization, let userID):
            return ValidicRecord(record).map { form in
                Request(
                    url: settings.base + form.path(organization: organization, userID: userID),
                    headers: { _ in common + [("Accept", "application/json")] }, body: form.body(token:))
            }
        }
    }

    private func post(_ request: Request, token: String) async -> DeliveryAnswer {
        let answer = await posts.post(
            request.body(token), to: request.url, headers: request.headers(token),
            hiding: ShownSecrets(token),
            refusals: settings.api.refusals)
        // The log_id names the record, which is there already.
        if case .inProgress(let status, _) = answer { return .taken(httpStatus: status) }
        return answer
    }
}

extension ValidicSettings.API {
    /// Statuses that are about the content there, beside those that always are.
    fileprivate var refusals: Set<Int> {
        switch self {
        case .inform: []
        // Nothing public says that the record is there then.
        case .v1: [409]
        }
    }
}

// MARK: - The form of a record

extension Validic {
    /// A value in Validic's terms.
    private struct Metric {
        let type: String
        let unit: String
        /// As JSON.
        let value: String
    }

    /// The body of the request for a record; nil where none of its values has a form. The same record gives the same
    /// bytes.
    static func body(of record: RecordContent, sourceType: String) -> [UInt8]? {
        let resource = Resource(record)
        let metrics =
            switch resource {
            case .sleep: sleepMetrics(of: record)
            case .workout: workoutMetrics(of: record)
            case .measurement, .summary: record.values.compactMap(metric)
            }
        let last =
            switch resource {
            // It is of one moment, not of a span.
            case .measurement: record.time
            case .sleep, .workout: record.end ?? record.time
            // The last second of the day, as in Validic's samples.
            case .summary: max(record.time, (record.end ?? record.time) - 1)
            }
        guard Self.kinds.contains(record.kind), !metrics.isEmpty,
            let start = DeviceTime(wallSeconds: record.time), let end = DeviceTime(wallSeconds: last)
        else { return nil }
        var text = JSONText()
        text.beginObject()
        text.member("log_id", record.id)
        text.member("start_time", "\(start)Z")
        text.member("end_time", "\(end)Z")
        text.member("utc_offset", record.utcOffsetSeconds)
        text.member("offset_origin", "source")
        if resource == .workout {
            let sport = SportName.of(record)
            text.member("name", sport)
            text.member("category", categories[sport] ?? "other")
        }
        text.key("metrics")
        text.beginArray()
        for metric in metrics {
            text.beginObject()
            text.member("type", metric.type)
            text.member("origin", record.metricOrigin)
            text.member("unit", metric.unit)
            text.key("value")
            text.value(json: Array(metric.value.utf8))
            text.endObject()
        }
        text.endArray()
        text.key("source")
        text.beginObject()
        text.member("type", sourceType)
        text.key("device")
        text.beginObject()
        for (name, value) in [
            ("id", record.serial), ("model", record.model), ("manufacturer", record.manufacturer),
        ] {
            text.key(name)
            if let value { text.value(value) } else { text.null() }
        }
        text.endObject()
        text.endObject()
        let notes = notes(of: record)
        if !notes.isEmpty {
            text.key("user_notes")
            text.beginArray()
            for note in notes {
                text.beginObject()
                text.member("type", note.type)
                text.member("value", note.value)
                text.endObject()
            }
            text.endArray()
        }
        text.member("type", resource.rawValue)
        text.member("version", "1.0")
        text.endObject()
        return text.bytes
    }

    /// What the public sample of a glucose has beside its metrics: the relation to a meal, in words.
    private static func notes(of record: RecordContent) -> [(type: String, value: String)] {
        var notes: [(type: String, value: String)] = []
        if record.timeSource == .unknown {
            notes.append(("message", "The time is not known: it was measured then or earlier."))
        }
        if let meal = record.flags.lazy.compactMap({ ValidicRecord.relationshipToMeal[$0] }).first {
            notes.append(("relationship_to_meal", meal))
        }
        return notes
    }

    private static let restingHeartRate = "resting-heart-rate"
    private static let sumsOfDay: Set = ["day-active-energy", "day-exercise-time"]

    /// By our flags: what the duration of a stage is. Being in bed is none.
    private static let sleepMetrics = [
        "awake": ["awake_duration"], "asleep": ["sleep_duration"],
        "asleep-core": ["light_sleep", "sleep_duration"], "asleep-deep": ["deep_sleep", "sleep_duration"],
        "asleep-rem": ["rem_sleep", "sleep_duration"],
    ]

    private static func sleepMetrics(of record: RecordContent) -> [Metric] {
        guard let types = record.flags.lazy.compactMap({ sleepMetrics[$0] }).first,
            let seconds = record.values.lazy.filter({ $0.type == "duration" })
                .compactMap({ $0.number(in: "s") }).first
        else { return [] }
        return types.map { Metric(type: $0, unit: "s", value: seconds) }
    }

    /// Of HealthKit's sports, where it is one of Validic's seven.
    private static let categories = [
        "Cycling": "biking", "Hand Cycling": "biking", "Running": "running", "Swimming": "swimming",
        "Walking": "walking", "Hiking": "walking", "Core Training": "strength",
        "Functional Strength Training": "strength", "Traditional Strength Training": "strength",
        "Cardio Dance": "cardio", "Cross Training": "cardio", "Elliptical": "cardio",
        "High Intensity Interval Training": "cardio", "Jump Rope": "cardio", "Mixed Cardio": "cardio",
        "Mixed Metabolic Cardio Training": "cardio", "Rowing": "cardio", "Stair Climbing": "cardio",
        "Stairs": "cardio", "Step Training": "cardio",
    ]

    private static func workoutMetrics(of record: RecordContent) -> [Metric] {
        func metric(_ name: String, _ unit: String, where isWanted: (String) -> Bool) -> Metric? {
            record.values.filter { isWanted($0.type) }.compactMap { $0.number(in: unit) }.first
                .map { Metric(type: name, unit: unit, value: $0) }
        }
        return [
            metric("active_duration", "s") { $0 == "duration" },
            metric("active_energy_burned", "kcal") { $0 == "active-energy" },
            metric("distance", "m") { $0.hasPrefix("distance") },
        ].compactMap(\.self)
    }

    /// Nil for what is absent, or has no form.
    private static func metric(_ value: RecordContent.Value) -> Metric? {
        func metric(_ type: String, _ unit: String, in wanted: String) -> Metric? {
            value.number(in: wanted).map { Metric(type: type, unit: unit, value: $0) }
        }
        switch value.type {
        case "systolic", "diastolic": return metric(value.type, "mmHg", in: "mm[Hg]")
        case "pulse-rate", "heart-rate": return metric("pulse", "bpm", in: "/min")
        case restingHeartRate: return metric("resting_heart_rate", "bpm", in: "/min")
        case "day-active-energy": return metric("active_energy_burned", "kcal", in: "kcal")
        case "day-exercise-time": return metric("active_duration", "s", in: "s")
        case "glucose":
            // Either of the two is fine.
            guard ["mg/dL", "mmol/L"].contains(value.unit) else { return nil }
            return metric("blood_glucose", value.unit, in: value.unit)
        case "body-temperature": return metric("body_temperature", "C", in: "Cel")
        case "weight": return metric("body_weight", "kg", in: "kg")
        case "bmi": return metric("bmi", "kg/m2", in: "kg/m2")
        case "spo2": return metric("spo2", "percent", in: "%")
        default: return nil
        }
    }
}

extension RecordContent {
    /// Who measured, in Validic's terms: of what another program had, nobody knows.
    fileprivate var metricOrigin: String {
        switch origin {
        case nil: "device"
        case .manual: "manual"
        case .appleHealth: "unknown"
        }
    }
}
