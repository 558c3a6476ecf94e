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
    package var kinds: Set<RecordKind>? { SpikeNotification.kinds }
    package var kindsInPart: Set<RecordKind> { SpikeNotification.kindsInPart }
    package func hasForm(for record: RecordContent) -> Bool { SpikeNotification.hasForm(record) }

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
        return FailedSubmission(
            dataType: notification.dataType, from: ReadingTime.text(record.time, offset: nil),
            to: ReadingTime.text(record.end ?? record.time, offset: nil), collected: record.received,
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
