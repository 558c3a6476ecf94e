package import FoundationEssentials
package import IngestEvents
package import IngestRecords

/// The port to a backend: sends one batch and says what came of it.
package protocol Destination: Sendable {
    /// Sends the batch once; returns within a bound of the destination's own. When the task is
    /// cancelled the request may be abandoned.
    func deliver(_ batch: OutgoingBatch) async -> DeliveryAnswer
    /// Reads the credential and the files of TLS anew before the next request.
    /// - Returns: false if that is the credential which was rejected last: to try it again would not help.
    @discardableResult
    func renew() async -> Bool
    /// What `failed` says of a batch that was sent and not taken, beside what it always says.
    func failedSubmission(of batch: OutgoingBatch) -> FailedSubmission?
    /// Whether it can be given batches that are an image.
    var takesImages: Bool { get }
}

extension Destination {
    package var takesImages: Bool { false }

    package func renew() async -> Bool { true }

    package func failedSubmission(of batch: OutgoingBatch) -> FailedSubmission? { nil }
}

/// Records on their way out, in order.
package struct OutgoingBatch: Sendable, Equatable {
    /// The gateway's name when the batch was composed.
    package let gateway: String
    /// Each record as canonical JSON.
    package let records: [String]
    /// The bytes of the image that the only record stands for; nil for readings.
    package let image: Data?

    package init(gateway: String, records: [String], image: Data? = nil) {
        self.gateway = gateway
        self.records = records
        self.image = image
    }

    /// The same without these fields of its records; nil if one of them cannot be read.
    func without(_ fields: Set<RedactedField>) -> OutgoingBatch? {
        var kept: [String] = []
        for record in records {
            guard let record = RecordContent.json(record, without: fields) else { return nil }
            kept.append(record)
        }
        return OutgoingBatch(gateway: gateway, records: kept, image: image)
    }
}

/// What came of a batch. `error` is in our words; `httpStatus` is nil where the answer did not come by HTTP.
package enum DeliveryAnswer: Sendable, Equatable {
    /// All of it is taken. `location` is what the server calls an image, where it says so.
    case taken(httpStatus: Int? = nil, location: String? = nil)
    /// The same request is still being worked on: send it again later.
    case inProgress(httpStatus: Int, retryAfter: Duration?)
    /// Something in the content is not acceptable. `reply` is in the server's words.
    case refused(httpStatus: Int?, error: String, reply: String?)
    /// Nothing was sent: a record cannot go there.
    case unfit(SetAsideReason)
    /// Too much at once.
    case tooLarge(httpStatus: Int? = nil)
    /// The credential is not accepted. `error` where there is more to say than the status does.
    case unauthorized(httpStatus: Int?, error: String? = nil)
    /// The person's session is over: nothing is taken until somebody signs in.
    case sessionEnded(httpStatus: Int)
    /// This is not the place: a wrong URL, most likely.
    case misplaced(httpStatus: Int?, error: String)
    /// Not now, but it is there: too many requests.
    case busy(httpStatus: Int?, error: String, retryAfter: Duration?)
    /// No answer, or one that says that the backend is not well.
    case unavailable(httpStatus: Int?, error: String, retryAfter: Duration?)
    /// It answers that it could not, and this batch may be at fault: others are tried meanwhile.
    case failing(error: String)
}
