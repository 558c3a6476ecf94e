/// A measurement that came by no radio: written by hand, or out of another program's export.
package struct RecordEntry: Sendable, Equatable, Codable {
    /// Where it is from.
    package enum Origin: String, Sendable, Codable {
        /// Somebody wrote it: `ingestd submit`.
        case manual
        /// An export of Apple Health: `ingestd import`.
        case appleHealth = "apple-health"

        /// How the names of its entries begin (docs/records.md): so none can have the id of a device's reading.
        var namePrefix: String {
            switch self {
            case .manual: "MANUAL|"
            case .appleHealth: "HEALTHKIT|"
            }
        }
    }

    /// One measured quantity. The number is text, so that it goes over the control socket with its digits.
    package struct Value: Sendable, Equatable, Codable {
        package var type: String
        /// The MDC code.
        package var code: UInt32?
        /// As JSON, without an exponent.
        package var number: String
        /// In UCUM.
        package var unit: String

        package init(type: String, code: UInt32?, number: ExactDecimal, unit: String) {
            self.type = type
            self.code = code
            self.number = number.description
            self.unit = unit
        }
    }

    /// What an export says of where it has a measurement from.
    package struct Source: Sendable, Equatable, Codable {
        /// The program or the device, as its owner named it.
        package var name: String?
        package var version: String?
        package var manufacturer: String?
        package var model: String?
        package var firmware: String?

        package init(
            name: String? = nil, version: String? = nil, manufacturer: String? = nil, model: String? = nil,
            firmware: String? = nil
        ) {
            self.name = name
            self.version = version
            self.manufacturer = manufacturer
            self.model = model
            self.firmware = firmware
        }
    }

    package var kind: RecordKind
    package var origin: Origin
    /// When it was measured, or began, in seconds since 1970.
    package var start: Int64
    /// When it ended; nil for a moment.
    package var end: Int64?
    /// How far the clock that `start` was read from is ahead of UTC, in seconds.
    package var utcOffset: Int
    /// The same of `end`, where the clocks were changed in between; nil: as of `start`.
    package var endUTCOffset: Int?
    package var timeSource: RecordTime.Source
    package var values: [Value]
    /// In kebab case.
    package var flags: [String]
    /// Nil is unassigned.
    package var subject: String?
    package var source: Source
    /// What tells it from every other of its origin, but for whom it belongs to (docs/records.md).
    package var name: String

    package init(
        kind: RecordKind, origin: Origin, start: Int64, end: Int64? = nil, utcOffset: Int,
        endUTCOffset: Int? = nil, timeSource: RecordTime.Source, values: [Value], flags: [String] = [],
        subject: String? = nil,
        source: Source = Source(), name: String
    ) {
        self.kind = kind
        self.origin = origin
        self.start = start
        self.end = end
        self.utcOffset = utcOffset
        self.endUTCOffset = endUTCOffset
        self.timeSource = timeSource
        self.values = values
        self.flags = flags
        self.subject = subject
        self.source = source
        self.name = name
    }

    /// Live: of now, told by whoever measured. What was kept elsewhere is historical.
    var stage: Record.Stage { origin == .manual ? .live : .historical }

    /// Names it for its person, by whichever gateway it comes. A person who is not known is somebody of this gateway.
    func id(gateway: String) -> RecordID {
        RecordID(text: NameUUID.text(of: Array("\(name)|\(subject ?? "|\(gateway)")".utf8)))
    }
}

/// An entry as the queue takes it.
package struct EnteredRecord: Sendable, Equatable {
    package let id: RecordID
    package let kind: RecordKind
    package let origin: RecordEntry.Origin
    /// The record, as canonical JSON.
    package let body: String

    /// - Parameters:
    ///   - received: when the gateway got it, in seconds since 1970.
    /// - Returns: nil for an entry that is no record: a number that is none, a time outside of the calendar, text that is
    ///   longer than what any origin has.
    package init?(_ entry: RecordEntry, gateway: String, received: Int64) {
        guard let body = entry.json(gateway: gateway, received: received) else { return nil }
        id = entry.id(gateway: gateway)
        kind = entry.kind
        origin = entry.origin
        self.body = body
    }
}

extension RecordEntry {
    /// Bytes of a text, by far more than any origin has.
    package static let longestText = 256
    private static let mostValues = 32

    /// Whether the queue takes it, at a moment within the calendar.
    package var isSound: Bool {
        let texts =
            [source.name, source.version, source.manufacturer, source.model, source.firmware]
            .compactMap { $0 } + flags + values.flatMap { [$0.type, $0.number, $0.unit] }
        guard kind.isDelivered, values.count <= Self.mostValues, flags.count <= Self.mostValues,
            name.utf8.count <= 4 * Self.longestText, name.hasPrefix(origin.namePrefix), hasSoundTimes,
            subject.map(Subject.isName) ?? true
        else { return false }
        return texts.allSatisfy { (1...Self.longestText).contains($0.utf8.count) }
            // Written as JSON has it, and not as `+5`, `.5` or `007`.
            && values.allSatisfy { ExactDecimal(json: $0.number)?.description == $0.number }
    }

    /// Whether each of its moments has a date, in UTC as by its own clock.
    private var hasSoundTimes: Bool {
        let moments = [(start, utcOffset), (end ?? start, endUTCOffset ?? utcOffset)]
        guard (end ?? start) >= start else { return false }
        return moments.allSatisfy { moment, offset in
            (-86_399...86_399).contains(offset) && DeviceTime(wallSeconds: moment) != nil
                && DeviceTime(wallSeconds: moment + Int64(offset)) != nil
        }
    }
}
