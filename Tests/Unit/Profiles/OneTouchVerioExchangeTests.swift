import TestSupport
import Testing

@testable import IngestProfiles

@Suite struct OneTouchVerioExchangeTests {
    typealias Exchange = OneTouchVerioExchange

    /// A meter as far as an exchange sees it.
    struct Meter {
        /// By number; numbers in between may be missing.
        var records: [UInt16: [UInt8]] = [:]
        var highest: UInt32
        var count: UInt16
        /// How many octets of a frame go into a packet.
        var octetsPerPacket = 19
        /// The status of every answer.
        var status: UInt8 = 0x06
        private(set) var asked: [UInt16] = []

        init(_ numbers: ClosedRange<UInt16>) {
            for number in numbers { records[number] = Self.record(number) }
            highest = UInt32(numbers.upperBound)
            count = UInt16(numbers.count)
        }

        /// A test of as many mg/dL as its number says, a minute after the one before.
        static func record(_ number: UInt16, offset: UInt8 = 0) -> [UInt8] {
            let seconds = 848_000_000 + UInt32(number) * 60
            return (0..<4).map { UInt8(truncatingIfNeeded: seconds >> ($0 * 8)) }
                + [UInt8(truncatingIfNeeded: number), UInt8(number >> 8) + offset, 0, 0, 0, 0, 0]
        }

        /// The packets that a command makes it send, its acknowledgement first.
        mutating func answer(_ packet: [UInt8]) throws -> [[UInt8]] {
            guard packet.first == 0x01 else { return [] }
            let frame = Array(packet.dropFirst())
            let payload = Array(frame.dropFirst(4).dropLast(3))
            #expect(OneTouchVerio.frame(payload) == frame)
            return [[0x81]] + packets(OneTouchVerio.frame(try data(payload)))
        }

        private mutating func data(_ command: [UInt8]) throws -> [UInt8] {
            guard status == 0x06 else { return [status] }
            switch command {
            case [0x20, 0x02]: return [0x06, 0x12, 0xCC, 0x92, 0x32]
            case [0x0A, 0x02, 0x06]:
                return [0x06] + (0..<4).map { UInt8(truncatingIfNeeded: highest >> ($0 * 8)) }
            case [0x27, 0x00]: return [0x06, UInt8(count & 0xFF), UInt8(count >> 8)]
            default:
                try #require(command.count == 3 && command[0] == 0xB3)
                let number = UInt16(command[1]) | UInt16(command[2]) << 8
                asked.append(number)
                return records[number].map { [0x06] + $0 } ?? [0x09]
            }
        }

        func packets(_ frame: [UInt8]) -> [[UInt8]] {
            let parts = stride(from: 0, to: frame.count, by: octetsPerPacket).map { start in
                Array(frame[start..<min(start + octetsPerPacket, frame.count)])
            }
            return parts.enumerated().map { index, part in
                [(index == 0 ? 0x00 : 0x40) | UInt8(parts.count - index)] + part
            }
        }
    }

    struct Outcome {
        var records: [Exchange.Record] = []
        var end: Exchange.End?
        var numbers: [UInt16] { records.map(\.number) }
    }

    /// Lets an exchange and a meter talk until the exchange ends.
    static func run(_ exchange: inout Exchange, with meter: inout Meter) throws -> Outcome {
        var outcome = Outcome()
        var step = exchange.start()
        for _ in 0..<200_000 where outcome.end == nil {
            var notifications: [[UInt8]] = []
            for packet in step.packets { notifications += try meter.answer(packet) }
            // Packets of a frame are sent as each is acknowledged; the order is the same.
            try #require(!notifications.isEmpty)
            for notification in notifications {
                step = exchange.received(notification)
                if let record = step.record { outcome.records.append(record) }
                outcome.end = step.end
            }
        }
        return outcome
    }

    private func read(
        _ meter: Meter, after mark: Exchange.Mark? = nil, limit: Int = Exchange.defaultLimit
    ) throws -> (Outcome, asked: [UInt16]) {
        var meter = meter
        var exchange = Exchange(after: mark, limit: limit)
        let outcome = try Self.run(&exchange, with: &meter)
        #expect(exchange.isFinished)
        return (outcome, meter.asked)
    }

    // MARK: The course of things

    @Test func commandsAndAcknowledgementsGoInTurns() throws {
        var exchange = Exchange(after: nil)
        #expect(exchange.start().packets == [OneTouchVerio.Command.readClock.packet])
        #expect(exchange.received([0x81]) == Exchange.Step())
        let clock: [UInt8] = [0x01] + OneTouchVerio.frame([0x06, 0x12, 0xCC, 0x92, 0x32])
        #expect(exchange.received(clock).packets == [[0x81], OneTouchVerio.Command.readHighestNumber.packet])
        #expect(exchange.clock?.description == "2026-11-20T09:14:57")
        _ = exchange.received([0x81])
        let highest: [UInt8] = [0x01] + OneTouchVerio.frame([0x06, 9, 0, 0, 0])
        #expect(exchange.received(highest).packets == [[0x81], OneTouchVerio.Command.readCount.packet])
        _ = exchange.received([0x81])
        let count: [UInt8] = [0x01] + OneTouchVerio.frame([0x06, 1, 0])
        #expect(exchange.received(count).packets == [[0x81], OneTouchVerio.Command.readRecord(9).packet])
        _ = exchange.received([0x81])
        let frame = OneTouchVerio.frame([0x06] + OneTouchVerioTests.record)
        #expect(
            exchange.received([0x01] + frame)
                == Exchange.Step(
                    record: .init(number: 9, payload: OneTouchVerioTests.record, frame: frame),
                    packets: [[0x81]], end: .done(last: 9, hasMore: false)))
        // What comes after the end means nothing.
        #expect(exchange.received([0x01] + frame) == Exchange.Step())
    }

    @Test func nothingIsSaidBeforeTheStart() {
        var exchange = Exchange(after: nil)
        #expect(exchange.received([0x81]) == Exchange.Step())
        #expect(exchange.received([0xFF]) == Exchange.Step())
        #expect(!exchange.start().packets.isEmpty)
        #expect(exchange.start() == Exchange.Step())
    }

    @Test(arguments: [19, 18, 10, 5, 3])
    func aFrameMayComeInSeveralPackets(octetsPerPacket: Int) throws {
        var meter = Meter(1...3)
        meter.octetsPerPacket = octetsPerPacket
        let (outcome, _) = try read(meter)
        #expect(outcome.numbers == [1, 2, 3])
        #expect(outcome.records.map(\.payload) == (1...3).map { Meter.record($0) })
    }

    @Test func everyPacketIsAcknowledgedWithItsCount() {
        var exchange = Exchange(after: nil)
        _ = exchange.start()
        let frame = OneTouchVerio.frame([0x06, 0x12, 0xCC, 0x92, 0x32])
        #expect(exchange.received([0x03] + frame[0..<5]).packets == [[0x83]])
        #expect(exchange.received([0x42] + frame[5..<9]).packets == [[0x82]])
        #expect(exchange.received([0x41] + frame[9...]).packets.first == [0x81])
    }

    // MARK: Which records

    @Test func theFirstTimeEverythingIsRead() throws {
        let (outcome, _) = try read(Meter(70...76))
        #expect(outcome.numbers == Array(70...76))
        #expect(outcome.end == .done(last: 76, hasMore: false))
    }

    @Test func laterOnlyWhatIsNewerThanTheMarkIsRead() throws {
        let (outcome, asked) = try read(Meter(1...50), after: .init(number: 47, record: nil))
        #expect(outcome.numbers == [48, 49, 50])
        #expect(asked == [48, 49, 50])
    }

    @Test func theRecordAtTheMarkIsLookedAtAndNotGivenAgain() throws {
        let (outcome, asked) = try read(Meter(1...50), after: .init(number: 47, record: Meter.record(47)))
        #expect(outcome.numbers == [48, 49, 50])
        #expect(asked == [47, 48, 49, 50])
    }

    @Test func anotherRecordAtTheMarkMeansThatEverythingIsNew() throws {
        let old = Meter.record(47, offset: 1)
        let (outcome, _) = try read(Meter(1...50), after: .init(number: 47, record: old))
        #expect(outcome.numbers == Array(1...50))
        var meter = Meter(1...50)
        meter.records[47] = nil
        let (second, _) = try read(meter, after: .init(number: 47, record: old))
        #expect(second.numbers == (1...50).filter { $0 != 47 })
    }

    @Test(
        arguments: [
            (1...10, 40),  // cleared: the numbers began anew
            (100...110, 40),  // the record at the mark is overwritten
        ] as [(ClosedRange<UInt16>, UInt16)])
    func aMarkThatTheMeterDoesNotKeepMeansThatEverythingIsNew(
        numbers: ClosedRange<UInt16>, mark: UInt16
    ) throws {
        let (outcome, _) = try read(Meter(numbers), after: .init(number: mark, record: [1]))
        #expect(outcome.numbers == Array(numbers))
    }

    @Test func nothingNewIsNoFailure() throws {
        let (outcome, asked) = try read(Meter(1...50), after: .init(number: 50, record: nil))
        #expect(outcome.end == .done(last: nil, hasMore: false))
        #expect(asked == [])
        var empty = Meter(1...1)
        empty.count = 0
        #expect(try read(empty).0.end == .done(last: nil, hasMore: false))
    }

    @Test func whatTheLimitLeavesComesWithTheNextExchange() throws {
        let (first, _) = try read(Meter(1...25), limit: 10)
        #expect(first.numbers == Array(1...10))
        #expect(first.end == .done(last: 10, hasMore: true))
        let mark = Exchange.Mark(number: 10, record: first.records.last?.payload)
        let (second, _) = try read(Meter(1...25), after: mark, limit: .max)
        #expect(second.numbers == Array(11...25))
        #expect(second.end == .done(last: 25, hasMore: false))
    }

    @Test func aNumberWithoutRecordIsPassedOver() throws {
        var meter = Meter(1...6)
        meter.records[1] = nil
        meter.records[4] = []
        meter.records[6] = nil
        let (outcome, asked) = try read(meter)
        #expect(outcome.numbers == [2, 3, 5])
        #expect(asked == Array(1...6))
        #expect(outcome.end == .done(last: 6, hasMore: false))
    }

    @Test func numbersReachTheirEnd() throws {
        let (outcome, _) = try read(Meter(65_530...65_535))
        #expect(outcome.numbers == Array(65_530...65_535))
        let mark = Exchange.Mark(number: 65_535, record: nil)
        #expect(try read(Meter(65_530...65_535), after: mark).0.end == .done(last: nil, hasMore: false))
        var meter = Meter(1...3)
        // More records than numbers.
        meter.count = .max
        #expect(try read(meter).0.numbers == [1, 2, 3])
    }

    // MARK: Failures

    @Test func aRefusalEndsTheExchange() throws {
        var meter = Meter(1...3)
        meter.status = 0x07
        let (outcome, _) = try read(meter)
        #expect(outcome.end == .failed(.refused(status: 7)))
        #expect(Exchange.Failure.refused(status: 7).message.contains("not bonded"))
    }

    @Test func impossibleNumbersEndTheExchange() throws {
        var meter = Meter(1...3)
        meter.highest = 0x1_0000
        #expect(try read(meter).0.end == .failed(.implausibleNumbers))
    }

    @Test(
        arguments: [
            ([], .unexpectedPacket),
            ([0x41, 0x02], .unexpectedPacket),  // goes on with nothing
            ([0x00, 0x02], .unexpectedPacket),
            ([0xC1], .unexpectedPacket),
            ([0x01], .malformed(.truncated(field: "start", needed: 1, had: 0))),
            // A clock of three octets.
            (
                [0x01] + OneTouchVerio.frame([0x06, 1, 2, 3]),
                .malformed(.truncated(field: "clock", needed: 4, had: 3))
            ),
            (
                [0x01] + OneTouchVerio.frame([0x06, 1, 2, 3, 4]).dropLast() + [0],
                .malformed(.checksumMismatch(field: "checksum"))
            ),
            ([0x01] + OneTouchVerio.frame([0x09]), .refused(status: 9)),
        ] as [([UInt8], Exchange.Failure)])
    func whatTheProtocolDoesNotKnowEndsTheExchange(packet: [UInt8], failure: Exchange.Failure) {
        var exchange = Exchange(after: nil)
        _ = exchange.start()
        let step = exchange.received(packet)
        #expect(step.end == .failed(failure))
        // A whole frame is acknowledged, whatever it says.
        #expect(step.packets.allSatisfy { $0 == [0x81] })
        #expect(step.record == nil)
        #expect(exchange.isFinished)
    }

    @Test(arguments: [[0x02, 0x02], [0x42, 0x02], [0x40, 0x02]] as [[UInt8]])
    func aPacketOutOfItsTurnEndsTheExchange(packet: [UInt8]) {
        var exchange = Exchange(after: nil)
        _ = exchange.start()
        // Two more are to come.
        _ = exchange.received([0x03, 0x02])
        _ = exchange.received([0x42, 0x0C])
        #expect(exchange.received(packet).end == .failed(.unexpectedPacket))
    }

    @Test func anyPacketsEndOrGoOnAndNeverTrap() {
        var random = SeededGenerator(seed: 0xF7A2)
        var ends = 0
        for _ in 0..<20_000 {
            var exchange = Exchange(after: .init(number: UInt16(random.next() & 0xFFFF), record: nil))
            _ = exchange.start()
            for _ in 0..<20 where !exchange.isFinished {
                let data = (0..<random.next() % 12).map { _ in UInt8(random.next() & 0xFF) }
                let packet: [UInt8] =
                    random.next() % 4 == 0 ? data : [0x01] + OneTouchVerio.frame([0x06] + data)
                if exchange.received(packet).end != nil { ends += 1 }
            }
        }
        #expect(ends > 10_000)
    }
}
