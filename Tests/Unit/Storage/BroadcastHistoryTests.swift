import QueueTestSupport
import Testing

@testable import IngestProfiles
@testable import IngestQueue
@testable import IngestRecords
@testable import IngestStorage

@Suite struct BroadcastHistoryTests {
    private static func broadcast(
        _ value: UInt8, sort: UInt8 = 1, packetID: UInt8? = nil, isTriggered: Bool = false,
        counter: UInt32? = nil
    ) -> Broadcast {
        Broadcast(
            reading: Reading(kind: .bthome, measurements: [Measurement("count", Int64(value), 0, "1")]),
            contents: [Broadcast.Content(sort: [sort], bytes: [value])], packetID: packetID,
            isRenewedByPacketID: packetID != nil, counter: counter, isTriggered: isTriggered)
    }

    /// What the expectations' expressions can change.
    private final class Subject {
        var history: BroadcastHistory
        var allowance = BroadcastAllowance(at: .at(0))

        init(_ memory: BroadcastMemory = BroadcastMemory()) {
            history = BroadcastHistory(memory, at: .at(0))
        }

        func order(of counter: UInt32, at seconds: Double) -> BroadcastHistory.Order {
            history.order(of: counter, at: .at(seconds))
        }

        func count(_ counter: UInt32, at seconds: Double) {
            history.counted(BroadcastHistoryTests.broadcast(1, counter: counter), at: .at(seconds))
        }

        /// Whether it is a reading; if so, it is remembered.
        func takes(_ broadcast: Broadcast, rearm: Duration? = nil, at seconds: Double) -> Bool {
            guard history.isNew(broadcast, rearm: rearm, at: .at(seconds)) else { return false }
            history.took(broadcast, at: .at(seconds))
            return true
        }

        func allows(at seconds: Double) -> Bool { allowance.take(at: .at(seconds)) }
    }

    @Test func aCounterThatRisesIsBelieved() {
        let subject = Subject()
        for counter in [0, 1, 5, .max] as [UInt32] {
            #expect(subject.order(of: counter, at: 0) == .rises)
            subject.count(counter, at: 0)
            #expect(subject.order(of: counter, at: 0) == .repeats)
        }
    }

    @Test func aLowerCounterIsBelievedWhenItRisesAfterTenMinutesWithoutAHigherOne() {
        let subject = Subject()
        subject.count(1_000, at: 100)
        #expect(subject.order(of: 1, at: 101) == .falls)
        #expect(subject.order(of: 2, at: 699) == .falls)
        // The same again does not rise, nor does one that is lower still.
        #expect(subject.order(of: 2, at: 700) == .falls)
        #expect(subject.order(of: 1, at: 701) == .falls)
        #expect(subject.order(of: 3, at: 702) == .restarts)
        subject.count(3, at: 702)
        #expect(subject.order(of: 4, at: 703) == .rises)
    }

    @Test func aHigherCounterStartsTheTenMinutesAnew() {
        let subject = Subject()
        subject.count(1_000, at: 0)
        #expect(subject.order(of: 1, at: 600) == .falls)
        #expect(subject.order(of: 1_001, at: 601) == .rises)
        subject.count(1_001, at: 601)
        #expect(subject.order(of: 2, at: 602) == .falls)
        #expect(subject.order(of: 3, at: 1_200) == .falls)
        #expect(subject.order(of: 4, at: 1_201) == .restarts)
    }

    @Test func aRunKnowsNothingOfTheTimeBeforeIt() {
        let memory = BroadcastMemory(known: [], counter: 1_000)
        let subject = Subject(memory)
        #expect(subject.order(of: 1, at: 1) == .falls)
        #expect(subject.order(of: 2, at: 599) == .falls)
        #expect(subject.order(of: 3, at: 600) == .restarts)
    }

    @Test func contentsOfDifferentSortsDoNotReplaceEachOther() {
        let subject = Subject()
        #expect(subject.takes(Self.broadcast(1, sort: 1), at: 0))
        #expect(subject.takes(Self.broadcast(1, sort: 2), at: 1))
        #expect(!subject.takes(Self.broadcast(1, sort: 1), at: 2))
        #expect(subject.takes(Self.broadcast(2, sort: 1), at: 3))
        #expect(!subject.takes(Self.broadcast(1, sort: 2), at: 4))
    }

    @Test func theSameAgainIsAReadingOnlyOfADeviceThatWokeUp() {
        for isTriggered in [false, true] {
            let subject = Subject()
            let broadcast = Self.broadcast(1, isTriggered: isTriggered)
            #expect(subject.takes(broadcast, at: 0))
            #expect(!subject.takes(broadcast, at: 59))
            #expect(!subject.takes(broadcast, at: 118))
            #expect(subject.takes(broadcast, at: 178) == isTriggered)
        }
    }

    @Test func theSameAgainIsAReadingAfterTheModelsRearm() {
        let subject = Subject()
        #expect(subject.takes(Self.broadcast(1), rearm: .seconds(900), at: 0))
        #expect(!subject.takes(Self.broadcast(1), rearm: .seconds(900), at: 899))
        #expect(subject.takes(Self.broadcast(1), rearm: .seconds(900), at: 900))
    }

    /// A run counts from its start what it did not hear or take yet.
    @Test func theSameAsBeforeTheRunIsAReadingAfterSilenceOrTheModelsRearm() {
        for isTriggered in [false, true] {
            let broadcast = Self.broadcast(1, isTriggered: isTriggered)
            let subject = Subject(BroadcastHistory(at: .at(0)).memory(with: broadcast))
            #expect(!subject.takes(broadcast, rearm: .seconds(900), at: 59))
            #expect(subject.takes(broadcast, rearm: .seconds(900), at: 119) == isTriggered)
            #expect(subject.takes(broadcast, rearm: .seconds(900), at: 1_100))
        }
    }

    @Test func aPacketIDThatStaysIsNoReadingForAMinute() {
        let subject = Subject()
        #expect(subject.takes(Self.broadcast(1, packetID: 7), at: 0))
        #expect(!subject.takes(Self.broadcast(2, packetID: 7), at: 59))
        #expect(subject.takes(Self.broadcast(2, packetID: 7), at: 60))
        #expect(!subject.takes(Self.broadcast(2, packetID: 7), at: 500))
        #expect(subject.takes(Self.broadcast(2, packetID: 8), at: 501))
    }

    @Test func eightSortsAreRemembered() {
        let subject = Subject()
        for sort in 0..<20 { #expect(subject.takes(Self.broadcast(1, sort: UInt8(sort)), at: 0)) }
        #expect(subject.history.memory.known.map(\.content.sort) == (12..<20).map { [UInt8($0)] })
        #expect(subject.takes(Self.broadcast(1, sort: 0), at: 1))
    }

    @Test func twentyReadingsAtOnceAndThenOneInTenSeconds() {
        let subject = Subject()
        #expect((0..<30).count { _ in subject.allows(at: 0) } == 20)
        #expect(!subject.allows(at: 9))
        #expect(subject.allows(at: 10))
        #expect(!subject.allows(at: 19))
        #expect(subject.allows(at: 35))
        #expect(subject.allows(at: 35))
        #expect(!subject.allows(at: 35))
        #expect((0..<30).count { _ in subject.allows(at: 10_000) } == 20)
    }

    @Test func whatIsRememberedOutlivesTheProcess() async throws {
        try await withQueue { store in
            let subject = Subject()
            #expect(subject.takes(Self.broadcast(1, packetID: 7, counter: 9), at: 0))
            var memory = DeviceMemory()
            memory.broadcast = subject.history.memory
            try await store.devices.remember(memory, of: .device(1))
            #expect(try await store.devices.recall(.device(1)) == memory)
        }
    }
}
