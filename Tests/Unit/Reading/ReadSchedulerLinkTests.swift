import TestSupport
import Testing

@testable import IngestReading

/// Several links on an adapter: who gets one, and who gives way.
@Suite struct ReadSchedulerLinkTests {
    /// What wants to be read, each with a number of its own.
    private enum Who: Hashable, Sendable {
        /// Named by address.
        case cuff(Int)
        case strap(Int)
        /// Named by address; it advertises before its measurement.
        case ready(Int)
        case stranger(Int)
        case strangersStrap(Int)

        var device: DeviceAddress {
            switch self {
            case .cuff(let number), .ready(let number): .device(number)
            case .strap(let number): .device(100 + number)
            case .stranger(let number): .device(200 + number)
            case .strangersStrap(let number): .device(300 + number)
            }
        }

        var entry: AllowedPeripheral {
            switch self {
            case .cuff: AllowedPeripheral(model: .sample(), address: device.address)
            case .strap: AllowedPeripheral(model: .sample(profile: "heart-rate"), address: device.address)
            case .ready:
                AllowedPeripheral(model: .sample(isReadyBeforeMeasurement: true), address: device.address)
            case .stranger: AllowedPeripheral(model: .sample())
            case .strangersStrap: AllowedPeripheral(model: .sample(profile: "heart-rate"))
            }
        }
    }

    private enum Wanted: Equatable {
        case read(Who)
        case giveWay(Who, ReadScheduler.GivingWay)
    }

    /// A scheduler on one adapter.
    private struct Home {
        var scheduler: SchedulerWithNeighbour
        var people: [DeviceAddress: Who] = [:]
        var now = 0.0

        init(links: Int) {
            scheduler = SchedulerWithNeighbour(ReadScheduler(links: links, jitter: { 1 }))
            _ = scheduler.adapters(ReadSchedulerScript.states([(.hci0, true)]), at: .at(0))
        }

        func wanted(_ actions: [ReadScheduler.Action]) -> [Wanted] {
            actions.compactMap { action in
                switch action {
                case .read(let device, _, _, _): people[device].map { .read($0) }
                case .giveWay(let device, let why): people[device].map { .giveWay($0, why) }
                case .discovered, .attempt, .withdraw: nil
                }
            }
        }

        mutating func heard(_ who: Who) -> [Wanted] {
            people[who.device] = who
            return wanted(scheduler.heard(.sample(of: who.device, on: .hci0, at: now), as: who.entry))
        }

        mutating func linked(_ who: Who) -> [Wanted] { wanted(scheduler.linked(who.device, at: .at(now))) }

        mutating func has(_ who: Who, _ progress: ReadScheduler.Progress) -> [Wanted] {
            wanted(scheduler.progressed(who.device, progress, at: .at(now)))
        }

        mutating func ended(_ who: Who, _ outcome: ReadOutcome = .succeeded) -> [Wanted] {
            wanted(scheduler.finished(who.device, outcome: outcome, at: .at(now)))
        }

        /// Lets time pass until `second`; those who wait go on advertising.
        mutating func until(_ second: Double, waiting: [Who] = []) -> [Wanted] {
            var all: [Wanted] = []
            while now < second {
                now = min(second, now + 1)
                for who in waiting { all += heard(who) }
                all += wanted(scheduler.wake(at: .at(now)))
            }
            return all
        }

        /// Has it heard and linked at once.
        mutating func connect(_ who: Who) {
            #expect(heard(who) == [.read(who)])
            #expect(linked(who) == [])
        }
    }

    // MARK: Links

    @Test func devicesThatWakeAtOnceAreConnectedToOneByOneAndReadTogether() {
        var home = Home(links: 3)
        #expect(home.heard(.cuff(1)) == [.read(.cuff(1))])
        for number in 2...4 { #expect(home.heard(.cuff(number)) == []) }
        #expect(home.linked(.cuff(1)) == [.read(.cuff(2))])
        #expect(home.linked(.cuff(2)) == [.read(.cuff(3))])
        #expect(home.linked(.cuff(3)) == [])
        #expect(home.ended(.cuff(2)) == [.read(.cuff(4))])
        #expect(home.linked(.cuff(4)) == [])
    }

    @Test func nobodyIsConnectedToWhileAnotherIs() {
        var home = Home(links: 8)
        #expect(home.heard(.cuff(1)) == [.read(.cuff(1))])
        #expect(home.heard(.cuff(2)) == [])
        #expect(home.ended(.cuff(1), .failed) == [.read(.cuff(2))])
    }

    @Test func aPauseStartsNothingThoughLinksAreFreeAndEndsNone() {
        var home = Home(links: 2)
        home.connect(.stranger(1))
        _ = home.scheduler.pause(at: .at(home.now))
        #expect(home.heard(.cuff(1)) == [])
        #expect(home.until(70, waiting: [.cuff(1)]) == [])
        #expect(home.wanted(home.scheduler.resume(at: .at(home.now))) == [.read(.cuff(1))])
    }

    // MARK: Order

    @Test func thoseThatWereNotTriedComeBeforeThoseThatWaitLongest() {
        var home = Home(links: 1)
        home.connect(.cuff(1))
        _ = home.ended(.cuff(1), .failed)
        home.connect(.cuff(9))
        #expect(home.until(3, waiting: [.cuff(1)]) == [])
        #expect(home.heard(.cuff(2)) == [])
        #expect(home.heard(.cuff(3)) == [])
        #expect(home.ended(.cuff(9)) == [.read(.cuff(2))])
        #expect(home.linked(.cuff(2)) == [])
        #expect(home.ended(.cuff(2)) == [.read(.cuff(3))])
        #expect(home.linked(.cuff(3)) == [])
        #expect(home.ended(.cuff(3)) == [.read(.cuff(1))])
    }

    /// Invented addresses may fill the queue; whoever has given a record gets every second link.
    @Test func everySecondLinkOfStrangersIsForOneThatHasGivenARecord() {
        var home = Home(links: 1)
        home.scheduler.know([Who.stranger(8).device, Who.stranger(9).device])
        home.connect(.cuff(1))
        for number in 1...9 { _ = home.heard(.stranger(number)) }
        var order: [Who] = []
        var next = home.ended(.cuff(1))
        while case .read(let who)? = next.first {
            order.append(who)
            #expect(home.linked(who) == [])
            next = home.ended(who)
        }
        #expect(
            order
                == [8, 1, 9, 2, 3, 4, 5, 6, 7].map { .stranger($0) })
    }

    @Test func whoGivesARecordIsKnownFromThenOn() {
        var home = Home(links: 1)
        home.connect(.stranger(5))
        #expect(home.has(.stranger(5), .committed) == [])
        _ = home.ended(.stranger(5))
        #expect(home.scheduler.knownStrangers.contains(Who.stranger(5).device))
    }

    // MARK: Giving way

    @Test func strangersGiveWayToTheCuffsOfTheHouseOneEach() {
        var home = Home(links: 3)
        for number in 1...3 {
            home.connect(.stranger(number))
            home.now += 1
        }
        #expect(home.heard(.cuff(1)) == [.giveWay(.stranger(1), .turn)])
        #expect(home.heard(.cuff(1)) == [])
        #expect(home.heard(.cuff(2)) == [.giveWay(.stranger(2), .turn)])
        #expect(home.ended(.stranger(1), .yielded) == [.read(.cuff(1))])
        #expect(home.linked(.cuff(1)) == [])
        #expect(home.ended(.stranger(2), .yielded) == [.read(.cuff(2))])
    }

    @Test func whoGaveWayIsReadAgainWhenItIsHeardAfterThoseThatWaitedBefore() {
        var home = Home(links: 1)
        home.connect(.stranger(1))
        _ = home.until(5)
        _ = home.heard(.stranger(2))
        #expect(home.heard(.cuff(1)) == [.giveWay(.stranger(1), .turn)])
        #expect(home.ended(.stranger(1), .yielded) == [.read(.cuff(1))])
        #expect(home.linked(.cuff(1)) == [])
        #expect(home.heard(.stranger(1)) == [])
        #expect(home.ended(.cuff(1)) == [.read(.stranger(2))])
        #expect(home.linked(.stranger(2)) == [])
        // Not a failure: no back-off, and the same attempt.
        #expect(home.ended(.stranger(2)) == [.read(.stranger(1))])
    }

    @Test func aStrangerHasAMinuteWhileOthersWaitAndAllTheTimeWhileNobodyDoes() {
        var home = Home(links: 1)
        home.connect(.strangersStrap(1))
        #expect(home.has(.strangersStrap(1), .usable) == [])
        #expect(home.until(59, waiting: [.stranger(2)]) == [])
        #expect(home.until(60, waiting: [.stranger(2)]) == [.giveWay(.strangersStrap(1), .turn)])
        _ = home.ended(.strangersStrap(1), .yielded)
        var quiet = Home(links: 1)
        quiet.connect(.strangersStrap(1))
        #expect(quiet.until(600) == [])
    }

    @Test func theTimeOfAStrangerDoublesUntilItGivesARecord() {
        var home = Home(links: 1)
        var lengths: [Double] = []
        for number in 1...7 {
            // The other one has gone meanwhile.
            _ = home.until(home.now + 30)
            _ = home.heard(.strangersStrap(1))
            #expect(home.linked(.strangersStrap(1)) == [])
            _ = home.has(.strangersStrap(1), .usable)
            if number == 6 { _ = home.has(.strangersStrap(1), .committed) }
            let start = home.now
            while home.until(home.now + 1, waiting: [.stranger(2)]).isEmpty, home.now < start + 1_000 {}
            lengths.append(home.now - start)
            #expect(home.ended(.strangersStrap(1), .yielded) == [.read(.stranger(2))])
            #expect(home.linked(.stranger(2)) == [])
            _ = home.ended(.stranger(2))
        }
        #expect(lengths == [60, 120, 240, 480, 900, 900, 60])
    }

    @Test func aStreamOfTheHouseYieldsOnceItHasGivenSomethingAndOnlyToTheHouse() {
        var home = Home(links: 2)
        home.connect(.strap(1))
        home.connect(.cuff(1))
        _ = home.has(.strap(1), .usable)
        _ = home.has(.cuff(1), .usable)
        _ = home.has(.cuff(1), .committed)
        #expect(home.heard(.stranger(1)) == [])
        #expect(home.heard(.cuff(2)) == [])
        #expect(home.has(.strap(1), .committed) == [.giveWay(.strap(1), .turn)])
        #expect(home.ended(.strap(1), .yielded) == [.read(.cuff(2))])
    }

    @Test func aStreamThatNobodyWaitsForKeepsItsLink() {
        var home = Home(links: 1)
        home.connect(.strap(1))
        _ = home.has(.strap(1), .usable)
        #expect(home.has(.strap(1), .committed) == [])
        #expect(home.until(300, waiting: [.stranger(1)]) == [])
    }

    @Test(arguments: [(0, 5.0), (1, 10.0), (2, 20.0), (3, 30.0), (4, 30.0)])
    func whoSendsNothingLosesItsLinkToOneThatWaits(_ failures: Int, _ seconds: Double) {
        var home = Home(links: 1)
        for failure in 0...failures {
            // It goes on advertising until its back-off is over.
            while home.heard(.cuff(1)).isEmpty { home.now += 1 }
            #expect(home.linked(.cuff(1)) == [])
            #expect(home.has(.cuff(1), .subscribed) == [])
            if failure < failures { _ = home.ended(.cuff(1), .failed) }
        }
        let start = home.now
        #expect(home.until(start + seconds - 1, waiting: [.cuff(2)]) == [])
        #expect(home.until(start + seconds, waiting: [.cuff(2)]) == [.giveWay(.cuff(1), .silence)])
        #expect(home.ended(.cuff(1), .failed) == [.read(.cuff(2))])
    }

    @Test func whoIsNamedIsGivenTimeWhileOnlyStrangersWaitAndWhileALinkIsFree() {
        var home = Home(links: 1)
        home.connect(.cuff(1))
        _ = home.has(.cuff(1), .subscribed)
        #expect(home.until(40, waiting: [.stranger(1)]) == [])
        var roomy = Home(links: 2)
        roomy.connect(.cuff(1))
        _ = roomy.has(.cuff(1), .subscribed)
        roomy.connect(.cuff(2))
        #expect(roomy.until(40) == [])
        #expect(roomy.heard(.cuff(3)) == [.giveWay(.cuff(1), .silence)])
    }

    @Test func whoSendsSomethingOrMeasuresFirstKeepsItsLink() {
        var home = Home(links: 2)
        home.connect(.cuff(1))
        _ = home.has(.cuff(1), .subscribed)
        _ = home.has(.cuff(1), .usable)
        home.connect(.ready(2))
        _ = home.has(.ready(2), .subscribed)
        #expect(home.until(60, waiting: [.cuff(3)]) == [])
    }

    @Test func aConnectionThatIsNotMadeKeepsOthersWaitingForFiveSeconds() {
        var home = Home(links: 3)
        #expect(home.heard(.cuff(1)) == [.read(.cuff(1))])
        #expect(home.until(4, waiting: [.cuff(2)]) == [])
        #expect(home.until(5, waiting: [.cuff(2)]) == [.giveWay(.cuff(1), .connection)])
        // It connects all the same.
        #expect(home.linked(.cuff(1)) == [.read(.cuff(2))])
        #expect(home.until(10) == [])
        // Strangers wait for as long as it takes.
        #expect(home.linked(.cuff(2)) == [])
        #expect(home.heard(.cuff(3)) == [.read(.cuff(3))])
        #expect(home.until(30, waiting: [.stranger(1)]) == [])
    }

    /// Nothing is heard while a connection is attempted: neither a cuff that wakes up nor the silence of one.
    @Test func strangersThatDoNotConnectLeaveTheAdapterTwoThirdsOfTheTime() {
        var home = Home(links: 3)
        #expect(home.heard(.stranger(1)) == [.read(.stranger(1))])
        #expect(home.until(4) == [])
        #expect(home.until(5) == [.giveWay(.stranger(1), .connection)])
        #expect(home.ended(.stranger(1), .failed) == [])
        #expect(home.until(14, waiting: [.stranger(2)]) == [])
        #expect(home.until(15, waiting: [.stranger(2)]) == [.read(.stranger(2))])
        #expect(home.linked(.stranger(2)) == [])
        // Who has connected is no reason to wait, and whom an entry names does not wait for strangers.
        #expect(home.ended(.stranger(2), .failed) == [])
        #expect(home.heard(.stranger(3)) == [.read(.stranger(3))])
        #expect(home.until(20) == [.giveWay(.stranger(3), .connection)])
        #expect(home.ended(.stranger(3), .failed) == [])
        #expect(home.heard(.cuff(1)) == [.read(.cuff(1))])
    }

    @Test func aConnectionThatIsNotMadeEndsNoLinkOfAStranger() {
        var home = Home(links: 3)
        home.connect(.stranger(1))
        #expect(home.heard(.cuff(1)) == [.read(.cuff(1))])
        #expect(home.heard(.cuff(2)) == [])
        #expect(home.linked(.cuff(1)) == [.read(.cuff(2))])
    }

    // MARK: What the controller takes

    @Test func aRefusedLinkWaitsInItsPlaceAndOneMoreIsTriedEachHour() {
        var home = Home(links: 3)
        home.connect(.strap(1))
        home.connect(.strap(2))
        #expect(home.heard(.cuff(1)) == [.read(.cuff(1))])
        #expect(home.heard(.cuff(2)) == [])
        #expect(home.ended(.cuff(1), .refusedLink) == [])
        #expect(home.scheduler.capacity(of: .hci0) == 2)
        #expect(home.ended(.strap(2)) == [.read(.cuff(2))])
        #expect(home.linked(.cuff(2)) == [])
        #expect(home.ended(.cuff(2)) == [.read(.cuff(1))])
        #expect(home.linked(.cuff(1)) == [])
        #expect(home.until(3_599, waiting: [.stranger(3)]) == [])
        #expect(home.until(3_600, waiting: [.stranger(3)]) == [.read(.stranger(3))])
        #expect(home.scheduler.capacity(of: .hci0) == 3)
    }

    @Test func aControllerThatRefusesEvenTheSecondLinkHasOne() {
        var capacity = LinkCapacity()
        capacity.refused(with: 1, at: .at(0))
        #expect(capacity.links(configured: 8) == 1)
        capacity.refused(with: 0, at: .at(0))
        #expect(capacity.links(configured: 8) == 1)
        capacity.recover(configured: 8, at: .at(7_200))
        #expect(capacity.links(configured: 8) == 3)
        #expect(capacity.links(configured: 2) == 2)
        capacity.recover(configured: 8, at: .at(36_000))
        #expect(capacity.links(configured: 8) == 8)
        #expect(capacity.nextTry == nil)
    }

    @Test func anAdapterThatComesBackIsTriedAnew() {
        var home = Home(links: 2)
        home.connect(.strap(1))
        #expect(home.heard(.cuff(1)) == [.read(.cuff(1))])
        _ = home.ended(.cuff(1), .refusedLink)
        #expect(home.scheduler.capacity(of: .hci0) == 1)
        _ = home.scheduler.adapters([], at: .at(1))
        _ = home.scheduler.adapters(ReadSchedulerScript.states([(.hci0, true)]), at: .at(2))
        #expect(home.scheduler.capacity(of: .hci0) == 2)
    }
}
