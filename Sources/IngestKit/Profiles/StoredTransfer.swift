/// How far a device's stored records were read.
package struct StoredRecordsMemory: Sendable, Equatable, Codable {
    /// The newest record of the last transfer that was read to its end.
    package struct Mark: Sendable, Equatable, Codable {
        /// Sequence number, or minutes since the session's start.
        package var number: Int
        /// The record of that number, by which a memory that was cleared or begun anew is known.
        package var id: String

        package init(number: Int, id: String) {
            self.number = number
            self.id = id
        }
    }

    /// Nil when the memory was empty.
    package var mark: Mark?
    /// Whether the device reports all its records or none.
    package var refusesFilters: Bool
    /// The session that the mark's number counts from; nil where the profile has none.
    package var session: String?
    /// The entry's history under which it was read; under another one everything is read again.
    package var history: String?

    package init(
        mark: Mark? = nil, refusesFilters: Bool = false, session: String? = nil, history: String? = nil
    ) {
        self.mark = mark
        self.refusesFilters = refusesFilters
        self.session = session
        self.history = history
    }
}

/// One transfer of stored records over the Record Access Control Point (GATT Specification Supplement
/// 3.190, Glucose Service 1.0.1 section 3.4): asks for what is new, and for all where that cannot be
/// known. Never asks for a deletion.
///
/// A transfer that was interrupted goes on with the last record that it brought, if the device can filter by number and the
/// numbers rose. The device reports that record anew; if it is another one, everything is asked for.
///
/// A generic health sensor is asked for a combined report, which ends with the number of its records;
/// one that has no such operation, for a report like the others'.
package struct StoredTransfer {
    /// What to do after an answer.
    package enum Step: Equatable {
        /// Write this to the control point.
        case ask([UInt8])
        /// Everything came.
        case finished
        /// The device did not report its records; our words for why.
        case failed(String)
        /// Not an answer to what was asked: go on waiting.
        case wait
    }

    /// Ends the report that is under way.
    package static let abort: [UInt8] = [OperationCode.abort, 0x00]
    /// Sequence numbers are of 16 bits. A mark above this is close enough to the end for newer
    /// records to have begun at 0 again, where "greater than or equal" would not find them; devices
    /// keep some thousand records at most.
    static let lastSafeMark = 0xEFFF

    private enum OperationCode {
        static let reportRecords: UInt8 = 0x01
        static let abort: UInt8 = 0x03
        static let response: UInt8 = 0x06
        static let combinedReport: UInt8 = 0x07
        static let combinedReportResponse: UInt8 = 0x08
    }

    private enum Operator {
        static let all: UInt8 = 0x01
        static let greaterThanOrEqual: UInt8 = 0x03
    }

    private enum ResponseCode {
        static let success: UInt8 = 0x01
        static let operationNotSupported: UInt8 = 0x02
        static let noRecordsFound: UInt8 = 0x06
        /// The codes that refuse the query and not the report: operation, operator or operand not
        /// supported or invalid.
        static let refusals: Set<UInt8> = [0x02, 0x03, 0x04, 0x05, 0x09]
    }

    /// Filter type 1: sequence number, time offset, or record number.
    private static let filterType: UInt8 = 0x01

    private let filter: RecordAccess.Filter
    /// What is asked for: from this mark on, or everything when nil.
    private var from: StoredRecordsMemory.Mark?
    /// The mark of the transfer before; nil once the memory turns out to be another one.
    private var mark: StoredRecordsMemory.Mark?
    /// The operation code of the request.
    private var report: UInt8
    /// Ids of records that came, by number. Where numbers begin again any of them may be the newest, and there are
    /// 65,536; elsewhere the newest and the one at the mark are kept.
    private var records: [UInt32: String] = [:]
    /// Numbers of those that stay in the device alone, and how many such have none.
    private var left: Set<UInt32> = []
    private var leftUnnumbered = 0
    /// Whole records of this report, with those that could not be decoded.
    private var count = 0
    private(set) var refusesFilters: Bool
    /// Whether `from` is the last record of a transfer that was interrupted.
    private var goesOn = false
    /// The last record that came and was committed, or that an interrupted transfer had brought.
    private var last: StoredRecordsMemory.Mark?
    /// Records whose contexts have not come, the oldest first: an interrupted transfer goes on with the first of them.
    private var awaiting: [(key: UInt32, mark: StoredRecordsMemory.Mark)] = []
    /// Whether each record that came was newer than the one before.
    private var isRising = true

    /// - Parameters:
    ///   - memory: after the last transfer that was read to its end.
    ///   - interrupted: after one that was not, if the next is to go on where it was.
    package init(
        filter: RecordAccess.Filter, memory: StoredRecordsMemory?, interrupted: StoredRecordsMemory? = nil
    ) {
        self.filter = filter
        mark = memory?.mark
        refusesFilters = memory?.refusesFilters ?? false
        report =
            filter == .recordNumber ? OperationCode.combinedReport : OperationCode.reportRecords
        goesOn = interrupted?.mark != nil && !refusesFilters
        guard filter != .none, !refusesFilters, let mark = interrupted?.mark ?? memory?.mark, mark.number >= 0
        else { return }
        // Time offsets do not begin again within a session.
        guard Self.key(mark.number, filter) != nil else { return }
        if !filter.beginsAgain || mark.number <= Self.lastSafeMark { from = mark }
        goesOn = goesOn && from != nil
        if goesOn { last = from }
    }

    /// A record's number as the control point has it; nil for one that it cannot have.
    private static func key(_ number: Int, _ filter: RecordAccess.Filter) -> UInt32? {
        filter.numberSize == 4 ? UInt32(exactly: number) : UInt16(exactly: number).map(UInt32.init)
    }

    /// Whether a record is newer than another. Numbers that begin again follow on their circle within
    /// half of its length.
    private func isNewer(_ key: UInt32, than other: UInt32) -> Bool {
        guard filter.beginsAgain else { return key > other }
        let distance = UInt16(truncatingIfNeeded: key) &- UInt16(truncatingIfNeeded: other)
        return distance != 0 && distance <= UInt16(Int16.max)
    }

    /// What to write first.
    package var request: [UInt8] {
        guard let from else { return [report, Operator.all] }
        let number = (0..<filter.numberSize).map { UInt8(truncatingIfNeeded: from.number >> (8 * $0)) }
        return [report, Operator.greaterThanOrEqual, Self.filterType] + number
    }

    /// A whole record came, whatever becomes of it.
    package mutating func came() {
        count += 1
    }

    /// A record came and was committed.
    /// - Parameter awaitsContext: whether the device has announced a context of it.
    package mutating func took(number: Int, id: RecordID, awaitsContext: Bool = false) {
        guard let key = Self.key(number, filter) else { return }
        // What is asked for from a number on begins with that number, if it comes in order.
        let before = (last ?? from).flatMap { Self.key($0.number, filter) }
        if let before, key != before, last == nil || !isNewer(key, than: before) { isRising = false }
        let taken = StoredRecordsMemory.Mark(number: number, id: id.text)
        last = taken
        if awaitsContext { awaiting.append((key, taken)) }
        records[key] = id.text
        guard !filter.beginsAgain else { return }
        let kept = [records.keys.max()] + [mark, from].map { $0.flatMap { Self.key($0.number, filter) } }
        records = records.filter { kept.contains($0.key) }
    }

    /// The context of a record came and was committed, after the record.
    package mutating func contextCame(of number: Int) {
        guard let key = Self.key(number, filter), let index = awaiting.firstIndex(where: { $0.key == key })
        else {
            return
        }
        awaiting.remove(at: index)
    }

    /// Ids that are kept.
    var keptCount: Int { records.count }

    /// A record came that stays in the device alone.
    package mutating func left(number: Int?, id: RecordID) {
        guard let number, let key = Self.key(number, filter) else {
            leftUnnumbered += 1
            return
        }
        left.insert(key)
        took(number: number, id: id)
    }

    /// Whether a record was there when the memory was last read to its end: those up to the mark.
    package func wasThere(number: Int) -> Bool {
        guard let mark, let key = Self.key(number, filter), let last = Self.key(mark.number, filter)
        else { return false }
        return key == last || isNewer(last, than: key)
    }

    /// How many records stay in the device alone that the transfer before has not seen.
    package var leftCount: Int {
        if goesOn, let from = from.flatMap({ Self.key($0.number, filter) }) {
            return left.count { isNewer($0, than: from) } + leftUnnumbered
        }
        guard let mark, let number = Self.key(mark.number, filter), records[number] == mark.id else {
            return left.count + leftUnnumbered
        }
        return left.count { isNewer($0, than: number) } + leftUnnumbered
    }

    /// The control point answered.
    package mutating func answered(_ value: [UInt8]) -> Step {
        let isCombined = report == OperationCode.combinedReport
        switch value.first {
        case OperationCode.response: break
        case OperationCode.combinedReportResponse where isCombined: return reported(value)
        default: return .wait
        }
        guard value.count >= 4 else { return .failed(Self.tooShort) }
        guard value[2] == report else { return .wait }
        let code = value[3]
        if code == ResponseCode.success { return reported() }
        if code == ResponseCode.operationNotSupported, isCombined {
            report = OperationCode.reportRecords
            return .ask(request)
        }
        if code == ResponseCode.noRecordsFound {
            mark = nil
            return from == nil ? .finished : askForAll()
        }
        if ResponseCode.refusals.contains(code), from != nil {
            refusesFilters = true
            return askForAll()
        }
        return .failed("it did not report its stored records (response code \(code))")
    }

    private static let tooShort = "its answer at the control point is too short"

    /// A combined report ended, and says how many records it had.
    private mutating func reported(_ response: [UInt8]) -> Step {
        // Four bytes; two, as in the other services, are understood.
        let number = response.dropFirst(2).prefix(4)
        guard number.count >= 2 else { return .failed(Self.tooShort) }
        let told = number.reversed().reduce(0) { $0 << 8 | Int($1) }
        guard count >= told else {
            return .failed("it says that it reported \(told.counted("record")), and \(count) came")
        }
        return reported()
    }

    /// The report ended.
    private mutating func reported() -> Step {
        guard let from else { return .finished }
        // With another record at the mark, or none, the memory is not the one that was read.
        if let key = Self.key(from.number, filter), records[key] == from.id { return .finished }
        mark = nil
        return askForAll()
    }

    private mutating func askForAll() -> Step {
        from = nil
        goesOn = false
        last = nil
        awaiting = []
        isRising = true
        count = 0
        records = [:]
        left = []
        leftUnnumbered = 0
        return .ask(request)
    }

    /// What to remember after a transfer that was interrupted; nil if the next one cannot go on where it was.
    package func interruption(session: String?, history: String?) -> StoredRecordsMemory? {
        guard filter != .none, !refusesFilters, isRising, let mark = awaiting.first?.mark ?? last else {
            return nil
        }
        return StoredRecordsMemory(mark: mark, session: session, history: history)
    }

    /// What to remember after a transfer that was finished.
    package func memory(session: String?, history: String?) -> StoredRecordsMemory {
        let newest: UInt32? =
            if filter.beginsAgain {
                Self.newest(of: records.keys.map { UInt16(truncatingIfNeeded: $0) }).map(UInt32.init)
            } else {
                records.keys.max()
            }
        let mark = newest.flatMap { number in
            records[number].map { StoredRecordsMemory.Mark(number: Int(number), id: $0) }
        }
        return StoredRecordsMemory(
            mark: mark, refusesFilters: refusesFilters, session: session, history: history)
    }

    /// The newest of sequence numbers. Where they have begun at 0 again, they lie on a circle with one
    /// large gap: the newest is the one before it.
    static func newest(of numbers: [UInt16]) -> UInt16? {
        let sorted = numbers.sorted()
        guard let first = sorted.first, let last = sorted.last else { return nil }
        var newest = last
        var widest = first &- last
        for (number, next) in zip(sorted, sorted.dropFirst()) where next - number > widest {
            newest = number
            widest = next - number
        }
        return newest
    }
}
