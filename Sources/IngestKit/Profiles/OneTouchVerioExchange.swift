/// Reads the records of a OneTouch meter that are newer than a mark, each once, the oldest first.
///
/// Pure: it is told what the meter notified, and answers what is to be written. One command is under
/// way at a time. Nothing in the meter is changed or deleted.
///
/// The driver subscribes to `OneTouchVerio.notification`, does the step of `start`, then that of
/// `received` for each notification: it commits the step's record first, writes the step's packets to
/// `OneTouchVerio.command` without response, in their order, and stops at the step's end. A step
/// without packets is no progress: a time-out of the driver's goes on running.
package struct OneTouchVerioExchange: Sendable {
    /// Up to where the records are known.
    package struct Mark: Sendable, Equatable {
        package var number: UInt16
        /// The record of this number as it was read. When the meter has another one now, its memory
        /// was cleared, and everything is read. Nil where that is not known: the number decides.
        package var record: [UInt8]?

        package init(number: UInt16, record: [UInt8]? = nil) {
            self.number = number
            self.record = record
        }
    }

    package struct Record: Sendable, Equatable {
        /// The meter's own number of it, ascending as tests are taken.
        package var number: UInt16
        /// The record alone: the same octets whenever it is read, so the payload to make a record of
        /// and to name it by.
        package var payload: [UInt8]
        /// The frame that it came in. Its control octet and checksum may differ the next time.
        var frame: [UInt8]
    }

    /// What the driver is to do, in this order.
    package struct Step: Sendable, Equatable {
        /// To be committed.
        package var record: Record?
        /// To be written.
        package var packets: [[UInt8]] = []
        /// Nothing follows.
        package var end: End?
    }

    package enum End: Sendable, Equatable {
        /// - Parameters:
        ///   - last: the highest number that was asked for, for the next mark; nil when nothing was new.
        ///   - hasMore: whether the meter has newer ones, because there were more than the limit.
        case done(last: UInt16?, hasMore: Bool)
        case failed(Failure)
    }

    package enum Failure: Error, Sendable, Equatable {
        /// The meter refused a command; 7 where the gateway is not bonded with it.
        case refused(status: UInt8)
        /// A frame that cannot be read.
        case malformed(DecodeError)
        /// A packet that does not belong where it came.
        case unexpectedPacket
        /// Numbers of records that cannot be.
        case implausibleNumbers
    }

    /// More than any of these meters keeps; the rest comes with the next exchange.
    static let defaultLimit = 1_000

    private enum State: Sendable, Equatable {
        case idle
        case clock
        case highest
        case count(highest: UInt16)
        /// Reading the record at the mark, to see whether it is still the same.
        case checking(Kept)
        case reading(UInt16, through: UInt16)
        case finished
    }

    /// The numbers of all records that the meter keeps.
    private struct Kept: Sendable, Equatable {
        var first: UInt16
        var last: UInt16
    }

    /// A frame under way: its octets so far, and how many packets are to come.
    private struct Assembly: Sendable, Equatable {
        var bytes: [UInt8] = []
        var left: UInt8 = 0
    }

    /// The meter's clock, once it has answered.
    private(set) var clock: DeviceTime?
    private let mark: Mark?
    private let limit: Int
    private var state = State.idle
    private var assembly: Assembly?
    /// Whether the limit leaves records for the next exchange.
    private var hasMore = false

    /// - Parameters:
    ///   - mark: where the last exchange ended; nil reads all that the meter keeps.
    ///   - limit: the most records to read; at least one.
    package init(after mark: Mark?, limit: Int = defaultLimit) {
        self.mark = mark
        self.limit = max(1, limit)
    }

    /// Whether the exchange has ended.
    var isFinished: Bool { state == .finished }

    /// The first command. To be called once, when the subscription stands.
    package mutating func start() -> Step {
        guard state == .idle else { return Step() }
        state = .clock
        return Step(packets: [OneTouchVerio.Command.readClock.packet])
    }

    /// The meter notified this.
    package mutating func received(_ packet: [UInt8]) -> Step {
        guard state != .idle, state != .finished else { return Step() }
        guard let octet = packet.first, let header = OneTouchVerio.PacketHeader(octet) else {
            return fail(.unexpectedPacket)
        }
        switch (header, assembly) {
        case (.acknowledges, _):
            return Step()
        case (.begins(let packets), nil):
            return assemble(packet, left: packets, onto: Assembly())
        case (.continues(let left), let assembly?) where left == assembly.left:
            return assemble(packet, left: left, onto: assembly)
        default:
            return fail(.unexpectedPacket)
        }
    }

    // MARK: Packets and frames

    /// Fifteen packets at most make up a frame, as the count has four bits.
    private mutating func assemble(_ packet: [UInt8], left: UInt8, onto earlier: Assembly) -> Step {
        guard packet.count <= Profile.maximumPayload else { return fail(.unexpectedPacket) }
        let bytes = earlier.bytes + packet.dropFirst()
        let acknowledgement = OneTouchVerio.PacketHeader.acknowledgement(of: left)
        guard left == 1 else {
            assembly = Assembly(bytes: bytes, left: left - 1)
            return Step(packets: [acknowledgement])
        }
        assembly = nil
        do throws(DecodeError) {
            var step = answered(try OneTouchVerio.Answer(frame: bytes), frame: bytes)
            step.packets.insert(acknowledgement, at: 0)
            return step
        } catch {
            return fail(.malformed(error))
        }
    }

    // MARK: Answers

    private mutating func answered(_ answer: OneTouchVerio.Answer, frame: [UInt8]) -> Step {
        switch (state, answer.status) {
        case (_, .refused(let status)):
            return fail(.refused(status: status))
        case (.reading(let number, let last), .noSuchRecord):
            return proceed(after: number, through: last)
        case (.checking(let kept), .noSuchRecord):
            return read(kept.first, through: kept.last)
        case (_, .noSuchRecord):
            return fail(.refused(status: 0x09))
        case (_, .done):
            break
        }
        var cursor = ByteCursor(answer.data)
        do throws(DecodeError) {
            switch state {
            case .clock:
                clock = OneTouchVerio.clock(Int32(bitPattern: try cursor.uint32("clock")))
                state = .highest
                return Step(packets: [OneTouchVerio.Command.readHighestNumber.packet])
            case .highest:
                // Commands have two octets for a number.
                guard let highest = UInt16(exactly: try cursor.uint32("highest number")) else {
                    return fail(.implausibleNumbers)
                }
                state = .count(highest: highest)
                return Step(packets: [OneTouchVerio.Command.readCount.packet])
            case .count(let highest):
                return begin(highest: highest, count: try cursor.uint16("count"))
            case .checking(let kept):
                return checked(answer.data, kept)
            case .reading(let number, let last):
                var step = proceed(after: number, through: last)
                if !answer.data.isEmpty {
                    step.record = Record(number: number, payload: answer.data, frame: frame)
                }
                return step
            case .idle, .finished:
                return Step()
            }
        } catch {
            return fail(.malformed(error))
        }
    }

    // MARK: Which records

    private mutating func begin(highest: UInt16, count: UInt16) -> Step {
        guard count > 0 else { return finish(last: nil, hasMore: false) }
        // Some firmware counts from 0, some from 1; a number without a record is passed over.
        let kept = Kept(first: highest - min(highest, count - 1), last: highest)
        // Above the highest: the memory was cleared, and the numbers began anew. Below the first: newer
        // tests have overwritten the record. Either way all that is there is new.
        guard let mark, (kept.first...kept.last).contains(mark.number) else {
            return read(kept.first, through: kept.last)
        }
        guard mark.record != nil else { return read(Int(mark.number) + 1, through: kept.last) }
        state = .checking(kept)
        return Step(packets: [OneTouchVerio.Command.readRecord(mark.number).packet])
    }

    private mutating func checked(_ data: [UInt8], _ kept: Kept) -> Step {
        guard let mark, mark.record == data else { return read(kept.first, through: kept.last) }
        return read(Int(mark.number) + 1, through: kept.last)
    }

    private mutating func read(_ first: UInt16, through last: UInt16) -> Step {
        read(Int(first), through: last)
    }

    /// Begins to read; `first` may lie one above all numbers.
    private mutating func read(_ first: Int, through highest: UInt16) -> Step {
        guard let number = UInt16(exactly: first), number <= highest else {
            return finish(last: nil, hasMore: false)
        }
        let last = UInt16(clamping: first + min(Int(highest) - first, limit - 1))
        hasMore = last < highest
        state = .reading(number, through: last)
        return Step(packets: [OneTouchVerio.Command.readRecord(number).packet])
    }

    private mutating func proceed(after number: UInt16, through last: UInt16) -> Step {
        guard number < last else { return finish(last: last, hasMore: hasMore) }
        state = .reading(number + 1, through: last)
        return Step(packets: [OneTouchVerio.Command.readRecord(number + 1).packet])
    }

    private mutating func finish(last: UInt16?, hasMore: Bool) -> Step {
        state = .finished
        return Step(end: .done(last: last, hasMore: hasMore))
    }

    private mutating func fail(_ failure: Failure) -> Step {
        state = .finished
        assembly = nil
        return Step(end: .failed(failure))
    }
}

extension OneTouchVerioExchange.Failure {
    /// What happened, for the journal: our words, no measured value.
    package var message: String {
        switch self {
        case .refused(status: 7): "the meter refuses commands: it is not bonded with this gateway"
        case .refused(let status): "the meter refuses a command with status \(status)"
        case .malformed(let error): "the meter's answer cannot be read: \(error)"
        case .unexpectedPacket: "the meter sent a packet that does not belong there"
        case .implausibleNumbers: "the meter numbers its records beyond 65535"
        }
    }
}
