import TestSupport
import Testing

@testable import IngestStorage

@Suite struct RelationsTests {
    private static let time = DeviceTime(year: 2026, month: 11, day: 20, hours: 9, minutes: 15, seconds: 0)
    private static let later = DeviceTime(year: 2026, month: 11, day: 20, hours: 9, minutes: 16, seconds: 0)

    private func record(_ id: String, _ kind: RecordKind, at time: DeviceTime?, user: Int? = nil) throws
        -> Record
    {
        var record = try TestSupport.record(id, kind: kind)
        record.time.device = time
        record.user = user
        return record
    }

    private func arrival(_ seconds: UInt64, boot: String = "boot") -> NotedMoment {
        .boot(id: boot, instant: MonotonicInstant(nanoseconds: seconds * 1_000_000_000))
    }

    /// Adds two records and returns the pair they make, as weight and body composition.
    private func pair(
        _ first: Record, _ second: Record, pause: UInt64 = 0, through memory: Bool = false,
        boot: String = "boot"
    ) -> [String]? {
        var relations = Relations()
        guard relations.add(first, id: first.id, received: arrival(1_000)) == nil else { return nil }
        if memory { relations = Relations(waiting: relations.waiting) }
        return relations.add(second, id: second.id, received: arrival(1_000 + pause, boot: boot)).map {
            [$0.weight.text, $0.bodyComposition.text]
        }
    }

    /// The weight of one day and the body composition of another are of no weighing, though the clock that stands gives
    /// both one time.
    @Test func aDateThatSaysNothingBringsNothingTogether() throws {
        let weight = try record("w", .weight, at: Self.time)
        let composition = try record("b", .bodyComposition, at: Self.time)
        for (pause, expected): (UInt64, String?) in [(120, "w"), (121, nil)] {
            var relations = Relations()
            let first = relations.add(weight, id: weight.id, received: arrival(0), isDated: false)
            let pair = relations.add(
                composition, id: composition.id, received: arrival(pause), isDated: false)
            #expect(first == nil)
            #expect(pair?.weight.text == expected)
        }
    }

    @Test(arguments: [false, true])
    func weightAndBodyCompositionOfOneTimeAreOneWeighing(overLinks: Bool) throws {
        let weight = try record("w", .weight, at: Self.time)
        let composition = try record("b", .bodyComposition, at: Self.time)
        #expect(pair(weight, composition, pause: 3_600, through: overLinks) == ["w", "b"])
        #expect(pair(composition, weight, pause: 3_600, through: overLinks) == ["w", "b"])
    }

    @Test func twoTimesTwoUsersOrTwoOfAKindAreNotOneWeighing() throws {
        let weight = try record("w", .weight, at: Self.time, user: 1)
        #expect(pair(weight, try record("b", .bodyComposition, at: Self.later, user: 1)) == nil)
        #expect(pair(weight, try record("b", .bodyComposition, at: Self.time, user: 2)) == nil)
        #expect(pair(weight, try record("x", .weight, at: Self.time, user: 1)) == nil)
        #expect(pair(weight, try record("t", .bodyTemperature, at: Self.time, user: 1)) == nil)
        // The same record again is not its own counterpart.
        #expect(pair(weight, weight) == nil)
    }

    @Test func withoutATimeTheyBelongTogetherWhenTheyComeTogether() throws {
        let weight = try record("w", .weight, at: nil)
        let composition = try record("b", .bodyComposition, at: Self.time)
        #expect(pair(weight, composition, pause: 120) == ["w", "b"])
        #expect(pair(weight, composition, pause: 121) == nil)
        // Nobody knows how long the box was off.
        #expect(pair(weight, composition, through: true, boot: "another") == nil)
    }

    @Test func noMoreThanSomeAreRemembered() throws {
        var relations = Relations()
        for number in 0..<100 {
            let record = try record("w\(number)", .weight, at: nil)
            _ = relations.add(record, id: record.id, received: arrival(UInt64(number)))
        }
        #expect(relations.waiting.count == Relations.mostWaiting)
        #expect(relations.waiting.last?.id == "w99")
    }
}
