import Testing

@testable import IngestProfiles

/// The pure side of a transfer over the Record Access Control Point.
@Suite struct StoredTransferTests {
    private static let all: [UInt8] = [0x01, 0x01]
    private static let combined: [UInt8] = [0x07, 0x01]
    private static let success: [UInt8] = [0x06, 0x00, 0x01, 0x01]
    private static let noRecords: [UInt8] = [0x06, 0x00, 0x01, 0x06]

    private static func marked(
        _ number: Int, _ id: String = "a", refusesFilters: Bool = false
    ) -> StoredRecordsMemory {
        StoredRecordsMemory(
            mark: .init(number: number, id: id), refusesFilters: refusesFilters, session: nil, history: "all")
    }

    private func id(_ text: String) -> RecordID { RecordID(text: text) }

    @Test(
        arguments: [
            // never read; the memory was empty; from the mark on; the meter refuses filters; so close to
            // the end of the numbers that newer ones may have begun at 0 again
            (nil, .sequenceNumber, all),
            (StoredRecordsMemory(), .sequenceNumber, all),
            (marked(0x0102), .sequenceNumber, [0x01, 0x03, 0x01, 0x02, 0x01]),
            (marked(0), .sequenceNumber, [0x01, 0x03, 0x01, 0x00, 0x00]),
            (marked(7, refusesFilters: true), .sequenceNumber, all),
            (marked(0xEFFF), .sequenceNumber, [0x01, 0x03, 0x01, 0xFF, 0xEF]),
            (marked(0xF000), .sequenceNumber, all),
            (marked(0xF000), .timeOffset, [0x01, 0x03, 0x01, 0x00, 0xF0]),
            (marked(7), .none, all),
            // the combined report of a generic health sensor, with numbers of four bytes
            (nil, .recordNumber, combined),
            (marked(0x0102_0304), .recordNumber, [0x07, 0x03, 0x01, 0x04, 0x03, 0x02, 0x01]),
            (marked(0xFFFF_FFFF), .recordNumber, [0x07, 0x03, 0x01, 0xFF, 0xFF, 0xFF, 0xFF]),
            // no number of theirs
            (marked(0x1_0000), .timeOffset, all),
            (marked(0x1_0000_0000), .recordNumber, combined),
            (marked(-1), .recordNumber, combined),
        ] as [(StoredRecordsMemory?, RecordAccess.Filter, [UInt8])])
    func asksForWhatIsNewWhereThatCanBeKnown(
        memory: StoredRecordsMemory?, filter: RecordAccess.Filter, request: [UInt8]
    ) {
        #expect(StoredTransfer(filter: filter, memory: memory).request == request)
    }

    @Test func aFirstTransferMarksItsNewestRecord() {
        var transfer = StoredTransfer(filter: .sequenceNumber, memory: nil)
        // Newest first, as some meters send.
        for (number, name) in [(3, "c"), (2, "b"), (1, "a")] { transfer.took(number: number, id: id(name)) }
        #expect(transfer.answered(Self.success) == .finished)
        #expect(transfer.memory(session: nil, history: "all") == Self.marked(3, "c"))
    }

    @Test func theRecordAtTheMarkIsKnownAgain() {
        var transfer = StoredTransfer(filter: .sequenceNumber, memory: Self.marked(3, "c"))
        for (number, name) in [(4, "d"), (3, "c")] { transfer.took(number: number, id: id(name)) }
        #expect(transfer.answered(Self.success) == .finished)
        #expect(transfer.memory(session: nil, history: "all") == Self.marked(4, "d"))
    }

    @Test(
        arguments: [
            // another record at the mark; newer ones only; nothing from the mark on
            ([(3, "x"), (4, "d")], success),
            ([(4, "d")], success),
            ([], noRecords),
        ] as [([(Int, String)], [UInt8])])
    func aMemoryThatWasClearedOrBegunAnewIsReadWhole(records: [(Int, String)], answer: [UInt8]) {
        var transfer = StoredTransfer(filter: .sequenceNumber, memory: Self.marked(3, "c"))
        for (number, name) in records { transfer.took(number: number, id: id(name)) }
        #expect(transfer.answered(answer) == .ask(Self.all))
        transfer.took(number: 1, id: id("y"))
        #expect(transfer.answered(Self.success) == .finished)
        #expect(transfer.memory(session: nil, history: "all") == Self.marked(1, "y"))
    }

    @Test(
        arguments: [
            // the first transfer; the record at the mark again; a newer one beside it; older ones too,
            // of a meter that refuses filters; the mark is another record
            (nil, [(1, "a"), (2, "b")], 2),
            (marked(2, "b"), [(2, "b")], 0),
            (marked(2, "b"), [(2, "b"), (3, "c")], 1),
            (marked(2, "b", refusesFilters: true), [(1, "a"), (2, "b"), (3, "c")], 1),
            (marked(2, "b", refusesFilters: true), [(1, "x"), (2, "y")], 2),
        ] as [(StoredRecordsMemory?, [(Int, String)], Int)])
    func whatStaysInTheDeviceIsCountedOnce(
        memory: StoredRecordsMemory?, records: [(Int, String)], count: Int
    ) {
        var transfer = StoredTransfer(filter: .sequenceNumber, memory: memory)
        for (number, name) in records { transfer.left(number: number, id: id(name)) }
        #expect(transfer.answered(Self.success) == .finished)
        #expect(transfer.leftCount == count)
    }

    @Test func anEmptyMemoryIsATransferWithoutAMark() {
        var transfer = StoredTransfer(filter: .sequenceNumber, memory: nil)
        #expect(transfer.answered(Self.noRecords) == .finished)
        #expect(transfer.memory(session: nil, history: "all").mark == nil)
    }

    @Test(arguments: [0x02, 0x03, 0x04, 0x05, 0x09] as [UInt8])
    func aMeterThatRefusesFiltersIsAskedForAllAndRemembered(code: UInt8) {
        var transfer = StoredTransfer(filter: .sequenceNumber, memory: Self.marked(3))
        #expect(transfer.answered([0x06, 0x00, 0x01, code]) == .ask(Self.all))
        transfer.took(number: 3, id: id("a"))
        #expect(transfer.answered(Self.success) == .finished)
        #expect(transfer.memory(session: nil, history: "all") == Self.marked(3, refusesFilters: true))
        // Refusing to report at all is something else.
        var first = StoredTransfer(filter: .sequenceNumber, memory: nil)
        #expect(
            first.answered([0x06, 0x00, 0x01, code])
                == .failed("it did not report its stored records (response code \(code))"))
    }

    @Test(
        arguments: [
            // not completed; an unknown code; a response that is too short
            ([0x06, 0x00, 0x01, 0x08], .failed("it did not report its stored records (response code 8)")),
            ([0x06, 0x00, 0x01, 0xFF], .failed("it did not report its stored records (response code 255)")),
            ([0x06, 0x00, 0x01], .failed("its answer at the control point is too short")),
            // a number of records, the answer to an abort, nothing
            ([0x05, 0x00, 0x32, 0x00], .wait),
            ([0x06, 0x00, 0x03, 0x01], .wait),
            ([], .wait),
        ] as [([UInt8], StoredTransfer.Step)])
    func otherAnswersEndItOrAreNotForIt(answer: [UInt8], step: StoredTransfer.Step) {
        var transfer = StoredTransfer(filter: .sequenceNumber, memory: Self.marked(3))
        #expect(transfer.answered(answer) == step)
    }

    @Test(
        arguments: [
            ([], nil),
            ([7], 7),
            ([1, 2, 3], 3),
            ([0, 1, 2, 65_533, 65_534, 65_535], 2),
            ([65_534, 65_535], 65_535),
            // with records in between that the user deleted
            ([100, 101, 140], 140),
            ([65_000, 65_400, 5], 5),
        ] as [([UInt16], UInt16?)])
    func theNewestNumberIsTheOneBeforeTheGap(numbers: [UInt16], newest: UInt16?) {
        #expect(StoredTransfer.newest(of: numbers.shuffled()) == newest)
    }

    @Test(arguments: [RecordAccess.Filter.timeOffset, .recordNumber])
    func numbersThatDoNotBeginAgainHaveTheirNewestLast(filter: RecordAccess.Filter) {
        var transfer = StoredTransfer(filter: filter, memory: nil)
        for number in [65_000, 0, 1] { transfer.took(number: number, id: id("\(number)")) }
        #expect(transfer.memory(session: nil, history: "all") == Self.marked(65_000, "65000"))
    }

    // MARK: Combined reports

    /// Answers to a report from the mark at 3 of which so many records came.
    private func combinedTransfer(from number: Int = 3, came: Int) -> StoredTransfer {
        var transfer = StoredTransfer(filter: .recordNumber, memory: Self.marked(number, "\(number)"))
        for place in 0..<came {
            transfer.came()
            transfer.took(number: number + place, id: id("\(number + place)"))
        }
        return transfer
    }

    @Test(
        arguments: [
            // all came; more than it says; two bytes; fewer than it says
            (2, [0x08, 0, 2, 0, 0, 0], .finished),
            (3, [0x08, 0, 2, 0, 0, 0], .finished),
            (2, [0x08, 0, 2, 0], .finished),
            (1, [0x08, 0, 2, 0, 0, 0], .failed("it says that it reported 2 records, and 1 came")),
            (
                1, [0x08, 0, 0, 0, 0, 0xFF],
                .failed("it says that it reported 4278190080 records, and 1 came")
            ),
            (1, [0x08, 0, 1], .failed("its answer at the control point is too short")),
            // nothing new; the answers to other operations; one that a plain report would have
            (0, [0x06, 0, 0x07, 0x06], .ask(combined)),
            (1, [0x06, 0, 0x03, 0x01], .wait),
            (1, [0x06, 0, 0x01, 0x01], .wait),
            (1, [0x06, 0, 0x07, 0x01], .finished),
            // refuses filters; is busy
            (0, [0x06, 0, 0x07, 0x04], .ask(combined)),
            (0, [0x06, 0, 0x07, 0x0A], .failed("it did not report its stored records (response code 10)")),
        ] as [(Int, [UInt8], StoredTransfer.Step)])
    func aCombinedReportEndsWithItsNumberOfRecords(came: Int, answer: [UInt8], step: StoredTransfer.Step) {
        var transfer = combinedTransfer(came: came)
        #expect(transfer.answered(answer) == step)
    }

    @Test func aReportThatIsAskedForAnewIsCountedAnew() {
        var transfer = StoredTransfer(filter: .recordNumber, memory: Self.marked(3, "other"))
        transfer.came()
        transfer.took(number: 3, id: id("3"))
        #expect(transfer.answered([0x08, 0, 1, 0, 0, 0]) == .ask(Self.combined))
        #expect(
            transfer.answered([0x08, 0, 1, 0, 0, 0])
                == .failed("it says that it reported 1 record, and 0 came"))
    }

    @Test func aSensorWithoutCombinedReportIsAskedForAPlainOne() {
        var transfer = combinedTransfer(came: 0)
        let notSupported: [UInt8] = [0x06, 0, 0x07, 0x02]
        #expect(transfer.answered(notSupported) == .ask([0x01, 0x03, 0x01, 3, 0, 0, 0]))
        // Only the answer to the report that was asked for last counts.
        #expect(transfer.answered(notSupported) == .wait)
        #expect(transfer.answered([0x08, 0, 0, 0, 0, 0]) == .wait)
        transfer.took(number: 3, id: id("3"))
        #expect(transfer.answered(Self.success) == .finished)
        #expect(!transfer.refusesFilters)
    }

    @Test func theOthersAreNeverAskedForACombinedReport() {
        var transfer = StoredTransfer(filter: .sequenceNumber, memory: nil)
        #expect(transfer.answered([0x08, 0, 0, 0, 0, 0]) == .wait)
    }

    @Test(
        arguments: [
            (
                .sequenceNumber, 7,
                [(7, true), (3, true), (0, true), (65_535, true), (8, false), (300, false)]
            ),
            // numbers that have begun at 0 again
            (.sequenceNumber, 65_535, [(65_535, true), (65_000, true), (0, false), (20, false)]),
            (.timeOffset, 40_000, [(40_000, true), (5, true), (40_005, false), (65_535, false)]),
            (.recordNumber, 70_000, [(70_000, true), (5, true), (70_001, false), (4_000_000_000, false)]),
        ] as [(RecordAccess.Filter, Int, [(Int, Bool)])])
    func whatWasThereAtTheLastTransferIsUpToTheMark(
        filter: RecordAccess.Filter, mark: Int, numbers: [(Int, Bool)]
    ) {
        let transfer = StoredTransfer(filter: filter, memory: Self.marked(mark))
        for (number, wasThere) in numbers { #expect(transfer.wasThere(number: number) == wasThere) }
        #expect(!StoredTransfer(filter: filter, memory: nil).wasThere(number: 7))
    }

    @Test func aMemoryThatWasClearedHasNothingThatWasThere() {
        var transfer = StoredTransfer(filter: .sequenceNumber, memory: Self.marked(500))
        #expect(transfer.answered(Self.noRecords) == .ask(Self.all))
        #expect(!transfer.wasThere(number: 3))
        // A meter that refuses filters may still have all that was read.
        var other = StoredTransfer(filter: .sequenceNumber, memory: Self.marked(500))
        #expect(other.answered([0x06, 0x00, 0x01, 0x04]) == .ask(Self.all))
        #expect(other.wasThere(number: 3))
    }

    @Test func neverAsksForADeletion() {
        // Operation code 0x02 deletes (GATT Specification Supplement 3.190).
        var requests = [StoredTransfer.abort]
        for memory in [nil, Self.marked(3), Self.marked(0xFFFF)] {
            for filter in [RecordAccess.Filter.sequenceNumber, .timeOffset, .recordNumber, .none] {
                var transfer = StoredTransfer(filter: filter, memory: memory)
                requests.append(transfer.request)
                for report in [0x01, 0x07] as [UInt8] {
                    for code in UInt8.min...UInt8.max {
                        if case .ask(let request) = transfer.answered([0x06, 0x00, report, code]) {
                            requests.append(request)
                        }
                    }
                }
            }
        }
        #expect(requests.allSatisfy { [0x01, 0x03, 0x07].contains($0.first) })
    }
}

extension StoredTransferTests {
    @Test(arguments: [(RecordAccess.Filter.recordNumber, 2), (.timeOffset, 2), (.sequenceNumber, 65_536)])
    func idsAreKeptAsFarAsTheyAreNeeded(filter: RecordAccess.Filter, most: Int) {
        let memory = StoredRecordsMemory(mark: .init(number: 5, id: "5"), session: nil, history: "all")
        var transfer = StoredTransfer(filter: filter, memory: memory)
        for number in (0..<70_000).reversed() {
            transfer.took(number: number, id: RecordID(text: "\(number)"))
            #expect(transfer.keptCount <= most)
        }
        #expect(transfer.answered([0x06, 0x00, transfer.request[0], 0x01]) == .finished)
        let newest = filter == .recordNumber ? 69_999 : 65_535
        let mark = transfer.memory(session: nil, history: "all").mark
        #expect(mark == .init(number: newest, id: "\(newest)"))
    }

    // MARK: Interrupted transfers

    /// A transfer that has brought these records, in this order, and was interrupted.
    private static func interrupted(
        _ records: [(Int, String)], after memory: StoredRecordsMemory? = nil,
        _ interruption: StoredRecordsMemory? = nil, filter: RecordAccess.Filter = .sequenceNumber
    ) -> StoredRecordsMemory? {
        var transfer = StoredTransfer(filter: filter, memory: memory, interrupted: interruption)
        for (number, name) in records { transfer.took(number: number, id: RecordID(text: name)) }
        return transfer.interruption(session: nil, history: "all")
    }

    @Test func anInterruptedTransferGoesOnWithItsLastRecordAndKeepsTheMark() {
        let interruption = Self.interrupted([(3, "c"), (4, "d"), (5, "e")], after: Self.marked(3, "c"))
        #expect(interruption == Self.marked(5, "e"))
        var transfer = StoredTransfer(
            filter: .sequenceNumber, memory: Self.marked(3, "c"), interrupted: interruption)
        #expect(transfer.request == [0x01, 0x03, 0x01, 0x05, 0x00])
        // What was there before is what the last whole transfer has seen.
        #expect(transfer.wasThere(number: 3))
        #expect(!transfer.wasThere(number: 4))
        for (number, name) in [(5, "e"), (6, "f")] { transfer.took(number: number, id: id(name)) }
        #expect(transfer.answered(Self.success) == .finished)
        #expect(transfer.memory(session: nil, history: "all") == Self.marked(6, "f"))
    }

    @Test func aTransferIsReadInAnyNumberOfPieces() {
        var interruption: StoredRecordsMemory?
        for start in [1, 3, 6] {
            interruption = Self.interrupted([(start, "\(start)"), (start + 1, "\(start + 1)")], interruption)
            #expect(interruption == Self.marked(start + 1, "\(start + 1)"))
        }
        // A link on which nothing came changes nothing.
        #expect(Self.interrupted([], interruption) == interruption)
        var transfer = StoredTransfer(filter: .sequenceNumber, memory: nil, interrupted: interruption)
        for number in 7...9 { transfer.took(number: number, id: id("\(number)")) }
        #expect(transfer.answered(Self.success) == .finished)
        #expect(transfer.memory(session: nil, history: "all") == Self.marked(9, "9"))
    }

    @Test func everythingIsReadIfTheLastRecordIsAnotherOne() {
        for records in [[(5, "x"), (6, "y")], [(6, "y")]] {
            var transfer = StoredTransfer(
                filter: .sequenceNumber, memory: Self.marked(3, "c"), interrupted: Self.marked(5, "e"))
            for (number, name) in records { transfer.took(number: number, id: id(name)) }
            #expect(transfer.answered(Self.success) == .ask(Self.all))
            transfer.took(number: 1, id: id("y"))
            #expect(transfer.interruption(session: nil, history: "all") == Self.marked(1, "y"))
            #expect(transfer.answered(Self.success) == .finished)
            #expect(transfer.memory(session: nil, history: "all") == Self.marked(1, "y"))
        }
    }

    @Test(
        arguments: [
            // newest first; in another order; not beginning with what was asked for
            ([(5, "e"), (4, "d")], nil, .sequenceNumber),
            ([(1, "a"), (3, "c"), (2, "b")], nil, .sequenceNumber),
            ([(4, "d"), (5, "e")], marked(3, "c"), .sequenceNumber),
            // nothing came; the device cannot filter, or the profile has no numbers
            ([], nil, .sequenceNumber),
            ([(1, "a"), (2, "b")], marked(1, "a", refusesFilters: true), .sequenceNumber),
            ([(1, "a"), (2, "b")], nil, .none),
        ] as [([(Int, String)], StoredRecordsMemory?, RecordAccess.Filter)])
    func aTransferThatCannotGoOnBeginsAgain(
        records: [(Int, String)], memory: StoredRecordsMemory?, filter: RecordAccess.Filter
    ) {
        #expect(Self.interrupted(records, after: memory, filter: filter) == nil)
    }

    @Test func aTransferGoesOnWithTheFirstRecordWhoseContextHasNotCome() {
        var transfer = StoredTransfer(filter: .sequenceNumber, memory: nil)
        for number in 1...4 { transfer.took(number: number, id: id("\(number)"), awaitsContext: number > 1) }
        for (context, number) in [(2, 3), (4, 3), (3, 4)] {
            transfer.contextCame(of: context)
            #expect(transfer.interruption(session: nil, history: "all") == Self.marked(number, "\(number)"))
        }
    }

    @Test func whatStaysInTheDeviceIsCountedOnceInAllPieces() {
        var first = StoredTransfer(filter: .sequenceNumber, memory: nil)
        for number in 1...3 { first.left(number: number, id: id("\(number)")) }
        #expect(first.leftCount == 3)
        var second = StoredTransfer(
            filter: .sequenceNumber, memory: nil,
            interrupted: first.interruption(session: nil, history: "all"))
        for number in 3...5 { second.left(number: number, id: id("\(number)")) }
        #expect(second.leftCount == 2)
    }
}

@Suite struct StreamSamplerTests {
    /// Offers a value a second, of which `isUsable` says which are, and returns what is taken when.
    private func taken(_ usable: [Bool], interval: Int) -> [Int] {
        var sampler = StreamSampler<Int>(interval: .seconds(interval))
        var taken: [Int] = []
        for (second, isUsable) in usable.enumerated() {
            let now = MonotonicInstant(nanoseconds: UInt64(second) * 1_000_000_000)
            taken += sampler.offer(second, isUsable: isUsable, at: now)
        }
        return taken + sampler.flush()
    }

    @Test(
        arguments: [
            // the first of each interval
            ([true, true, true, true, true, true, true], [0, 3, 6]),
            // the first that says something
            ([false, true, true, false, false, true, false], [1, 5, 6]),
            // of an interval that says nothing, the last
            ([false, false, false, true], [2, 3]),
            ([false, false], [1]),
            ([], []),
        ] as [([Bool], [Int])])
    func eachIntervalGivesOneValue(usable: [Bool], expected: [Int]) {
        #expect(taken(usable, interval: 3) == expected)
    }
}
