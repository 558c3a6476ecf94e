import TestSupport
import Testing

@testable import IngestBluetooth
@testable import IngestCore
@testable import IngestProfiles
@testable import IngestReading
@testable import IngestRecords
@testable import IngestStorage

@Suite struct ValueJoiningTests {
    private static let device = DeviceAddress(BluetoothAddress(value: 0xF1F1_F1F1_F1F1), .random)
    private static let start = MonotonicInstant(nanoseconds: 1_000_000_000_000)

    /// Values of two packets: each byte is a packet's number, and 0xFF belongs to nothing.
    private static let twoPackets = Profile(
        name: "two-packets", kinds: nil, sources: [.init(0x2A9C, in: 0x181B)], longestPayload: 20,
        decoders: [:],
        assemblers: [
            0x2A9C: { (packets: [[UInt8]]) throws(DecodeError) -> Profile.Assembly in
                switch packets {
                case [[1]]: .incomplete
                case [[1], [2]]: .complete(Reading(kind: .bodyComposition))
                case [[3]]: .complete(Reading(kind: .bodyComposition, sequence: 3))
                case _ where packets.count == 1: throw .prohibitedValue(field: "packet")
                default: .unrelated
                }
            }
        ])

    private func value(_ bytes: [UInt8], after: Duration = .zero) -> ReceivedValue {
        ReceivedValue(characteristic: 0x2A9C, value: bytes, isIndication: true, received: Self.start + after)
    }

    /// What each packet completes: the bytes of its parts, with a minus for one that is not decoded.
    private func parts(of packets: [(bytes: [UInt8], after: Int)], _ joining: inout ValueJoining)
        -> [[String]]
    {
        packets.map { packet in
            let now = Self.start + .seconds(packet.after)
            return joining.parts(of: value(packet.bytes, after: .seconds(packet.after)), at: now).map {
                ($0.reading == nil ? "-" : "") + Hex.text($0.bytes)
            }
        }
    }

    @Test(
        arguments: [
            ([([1], 0), ([2], 1)], [[], ["0102"]]),
            ([([3], 0)], [["03"]]),
            // with a pause; with one that is too long
            ([([1], 0), ([2], 600)], [[], ["0102"]]),
            ([([1], 0), ([2], 601)], [[], ["-01", "-02"]]),
            // the first one again, because its confirmation was lost
            ([([1], 0), ([1], 1), ([2], 2)], [[], [], ["0102"]]),
            // the last one again, for the same reason: it stands for the whole value, whenever it comes
            ([([1], 0), ([2], 1), ([2], 2)], [[], ["0102"], ["0102"]]),
            ([([1], 0), ([2], 1), ([2], 700)], [[], ["0102"], ["0102"]]),
            ([([1], 0), ([2], 1), ([2], 2), ([1], 3), ([2], 4)], [[], ["0102"], ["0102"], [], ["0102"]]),
            ([([1], 0), ([2], 1), ([3], 2), ([2], 3)], [[], ["0102"], ["03"], ["-02"]]),
            // another value begins before the first is whole
            ([([1], 0), ([3], 1)], [[], ["-01", "03"]]),
            ([([1], 0), ([0xFF], 1)], [[], ["-01", "-ff"]]),
        ] as [([([UInt8], Int)], [[String]])])
    func packetsOfOneValueBecomeOneRecord(packets: [([UInt8], Int)], expected: [[String]]) {
        var joining = ValueJoining(profile: Self.twoPackets, device: Self.device)
        #expect(parts(of: packets, &joining) == expected)
    }

    @Test func whatIsPendingIsWrittenDownAndTakenOver() {
        var joining = ValueJoining(profile: Self.twoPackets, device: Self.device)
        _ = joining.parts(of: value([1]), at: Self.start)
        let pending = PendingPackets(
            device: Self.device, characteristic: 0x2A9C, packets: [[1]], received: Self.start)
        #expect(joining.takeChanges() == pending)
        #expect(joining.takeChanges() == nil)

        var next = ValueJoining(profile: Self.twoPackets, device: Self.device)
        next.recall([pending])
        #expect(parts(of: [([2], 5)], &next) == [["0102"]])
        let whole = PendingPackets(
            device: Self.device, characteristic: 0x2A9C, packets: [[1], [2]],
            received: Self.start + .seconds(5))
        #expect(next.takeChanges() == whole)
        #expect(!next.isIncomplete(0x2A9C))

        // All of it is there, whatever comes next.
        var again = ValueJoining(profile: Self.twoPackets, device: Self.device)
        again.recall([whole])
        #expect(!again.isIncomplete(0x2A9C))
        #expect(parts(of: [([2], 900), ([3], 901)], &again) == [["0102"], ["03"]])
        #expect(again.takeChanges()?.packets == [])

        // From before the box was started nobody knows how long ago it came.
        var late = ValueJoining(profile: Self.twoPackets, device: Self.device)
        var old = pending
        old.received = nil
        late.recall([old])
        #expect(parts(of: [([3], 5)], &late) == [["-01", "03"]])
    }

    // MARK: Glucose and context

    /// A glucose measurement of 2026-11-20T09:14:57, and a context of it.
    private func glucose(_ sequence: UInt8) -> ReceivedValue {
        ReceivedValue(
            characteristic: 0x2A18, value: [0x00, sequence, 0, 0xEA, 0x07, 11, 20, 9, 14, 57],
            isIndication: false, received: Self.start)
    }

    private func context(_ sequence: UInt8) -> ReceivedValue {
        ReceivedValue(
            characteristic: 0x2A34, value: [0x00, sequence, 0], isIndication: false, received: Self.start)
    }

    @Test func aContextHasTheMomentOfItsGlucoseInWhateverOrderTheyCome() throws {
        let profile = try #require(Profiles.named("glucose"))
        for isContextFirst in [true, false] {
            var joining = ValueJoining(profile: profile, device: Self.device)
            let id = RecordID(text: "glucose")
            var contexts: [ValueJoining.Part] = []
            if isContextFirst { contexts += joining.parts(of: context(7), at: Self.start) }
            #expect(contexts.isEmpty)
            let part = try #require(joining.parts(of: glucose(7), at: Self.start).first)
            joining.learn(part, id: id, isSkipped: false)
            contexts += joining.followers(of: part)
            if !isContextFirst { contexts += joining.parts(of: context(7), at: Self.start) }
            #expect(contexts.map(\.related) == [id])
            #expect(contexts.map(\.base) == [part.reading?.deviceTime])
            #expect(joining.takeLoneContexts(all: true).isEmpty)
        }
    }

    /// A time that is not believed is not believed of the context, and what was done to test the meter is nobody's.
    @Test(
        arguments: [
            // Status: time fault; a time offset that cannot be said; control solution.
            ([0x08, 7, 0, 0xEA, 0x07, 11, 20, 9, 14, 57, 0x00, 0x08], "time-fault"),
            ([0x01, 7, 0, 0xEA, 0x07, 11, 20, 9, 14, 57, 0xFF, 0x7F], "time-offset-overrun"),
            ([0x01, 7, 0, 0xEA, 0x07, 11, 20, 9, 14, 57, 0x00, 0x80], "time-offset-underrun"),
            ([0x02, 7, 0, 0xEA, 0x07, 11, 20, 9, 14, 57, 0x61, 0xB0, 0x4A], "type-control-solution"),
        ] as [([UInt8], String)])
    func aContextIsAsDoubtfulAsItsGlucose(bytes: [UInt8], flag: String) throws {
        var joining = ValueJoining(profile: .glucose, device: Self.device)
        let measurement = ReceivedValue(
            characteristic: 0x2A18, value: bytes, isIndication: false, received: Self.start)
        let part = try #require(joining.parts(of: measurement, at: Self.start).first)
        joining.learn(part, id: RecordID(text: "glucose"), isSkipped: false)
        let context = try #require(joining.parts(of: context(7), at: Self.start).first)
        #expect(context.reading?.flags.contains(flag) == true)
        let factory = RecordFactory(gateway: "g", zone: .utc, bootID: "b", isSimulated: false)
        let address = BluetoothAddress(value: 0x0CB2_B700_1122)
        let subjects = AllowedPeripheral(model: .sample(), address: address, subject: "patient-17").subjects
        func record(_ part: ValueJoining.Part) -> Record {
            factory.make(
                part.reading, raw: RawPayload(characteristic: part.value.characteristic, bytes: part.bytes),
                reception: .init(instant: Self.start, wallNanoseconds: 1_795_166_104_000_000_000),
                subjects: subjects,
                device: DeviceBlock(peripheralID: 1000, address: address, alias: nil),
                circumstances: .init(
                    way: .stored(isFirstTransfer: false), base: part.base, firstSeen: .always(subjects))
            ).record
        }
        let (glucose, follower) = (record(part), record(context))
        #expect(follower.time.source == glucose.time.source)
        #expect(follower.time.value == glucose.time.value)
        #expect(follower.subject == glucose.subject)
    }

    /// A sensor whose clock nobody set counts its minutes all the same; the session's start goes on to name the reading.
    @Test(arguments: [(2026, false), (2000, true)])
    func aSessionThatBeganBeforeAnyClockWasSetIsDatedByItsMinutes(year: Int, isCounted: Bool) throws {
        var joining = ValueJoining(profile: .continuousGlucose, device: Self.device)
        let begun = DeviceTime(year: year, month: 1, day: 1, hours: 0, minutes: 0, seconds: 0)
        joining.session = .init(time: begun, utcOffsetSeconds: nil)
        joining.sessionCount = (minutes: 10, moment: Self.start)
        let measurement = ReceivedValue(
            characteristic: 0x2AA7, value: [0x06, 0x00, 0x78, 0x00, 0x05, 0x00], isIndication: false,
            received: Self.start)
        let part = try #require(joining.parts(of: measurement, at: Self.start).first)
        #expect(part.base == begun)
        #expect((part.count?.age == 300) == isCounted)
    }

    @Test func aContextWithoutAGlucoseIsNotLost() throws {
        let profile = try #require(Profiles.named("glucose"))
        var joining = ValueJoining(profile: profile, device: Self.device)
        #expect(joining.parts(of: context(7), at: Self.start).isEmpty)
        let lone = try #require(joining.takeLoneContexts(all: true).first)
        // Of an earlier link, by what the queue has of it, or of none.
        let stored = StoredPayload(id: RecordID(text: "earlier"), bytes: glucose(7).value)
        #expect(joining.context(lone, of: stored).related?.text == "earlier")
        #expect(joining.context(lone, of: stored).base?.description == "2026-11-20T09:14:57")
        #expect(joining.context(lone, of: nil).related == nil)
    }

    @Test func contextsThatWaitAreBounded() throws {
        let profile = try #require(Profiles.named("glucose"))
        var joining = ValueJoining(profile: profile, device: Self.device)
        var given: [Int] = []
        for number in 0..<2_000 {
            let value = ReceivedValue(
                characteristic: 0x2A34, value: [0x00, UInt8(number % 256), UInt8(number / 256)],
                isIndication: false, received: Self.start)
            #expect(joining.parts(of: value, at: Self.start).isEmpty)
            given += joining.takeLoneContexts(all: false).compactMap { $0.reading?.sequence }
        }
        #expect(given == Array(0..<(2_000 - ValueJoining.mostContexts)))
        #expect(joining.keptCount == ValueJoining.mostContexts)
    }

    @Test func glucoseThatIsKeptForItsContextsIsBounded() throws {
        let profile = try #require(Profiles.named("glucose"))
        var joining = ValueJoining(profile: profile, device: Self.device)
        for number in 0..<5_000 {
            var part = try #require(joining.parts(of: glucose(7), at: Self.start).first)
            part.reading?.sequence = number
            // The same one again takes no more room.
            for _ in 0..<2 { joining.learn(part, id: RecordID(text: "\(number)"), isSkipped: false) }
        }
        #expect(joining.keptCount == ValueJoining.mostLeaders)
        for (number, count) in [(4_999, 1), (5_000 - ValueJoining.mostLeaders, 1), (3_999, 0), (0, 0)] {
            let bytes: [UInt8] = [0x00, UInt8(number % 256), UInt8(number / 256)]
            let parts = joining.parts(
                of: ReceivedValue(
                    characteristic: 0x2A34, value: bytes, isIndication: false, received: Self.start),
                at: Self.start)
            #expect(parts.count == count)
        }
    }
}
