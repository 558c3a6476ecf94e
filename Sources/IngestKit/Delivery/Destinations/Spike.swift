internal import Crypto
internal import FoundationEssentials
package import IngestEvents
package import IngestRecords

/// What the operator set for Spike.
package struct SpikeSettings: DestinationForm {
    package static let typeName = "spike"
    package static let keys: [KeyDescription] = [
        KeyDescription(
            "main_callback_url", "URL", default: "required",
            "The application's main callback URL at spike; `url` is this, or one under it."),
        .proxy,
    ]
    package static let takesOneRecord = true
    /// Spike's own limit: 7 days.
    package static let longestResend: Int64? = 7 * 24 * 3600
    /// The kinds that have a form there.
    package let kinds: Set<RecordKind>? = Set(RecordKind.allCases.filter { SpikeDataType($0) != nil })

    /// Where to POST.
    package let callback: String

    package init(url: String) {
        callback = url
    }

    package init?(_ entries: some DestinationEntries) {
        let url = entries.required("url", "a URL")?.httpURL()
        _ = entries.required("credential", "the application's secret token")
        let main = entries.required("main_callback_url", "the application's main callback URL")?.httpURL()
        guard let url else { return nil }
        if let main = main.flatMap({ URLText($0) }), let own = URLText(url), !own.isUnder(main) {
            // A URL may hold a secret, so it is not repeated.
            entries["url"]?.error(expected: "main_callback_url, or a URL under it")
        }
        callback = url
    }

    package var url: String? { callback }
    package var endpoint: String { callback }

    package func connect(_ parts: DestinationParts) -> ConnectedDestination {
        let spike = Spike(settings: self, transport: parts.transport, clock: parts.clock) {
            try parts.secret() ?? ""
        }
        return ConnectedDestination(destination: spike) { _ in
            await spike.renew()
            return true
        }
    }
}

/// Posts records as Spike's webhook notifications (version 2, RealtimeUpdateV1), one in a request, signed with the
/// application's secret token (docs/destinations/spike.md).
package final class Spike: Destination {
    private let settings: SpikeSettings
    private let clock: any GatewayClock
    private let posts: AuthorizedPosts<String>

    /// - Parameter secret: reads the application's secret token anew.
    package init(
        settings: SpikeSettings, transport: HTTPTransport, clock: any GatewayClock,
        secret: @escaping @Sendable () async throws -> String
    ) {
        self.settings = settings
        self.clock = clock
        posts = AuthorizedPosts(transport: transport, clock: clock, read: secret)
    }

    package func deliver(_ batch: OutgoingBatch) async -> DeliveryAnswer {
        guard batch.records.count == 1, let record = RecordContent(json: batch.records[0]) else {
            return .unfit("is not one record that can be read")
        }
        if let reason = record.reasonNotToFileAtAll { return .unfit(reason) }
        // The form has no place to say so, and the time of reception would pass for it.
        guard record.timeSource != .unknown else {
            return .unfit("was measured at a time that is not known")
        }
        guard let notification = SpikeNotification(record) else {
            return .unfit("has no value that this destination has a form for")
        }
        return await posts.perform { await self.post(notification, secret: $0) }
    }

    /// What Spike's listener for failed submissions is told.
    package func failedSubmission(of batch: OutgoingBatch) -> FailedSubmission? {
        guard batch.records.count == 1, let record = RecordContent(json: batch.records[0]),
            let notification = SpikeNotification(record)
        else { return nil }
        let moment = ReadingTime.text(record.time, offset: nil)
        return FailedSubmission(
            dataType: notification.dataType, from: moment, to: moment, collected: record.received,
            submitted: ReadingTime.text(clock.wallNanoseconds / 1_000_000_000, offset: nil),
            payloadSize: notification.body.count)
    }

    /// Reads the secret and the files of TLS anew before the next request.
    @discardableResult
    package func renew() async -> Bool { await posts.renew() }

    private func post(_ notification: SpikeNotification, secret: String) async -> DeliveryAnswer {
        let headers = [
            ("Content-Type", "application/json"), ("User-Agent", "ingestd"),
            ("X-Spike-Signature", Self.signature(of: notification.id, secret: secret)),
        ]
        return await posts.post(
            notification.body, to: settings.callback, headers: headers, hiding: ShownSecrets(secret))
    }

    /// HMAC-SHA256 of the `event_id`, in lower-case hexadecimal digits.
    static func signature(of id: String, secret: String) -> String {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array(id.utf8), using: SymmetricKey(data: Array(secret.utf8)))
        return Hex.text(Array(code))
    }
}

/// A record in Spike's form. The same record gives the same bytes.
struct SpikeNotification {
    /// The record's.
    let id: String
    let dataType: String
    let body: [UInt8]

    /// Nil where none of the record's values has a form.
    init?(_ record: RecordContent) {
        guard let moment = DeviceTime(wallSeconds: record.time + Int64(record.utcOffsetSeconds)),
            let subject = record.subject, let type = SpikeDataType(record.kind),
            let item = Item(record, type, at: moment)
        else { return nil }
        id = record.id
        dataType = type.rawValue
        var text = JSONText()
        text.beginObject()
        text.member("event_id", record.id)
        text.member("event_type", "record_change")
        text.member("timestamp", record.received)
        text.key("user_id")
        text.null()
        text.member("client_user_id", subject)
        text.member("source", Self.source(of: record))
        text.member("data_type", dataType)
        text.key("data")
        text.beginArray()
        text.value(json: item.text.bytes)
        text.endArray()
        text.endObject()
        body = text.bytes
    }

    /// The maker of the device, as far as it says so.
    fileprivate static func source(of record: RecordContent) -> String { record.manufacturer ?? "ingestd" }
}

// MARK: - Data types

/// The types of data that have something of ours.
private enum SpikeDataType: String {
    case glucose, heart, body
    case oxygenSaturation = "oxygen_saturation"

    init?(_ kind: RecordKind) {
        switch kind {
        case .glucose, .continuousGlucose: self = .glucose
        case .heartRate: self = .heart
        case .pulseOximetry: self = .oxygenSaturation
        case .weight, .bodyComposition, .miScale: self = .body
        default: return nil
        }
    }
}

/// The one element of `data`.
private struct Item {
    var text = JSONText()

    /// Wall time, as all times of `data` are.
    private let moment: DeviceTime
    private var date: String { String(moment.description.prefix(10)) }

    init?(_ record: RecordContent, _ type: SpikeDataType, at moment: DeviceTime) {
        self.moment = moment
        let source = SpikeNotification.source(of: record)
        switch type {
        case .glucose:
            guard let value = Self.first("glucose", of: record, in: "mg/dL") else {
                return nil
            }
            text.beginObject()
            text.member("date", date)
            for name in ["avg_value", "min_value", "max_value"] { number(name, value) }
            text.member("unit", "mg/dL")
            text.member("source", source)
            text.member("timezone_offset", record.utcOffsetSeconds)
            text.key("intraday_data")
            text.beginArray()
            sample("time", value)
            text.endArray()
            text.endObject()
        case .heart:
            guard let value = Self.first("heart-rate", of: record, in: "/min") else {
                return nil
            }
            text.beginObject()
            text.member("date", date)
            text.member("timezone_offset", record.utcOffsetSeconds)
            for name in ["min_hr", "avg_hr", "max_hr"] { number(name, value) }
            text.key("heart_rate_samples")
            text.beginArray()
            sample("time", value)
            text.endArray()
            text.member("source", source)
            text.endObject()
        case .oxygenSaturation:
            guard let value = Self.first("spo2", of: record, in: "%") else { return nil }
            text.beginObject()
            text.member("date", date)
            for name in ["avg", "min", "max"] { number(name, value) }
            text.key("intraday_data")
            text.beginArray()
            sample("time", value)
            text.endArray()
            text.member("source", source)
            text.endObject()
        case .body:
            let values = Self.body.compactMap { name, type, unit, exponent in
                Self.first(type, of: record, in: unit).flatMap { $0.times(1, exponent: exponent) }
                    .map { (name, $0) }
            }
            guard !values.isEmpty else { return nil }
            text.beginObject()
            text.member("date", date)
            text.member("source", source)
            text.member("timezone_offset", record.utcOffsetSeconds)
            text.key("body_data")
            text.beginObject()
            for (name, value) in values {
                text.key(name)
                text.beginObject()
                number("value", value)
                text.key("timeseries")
                text.beginArray()
                sample("timestamp", value)
                text.endArray()
                text.endObject()
            }
            text.endObject()
            text.endObject()
        }
    }

    private mutating func number(_ name: String, _ value: ExactDecimal) {
        text.key(name)
        text.value(value)
    }

    private mutating func sample(_ time: String, _ value: ExactDecimal) {
        text.beginObject()
        text.member(time, moment.description)
        number("value", value)
        text.endObject()
    }

    // MARK: Values

    /// The names in `body_data`, with the types of ours; the unit, and by which power of ten the number grows.
    private static let body: [(name: String, type: String, unit: String, exponent: Int8)] = [
        ("weight_kg", "weight", "kg", 0), ("height_cm", "height", "cm", 0), ("BMI", "bmi", "kg/m2", 0),
        ("bodyfat_percentage", "body-fat", "%", 0), ("muscle_mass_g", "muscle-mass", "kg", 3),
    ]

    /// The first value of a type that is there and has a form.
    private static func first(_ type: String, of record: RecordContent, in unit: String) -> ExactDecimal? {
        record.values.lazy.filter { $0.type == type }.compactMap { $0.converted(to: unit) }.first
    }
}
