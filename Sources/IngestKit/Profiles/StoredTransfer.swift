/// How far a device's stored records were read.
public struct StoredRecordsMemory: Sendable, Equatable, Codable {
    /// The newest record of the last transfer that was read to its end.
    public struct Mark: Sendable, Equatable, Codable {
        /// Sequence number, or minutes since the session's start.
        public var number: Int
        /// The record of that number, by which a memory that was cleared or begun anew is known.
        public var id: String

        public init(number: Int, id: String) {
            self.number = number
            self.id = id
        }
    }

    /// Nil when the memory was empty.
    public var mark: Mark?
    /// Whether the device reports all its records or none.
    public var refusesFilters: Bool
    /// The session that the mark's number counts from; nil where the profile has none.
    public var session: String?
    /// The entry's history under which it was read; under another one everything is read again.
    public var history: String?

    public init(
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
struct StoredTransfer {
    /// What to do after an answer.
    enum Step: Equatable {
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
    static let abort: [UInt8] = [OperationCode.abort, 0x00]
    /// Sequence numbers are of 16 bits. A mark above this is close enough to the end for newer
    /// records to have begun at 0 again, where "greater than or equal" would not find them; devices
    /// keep some thousand records at most.
    static let lastSafeMark = 0xEFFF

    private enum OperationCode {
        static let reportRecords: UInt8 = 0x01
        static let abort: UInt8 = 0x03
        static let numberOfRecords: UInt8 = 0x05
        static let response: UInt8 = 0x06
    }

    private enum Operator {
        static let all: UInt8 = 0x01
        static let greaterThanOrEqual: UInt8 = 0x03
    }

    private enum ResponseCode {
        static let success: UInt8 = 0x01
        static let noRecordsFound: UInt8 = 0x06
        /// The codes that refuse the query and not the report: operation, operator or operand not
        /// supported or invalid.
        static let refusals: Set<UInt8> = [0x02, 0x03, 0x04, 0x05, 0x09]
    }

    /// Filter type 1: sequence number, or time offset.
    private static let filterType: UInt8 = 0x01

    private let filter: RecordAccess.Filter
    /// What is asked for: from this mark on, or everything when nil.
    private var from: StoredRecordsMemory.Mark?
    /// The mark of the transfer before; nil once the memory turns out to be another one.
    private var mark: StoredRecordsMemory.Mark?
    private var records: [UInt16: String] = [:]
    /// Numbers of those that stay in the device alone, and how many such have none.
    private var left: Set<UInt16> = []
    private var leftUnnumbered = 0
    private(set) var refusesFilters: Bool

    init(filter: RecordAccess.Filter, memory: StoredRecordsMemory?) {
        self.filter = filter
        mark = memory?.mark
        refusesFilters = memory?.refusesFilters ?? false
        guard filter != .none, !refusesFilters, let mark = memory?.mark, mark.number >= 0 else { return }
        // Time offsets do not begin again within a session.
        let last = filter == .sequenceNumber ? Self.lastSafeMark : 0xFFFF
        if mark.number <= last { from = mark }
    }

    /// What to write first.
    var request: [UInt8] {
        guard let from else { return [OperationCode.reportRecords, Operator.all] }
        let number = UInt16(truncatingIfNeeded: from.number)
        return [
            OperationCode.reportRecords, Operator.greaterThanOrEqual, Self.filterType,
            UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8),
        ]
    }

    /// A record came.
    mutating func took(number: Int, id: RecordID) {
        guard let number = UInt16(exactly: number) else { return }
        records[number] = id.text
    }

    /// A record came that stays in the device alone.
    mutating func left(number: Int?, id: RecordID) {
        guard let number, let key = UInt16(exactly: number) else {
            leftUnnumbered += 1
            return
        }
        left.insert(key)
        took(number: number, id: id)
    }

    /// Whether a record was there when the memory was last read to its end: those up to the mark.
    func wasThere(number: Int) -> Bool {
        guard let mark, let key = UInt16(exactly: number), let last = UInt16(exactly: mark.number) else {
            return false
        }
        return filter == .sequenceNumber ? last &- key <= UInt16(Int16.max) : key <= last
    }

    /// How many records stay in the device alone that the transfer before has not seen.
    var leftCount: Int {
        guard let mark, let number = UInt16(exactly: mark.number), records[number] == mark.id else {
            return left.count + leftUnnumbered
        }
        // Newer ones follow on the circle of numbers within half of its length.
        let newer = left.count { $0 != number && $0 &- number <= UInt16(Int16.max) }
        return newer + leftUnnumbered
    }

    /// The control point answered.
    mutating func answered(_ value: [UInt8]) -> Step {
        guard value.first == OperationCode.response else { return .wait }
        guard value.count >= 4 else { return .failed("its answer at the control point is too short") }
        guard value[2] == OperationCode.reportRecords else { return .wait }
        let code = value[3]
        if code == ResponseCode.success {
            guard let from else { return .finished }
            // With another record at the mark, or none, the memory is not the one that was read.
            let isKnown = records[UInt16(truncatingIfNeeded: from.number)] == from.id
            if isKnown { return .finished }
            mark = nil
            return askForAll()
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

    private mutating func askForAll() -> Step {
        from = nil
        records = [:]
        left = []
        leftUnnumbered = 0
        return .ask(request)
    }

    /// What to remember after a transfer that was finished.
    func memory(session: String?, history: String?) -> StoredRecordsMemory {
        let mark = Self.newest(of: Array(records.keys), wraps: filter == .sequenceNumber).flatMap { number in
            records[number].map { StoredRecordsMemory.Mark(number: Int(number), id: $0) }
        }
        return StoredRecordsMemory(
            mark: mark, refusesFilters: refusesFilters, session: session, history: history)
    }

    /// The newest of sequence numbers. Where they have begun at 0 again, they lie on a circle with one
    /// large gap: the newest is the one before it.
    static func newest(of numbers: [UInt16], wraps: Bool) -> UInt16? {
        let sorted = numbers.sorted()
        guard wraps, let first = sorted.first, let last = sorted.last else { return sorted.last }
        var newest = last
        var widest = first &- last
        for (number, next) in zip(sorted, sorted.dropFirst()) where next - number > widest {
            newest = number
            widest = next - number
        }
        return newest
    }
}
