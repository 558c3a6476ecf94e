import IngestRecords

/// What one person's records say of menstrual cycles. Junction takes a cycle as a whole, and its parts come one by one:
/// what came before is kept, and a cycle is posted again when there is more of it.
struct JunctionCycles: Equatable {
    /// What one record says.
    struct Entry: Equatable {
        /// The record's.
        let id: String
        /// When it began, in days since 1970, and when it ended, by the record's own clock.
        let day: Int64
        let lastDay: Int64
        /// The program that it was noted with, as a digest: each has cycles of its own, as in the SDK.
        let program: String
        /// The lists of a cycle that have it, and what it says there, as JSON.
        let said: [String: String]
        let isFlow: Bool
        /// Whether a period begins with it.
        let isStart: Bool
    }

    /// From the first day of a period to the day before the next one.
    struct Cycle: Equatable {
        fileprivate let program: String
        fileprivate let firstDay: Int64
        fileprivate var periodEnd: Int64
        /// Nil while there is no next one.
        fileprivate var lastDay: Int64?
        fileprivate(set) var entries: [Entry] = []

        fileprivate func contains(_ entry: Entry) -> Bool {
            entry.program == program && firstDay <= entry.day && entry.day <= lastDay ?? entry.day
        }
    }

    /// More than somebody notes in eight years who notes two things each day.
    static let mostEntries = 6_000

    /// By their days.
    private(set) var entries: [Entry] = []
    /// What is of this day or earlier went, because there was too much; it is not taken in again, for it would be a part of
    /// a cycle in the place of the whole.
    private(set) var lastGone: Int64?

    /// The same with these. Where that is too much, the earliest days go.
    func adding(_ more: [Entry]) -> JunctionCycles {
        var changed = self
        let fresh = Set(more.map(\.id))
        changed.entries.removeAll { fresh.contains($0.id) }
        changed.entries += more.filter { $0.day > lastGone ?? .min }
        changed.entries.sort { $0.place < $1.place }
        let tooMany = changed.entries.count - Self.mostEntries
        if tooMany > 0 {
            // No day stays in part.
            let last = changed.entries[tooMany - 1].day
            changed.entries.removeAll { $0.day <= last }
            changed.lastGone = last
        }
        return changed
    }

    /// As the phone's SDK cuts them (vital-ios: splitGroupBySourceBundle, processMenstrualCycleSamples): a cycle begins
    /// with a flow that is marked as the start of one. What comes before the first is of none.
    var cycles: [Cycle] {
        var cycles: [Cycle] = []
        for entry in entries where entry.isFlow {
            let last = cycles.lastIndex { $0.program == entry.program }
            if entry.isStart, last.map({ cycles[$0].firstDay < entry.day }) ?? true {
                if let last { cycles[last].lastDay = entry.day - 1 }
                cycles.append(Cycle(program: entry.program, firstDay: entry.day, periodEnd: entry.lastDay))
            } else if let last {
                cycles[last].periodEnd = max(cycles[last].periodEnd, entry.lastDay)
            }
        }
        for place in cycles.indices {
            cycles[place].entries = entries.filter { cycles[place].contains($0) }
            // A flow of several days may go on into the next one.
            if let last = cycles[place].lastDay {
                cycles[place].periodEnd = min(cycles[place].periodEnd, last)
            }
        }
        return cycles
    }

    /// The cycles that have something of these, and those that are others than before.
    func cycles(with more: [Entry], after former: JunctionCycles) -> [Cycle] {
        let (known, fresh) = (former.cycles, Set(more.map(\.id)))
        return cycles.filter { cycle in
            !known.contains(cycle) || cycle.entries.contains { fresh.contains($0.id) }
        }
    }
}

// MARK: - Of a record

extension JunctionCycles {
    /// What a flag of ours says in a list of Junction's, as JSON: HealthKit's words in the SDK's spelling (vital-ios:
    /// MenstrualCycle.swift).
    private static let words: [String: (list: String, json: String)] = {
        var words: [String: (list: String, json: String)] = [
            "intermenstrual-bleeding": (bleeding, ""), "sexual-activity": (activity, "null"),
        ]
        for (prefix, list, known) in [
            ("menstrual-flow-", "menstrual_flow", ["unspecified", "none", "light", "medium", "heavy"]),
            (
                "cervical-mucus-quality-", "cervical_mucus",
                ["dry", "sticky", "creamy", "watery", "egg-white"]
            ),
            (
                "ovulation-test-result-", "ovulation_test",
                ["negative", "luteinizing-hormone-surge", "estrogen-surge", "indeterminate"]
            ),
        ] {
            for word in known {
                words[prefix + word] = (list, "\"\(word.replacing("-", with: "_"))\"")
            }
        }
        return words
    }()
    private static let (bleeding, activity) = ("intermenstrual_bleeding", "sexual_activity")
    private static let temperature = "basal_body_temperature"

    /// Nil for a record of something else.
    static func entry(of record: RecordContent) -> Entry? {
        guard record.kind == .reproductiveHealth else { return nil }
        var said: [String: String] = [:]
        for flag in record.flags {
            if let (list, json) = words[flag] { said[list] = json }
        }
        if said[activity] != nil, let isUsed = protection(of: record) { said[activity] = "\(isUsed)" }
        said[temperature] =
            record.values.lazy.filter { $0.type == "basal-body-temperature" }
            .compactMap { $0.number(in: "Cel") }.first
        let isFlow = record.flags.contains { $0.hasPrefix("menstrual-flow-") }
        guard isFlow || !said.isEmpty else { return nil }
        return Entry(
            id: record.id, day: day(of: record.time, record.utcOffsetSeconds),
            lastDay: day(
                of: record.end ?? record.time, record.endUTCOffsetSeconds ?? record.utcOffsetSeconds),
            program: record.originName.map { String(IdempotencyKey.of(Array($0.utf8)).prefix(8)) } ?? "",
            said: said, isFlow: isFlow,
            isStart: isFlow && record.flags.contains("menstrual-cycle-start"))
    }

    private static func protection(of record: RecordContent) -> Bool? {
        if record.flags.contains("protection-used") { return true }
        return record.flags.contains("protection-not-used") ? false : nil
    }

    /// A phone writes what belongs to a day, and to no hour, at noon of UTC (vital-ios: handleMenstrualCycle).
    private static func day(of time: Int64, _ offset: Int) -> Int64 {
        let isOfADay = (time % 86_400 + 86_400) % 86_400 == 43_200
        let wall = isOfADay ? time : time + Int64(offset)
        return (wall - (wall % 86_400 + 86_400) % 86_400) / 86_400
    }
}

extension JunctionCycles.Entry {
    /// A period begins before what else is of its day.
    fileprivate var place: (Int64, Int, String) { (day, isStart ? 0 : 1, id) }
}

// MARK: - What is kept

extension JunctionCycles: Codable {
    private enum CodingKeys: String, CodingKey {
        case entries
        case lastGone = "gone"
    }

    /// What is no entry is left out: a session is not lost by it.
    init(from decoder: any Decoder) throws {
        let members = try? decoder.container(keyedBy: CodingKeys.self)
        lastGone = try? members?.decode(Int64.self, forKey: .lastGone)
        let all = (try? members?.decode([Entry].self, forKey: .entries)) ?? []
        entries = all.filter(\.isSound).sorted { $0.place < $1.place }
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(entries, forKey: .entries)
        try members.encodeIfPresent(lastGone, forKey: .lastGone)
    }
}

extension JunctionCycles.Entry: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, day
        case lastDay = "last"
        case program, said
        case isFlow = "flow"
        case isStart = "start"
    }

    /// Whether it can be computed with, and what it says can stand in a body.
    fileprivate var isSound: Bool {
        let days = -1_000_000...4_000_000 as ClosedRange<Int64>
        return days.contains(day) && days.contains(lastDay)
            && said.values.allSatisfy { json in
                json.isEmpty || ["true", "false", "null"].contains(json) || ExactDecimal(json: json) != nil
                    || json.wholeMatch(of: /"[a-z_]+"/) != nil
            }
    }
}

// MARK: - The body

extension JSONText {
    /// A cycle as the SDK encodes it (LocalMenstrualCycle).
    mutating func value(_ cycle: JunctionCycles.Cycle, provider: String, bundle: String) {
        beginObject()
        member("source_bundle", bundle)
        key("cycle")
        beginObject()
        member("period_start", Self.date(cycle.firstDay))
        member("period_end", Self.date(cycle.periodEnd))
        key("cycle_end")
        if let last = cycle.lastDay { value(Self.date(last)) } else { null() }
        for (list, member) in Self.lists {
            key(list)
            beginArray()
            for entry in cycle.entries { add(entry, member, to: list) }
            endArray()
        }
        key("source")
        beginObject()
        member("provider", provider)
        member("type", "app")
        member("app_id", bundle)
        endObject()
        endObject()
        endObject()
    }

    /// The lists of a cycle, and what their entries have beside the date. Four of them nothing is imported for.
    private static let lists: [(name: String, member: String?)] = [
        ("menstrual_flow", "flow"), ("cervical_mucus", "quality"), ("intermenstrual_bleeding", nil),
        ("contraceptive", "type"), ("detected_deviations", "deviation"), ("ovulation_test", "test_result"),
        ("home_pregnancy_test", "test_result"), ("home_progesterone_test", "test_result"),
        ("sexual_activity", "protection_used"), ("basal_body_temperature", "value"),
    ]

    private mutating func add(_ entry: JunctionCycles.Entry, _ member: String?, to list: String) {
        guard let json = entry.said[list] else { return }
        beginObject()
        self.member("date", Self.date(entry.day))
        if let member {
            key(member)
            value(json: Array(json.utf8))
        }
        endObject()
    }

    /// `2026-11-20`.
    private static func date(_ day: Int64) -> String {
        DeviceTime(wallSeconds: day * 86_400).map { String("\($0)".prefix(10)) } ?? ""
    }
}
