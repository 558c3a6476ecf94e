/// Readings for plots.
extension ControlMessage {
    /// POST /v1/readings: one of the two says whose.
    struct Readings: Codable, Sendable {
        /// The time of measurement from which on, in seconds since 1970.
        var since: Int64
        /// An identity address.
        var device: BluetoothAddress?
        var subject: String?
    }

    /// The answer to it, the newest first.
    struct ReadingList: Codable, Sendable {
        struct Reading: Codable, Sendable {
            struct Value: Codable, Sendable {
                var type: String
                /// In UCUM.
                var unit: String
                /// The digits that the device sent; nil where it marked the value as absent.
                var number: String?
            }

            var id: String
            var kind: RecordKind
            /// In seconds since 1970.
            var time: Int64
            /// The same, in the zone of the record: `2026-11-20 09:15:00`.
            var shown: String
            var values: [Value]
            var flags: [String]
            /// The id of the record that this one belongs to.
            var related: String?
        }

        var readings: [Reading]
        /// Whether there may be more.
        var isPart: Bool

        enum CodingKeys: String, CodingKey {
            case readings
            case isPart = "part"
        }
    }
}

extension ControlMessage.ReadingList.Reading {
    init(_ record: RecordSummary) {
        self.init(
            id: record.id, kind: record.kind, time: record.time, shown: record.wallTime,
            values: record.values.map { .init(type: $0.type, unit: $0.unit, number: $0.number) },
            flags: record.flags, related: record.related)
    }
}
