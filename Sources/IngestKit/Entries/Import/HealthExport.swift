package import IngestStorage

/// Makes entries of an Apple Health export, element by element, as they come (docs/import.md). The document is told
/// twice: a sample's name holds its number among its equals, which may be anywhere in it, so they are counted first.
/// Holds the element that is under way, and what has not been taken.
package final class HealthExport {
    /// Why an export cannot be read on.
    package enum Failure: Error, Equatable {
        /// The second time it has samples that it did not have the first time.
        case changed
        /// Samples cannot be kept in a temporary file; SQLite's words.
        case noTemporaryFile(String)
    }

    /// What is to be taken of it.
    package struct Selection: Sendable {
        package var sets: Set<HealthKitSet>
        /// Only what began then or later, in seconds since 1970.
        package var since: Int64?
        /// Whom all of it belongs to.
        package var subject: String?

        package init(sets: Set<HealthKitSet>, since: Int64? = nil, subject: String? = nil) {
            self.sets = sets
            self.since = since
            self.subject = subject
        }
    }

    /// What became of the export's records.
    package struct Tally: Sendable, Equatable {
        /// By kind.
        package var taken: [RecordKind: Int] = [:]
        /// From before `since`.
        package var earlier = 0
        /// Of known types in sets that are not wanted.
        package var unwanted = 0
        /// Without a date, or with a value that is none, or beyond what a record holds.
        package var unreadable = 0
        /// Sums and averages that another app has made of samples.
        package var summarised = 0
        /// Values of blood pressures outside of any.
        package var loosePressures = 0
        /// Of types that have no kind, by their names.
        package var unknown: [String: Int] = [:]
        /// Of types beyond `mostUnknown`.
        package var otherUnknown = 0
        /// Records whose unit has no code, by the unit.
        package var unknownUnits: [String: Int] = [:]
        /// When the earliest of those taken began, and when the latest did.
        package var first: EntryTime?
        package var last: EntryTime?
    }

    /// Different names that are counted apart.
    static let mostUnknown = 200

    let selection: Selection
    package internal(set) var tally = Tally()
    private var entries: [RecordEntry] = []
    private var open: [Sample] = []
    private var census: SampleCensus
    private var isCounted = false
    private var hasChanged = false
    /// Those that may have equals: since the last were put away, and before.
    private var unnumbered: [(entry: RecordEntry, created: Int64?)] = []
    private var putAway: (any EqualSamples)?
    private let makeEqualSamples: () throws -> any EqualSamples
    /// By name; nil for those that the database does not have.
    private var zones: [String: TimeZoneRules?] = [:]
    /// More than anybody travels through.
    private static let mostZones = 64
    /// When the phone made the export.
    private var made: EntryTime?

    /// - Parameter equalSamples: makes the place for samples that may have equals, if there are any.
    package convenience init(
        _ selection: Selection, equalSamples: @escaping () throws -> any EqualSamples
    ) {
        self.init(selection, census: SampleCensus(), equalSamples: equalSamples)
    }

    init(
        _ selection: Selection, census: SampleCensus, equalSamples: @escaping () throws -> any EqualSamples
    ) {
        makeEqualSamples = equalSamples
        self.selection = selection
        self.census = census
    }

    /// The samples are counted, to the end of the document or as far as it can be read: it is told again from here on,
    /// and gives entries.
    package func beginAgain() {
        isCounted = true
        tally = Tally()
        open = []
        made = nil
    }

    /// The entries since it was asked last, but for those that may have equals.
    package func takeEntries() throws(Failure) -> [RecordEntry] {
        if hasChanged { throw .changed }
        if !unnumbered.isEmpty {
            try withTemporaryFile { samples in try samples.add(unnumbered) }
            unnumbered = []
        }
        defer { entries = [] }
        return entries
    }

    /// Leaves out the entries since it was asked last: they are counted, and nothing else is to become of them.
    package func dropEntries() throws(Failure) {
        if hasChanged { throw .changed }
        entries = []
        unnumbered = []
    }

    /// Samples since it was asked last.
    package var entryCount: Int { entries.count + unnumbered.count }

    /// After the end of the document: the next of the entries that may have equals; empty when all were taken.
    package func takeEqualEntries(_ count: Int) throws(Failure) -> [RecordEntry] {
        guard putAway != nil else { return [] }
        return try withTemporaryFile { samples in try samples.next(count) }
    }

    private func withTemporaryFile<Value>(
        _ body: (any EqualSamples) throws -> Value
    ) throws(Failure) -> Value {
        do {
            let samples = try putAway ?? makeEqualSamples()
            putAway = samples
            return try body(samples)
        } catch {
            throw .noTemporaryFile("\(error)")
        }
    }

    // MARK: Elements

    /// Whether an element says anything that is used.
    package static func isOfUse(_ element: String) -> Bool {
        switch element {
        case "Record", "Correlation", "Workout", "WorkoutStatistics", "MetadataEntry", "ExportDate",
            "ActivitySummary":
            true
        default: false
        }
    }

    package func begin(_ element: String, _ attributes: [String: String]) {
        switch element {
        case "Record", "Correlation", "Workout":
            open.append(Sample(element, attributes))
        case "WorkoutStatistics" where !open.isEmpty:
            open[open.count - 1].add(statistics: attributes)
        case "MetadataEntry" where !open.isEmpty:
            open[open.count - 1].add(metadata: attributes)
        case "ExportDate": made = attributes["value"].flatMap { EntryTime($0, in: nil) }
        case "ActivitySummary" where open.isEmpty: takeDay(attributes)
        default: break
        }
    }

    package func end(_ element: String) {
        switch element {
        case "Record", "Correlation", "Workout": break
        default: return
        }
        guard let sample = open.popLast() else { return }
        if let parent = open.last {
            // A food's parts are records of their own besides; a blood pressure's are not.
            if parent.type == HealthKitType.bloodPressure { open[open.count - 1].add(part: sample) }
            return
        }
        take(sample)
    }

    private func take(_ sample: Sample) {
        switch sample.element {
        case "Workout": add(sample, HealthKitType.workout, sample.workoutValues())
        case "Correlation" where sample.type == HealthKitType.bloodPressure:
            guard let type = HealthKitType.quantities[HealthKitType.systolic] else { return }
            tallyParts(sample)
            add(sample, type, sample.pressureValues())
        case "Correlation":
            // Of food: its parts are records of their own.
            break
        default: takeRecord(sample)
        }
    }

    /// What HealthKit added up over a day. A day that was not over has no sums yet.
    private func takeDay(_ attributes: [String: String]) {
        guard let made, let sample = Sample(day: attributes, utcOffset: made.utcOffset),
            let end = sample.end, end.instant <= made.instant
        else { return }
        let sums = sample.sumsOfDay()
        // Nobody wore the watch.
        if case .values(let values, _, _) = sums, values.isEmpty { return }
        add(sample, HealthKitType.day, sums)
    }

    private func takeRecord(_ sample: Sample) {
        if sample.type == HealthKitType.systolic || sample.type == HealthKitType.diastolic {
            // Each is there once more in its blood pressure.
            if isWanted(sample, .biometrics) { tally.loosePressures += 1 }
        } else if let type = HealthKitType.quantities[sample.type] {
            add(sample, type, sample.quantity(type))
        } else if let type = HealthKitType.categories[sample.type] {
            add(sample, type, sample.category(type))
        } else {
            count(sample.type, in: \.unknown)
        }
    }

    /// What is found in a blood pressure is not loose.
    private func tallyParts(_ sample: Sample) {
        guard isWanted(sample, .biometrics) else { return }
        tally.loosePressures -= sample.parts.count
    }

    private func isWanted(_ sample: Sample, _ set: HealthKitSet) -> Bool {
        guard selection.sets.contains(set), let start = sample.start else { return false }
        return selection.since.map { start.instant >= $0 } ?? true
    }

    private func add(
        _ sample: Sample, _ type: HealthKitType, _ content: @autoclosure () -> Sample.Content
    ) {
        guard selection.sets.contains(type.set) else {
            tally.unwanted += 1
            return
        }
        guard let start = sample.start, let end = sample.end, end.instant >= start.instant else {
            tally.unreadable += 1
            return
        }
        if let since = selection.since, start.instant < since {
            tally.earlier += 1
            return
        }
        switch content() {
        case .unreadable: tally.unreadable += 1
        case .unknownUnit(let unit): count(unit, in: \.unknownUnits)
        case .values(let values, let flags, let said):
            let zone = zone(of: sample)
            let offset = zone?.offset(at: start.instant) ?? start.utcOffset
            let endOffset = zone?.offset(at: end.instant) ?? end.utcOffset
            let name = "HEALTHKIT|\(sample.type)|\(sample.timeInName(start, end))|\(said)"
            guard isCounted else { return census.count(name) }
            var entry = RecordEntry(
                kind: type.kind, origin: .appleHealth, start: start.instant,
                end: end.instant == start.instant ? nil : end.instant,
                utcOffset: offset, endUTCOffset: endOffset == offset ? nil : endOffset, timeSource: .imported,
                values: values,
                flags: flags + sample.flags + (sample.isUserEntered ? ["user-entered"] : []),
                subject: selection.subject, source: sample.source, name: name)
            // The queue takes a commit of them as a whole or not at all.
            guard entry.isSound else {
                tally.unreadable += 1
                return
            }
            switch census.standing(of: name) {
            case .alone:
                entry.name += "|1"
                entries.append(entry)
            case .mayHaveEquals: unnumbered.append((entry, sample.created))
            case .unknown: hasChanged = true
            }
            tally.taken[type.kind, default: 0] += 1
            if start.instant < tally.first?.instant ?? .max { tally.first = start }
            if start.instant > tally.last?.instant ?? .min { tally.last = start }
        }
    }

    /// The second time the document has what it did not have the first time.
    func noteChange() { hasChanged = true }

    /// Counts what no kind stands for.
    func leaveOut(unknown name: String) { count(name, in: \.unknown) }

    /// The zone that a sample was made in; nil where it does not say one that the database has.
    private func zone(of sample: Sample) -> TimeZoneRules? {
        guard let name = sample.timeZone else { return nil }
        if let known = zones[name] { return known }
        if zones.count >= Self.mostZones { zones = [:] }
        let rules = try? TimeZoneRules.load(name)
        zones[name] = .some(rules)
        return rules
    }

    private func count(_ name: String, in counts: WritableKeyPath<Tally, [String: Int]>) {
        let name = HealthKitText.bounded(name) ?? "?"
        guard tally[keyPath: counts][name] != nil || tally[keyPath: counts].count < Self.mostUnknown else {
            tally.otherUnknown += 1
            return
        }
        tally[keyPath: counts][name, default: 0] += 1
    }
}
