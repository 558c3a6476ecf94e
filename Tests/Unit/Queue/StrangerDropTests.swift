import FoundationEssentials
import GRDB
import QueueTestSupport
import Testing

@testable import IngestQueue

/// What of strangers' readings goes, and in which order.
@Suite struct StrangerDropTests {
    private typealias Bench = StrangerBench

    @Test func deliveredRecordsGoFirstThenTheirIDsThenWhatNobodyTakes() async throws {
        try await Bench.run { bench in
            try await bench.add("raw", from: 1, kind: .undecoded)
            try await bench.add("bad", from: 1)
            try await bench.refuseAll()
            for id in ["a", "b"] { try await bench.add(id, from: 1) }
            try await bench.deliverAll()
            for id in ["c", "d"] { try await bench.add(id, from: 1) }
            var gone: [String] = []
            var (before, ids) = (try await bench.ids, try await bench.retained)
            while true {
                let bytes = try await bench.bytes()
                try await bench.drop(of: 1, downTo: bytes - 1)
                guard try await bench.bytes() < bytes else { break }
                let (left, retained) = (try await bench.ids, try await bench.retained)
                gone += before.filter { !left.contains($0) }
                gone += ids.filter { !retained.contains($0) }.map { "id \($0)" }
                (before, ids) = (left, retained)
            }
            // What was dropped last is known until there is no room for that either.
            #expect(gone == ["a", "b", "id a", "id b", "raw", "id raw", "bad", "id bad"])
            #expect(before == ["c", "d"])
            #expect(try await bench.store.counts().destinations[0].dead == 0)
            #expect(try await bench.store.counts().destinations[0].pending == 2)
            // A reading whose id went is taken again.
            try await bench.add("a", from: 1)
            #expect(try await bench.ids == ["c", "d", "a"])
        }
    }

    @Test func theDeviceThatHoldsTheMostGivesFirst() async throws {
        try await Bench.run { bench in
            for number in 0..<9 { try await bench.add("many\(number)", from: 1, kind: .undecoded) }
            for number in 0..<3 { try await bench.add("few\(number)", from: 2, kind: .undecoded) }
            for number in 0..<6 { try await bench.add("some\(number)", from: 3, kind: .undecoded) }
            let few = try await bench.bytes(of: 2)
            let one = few / 3
            let before = try await bench.ids
            try await bench.drop(of: nil, downTo: one * 16)
            let left = try await bench.ids
            let gone = before.filter { !left.contains($0) }
            #expect(gone.count > 1 && gone == gone.indices.map { "many\($0)" })
            try await bench.drop(of: nil, downTo: one * 10)
            let held = try await (bench.bytes(of: 1), bench.bytes(of: 2), bench.bytes(of: 3))
            #expect(held.0 < one * 6 && held.2 < one * 6)
            #expect(held.1 == few)
        }
    }

    @Test func nothingGoesThatWaitsForADestination() async throws {
        let both = [DestinationRouting(name: "clinic"), DestinationRouting(name: "home", order: .fresh)]
        try await Bench.run(both) { bench in
            for number in 0..<12 { try await bench.add("w\(number)", from: number % 3) }
            try await bench.drop(of: nil, downTo: 0)
            #expect(try await bench.ids.count == 12)
            // One of them has all, or has set all aside.
            try await bench.deliverAll(to: "home")
            try await bench.drop(of: nil, downTo: 0)
            #expect(try await bench.ids.count == 12)
            // In a request that nobody has answered.
            let next = try await bench.store.next(Bench.settings)
            #expect(next.ids == (0..<5).map { "w\($0)" })
            try await bench.drop(of: nil, downTo: 0)
            #expect(try await bench.ids.count == 12)
            guard case .batch(let batch) = next else { throw TimedOut() }
            _ = try await bench.store.take(batch, Bench.settings)
            try await bench.drop(of: nil, downTo: 0)
            #expect(try await bench.ids == (5..<12).map { "w\($0)" })
            #expect(try await bench.dropped.isEmpty)
            try await bench.refuseAll()
            try await bench.drop(of: nil, downTo: 0)
            #expect(try await bench.ids.isEmpty)
            #expect(try await bench.store.counts().destinations.map(\.dead) == [0, 0])
        }
    }

    /// When nothing else is left to drop, and from the device that holds the most.
    @Test func whatOnlyDestinationsNeedThatDropTheOldestGoesLast() async throws {
        let destinations = [
            DestinationRouting(name: "clinic"), DestinationRouting(name: "dead", whenFull: .dropOldest),
            DestinationRouting(name: "pressures", kinds: [.bloodPressure], whenFull: .dropOldest),
        ]
        try await Bench.run(destinations) { bench in
            for number in 0..<9 { try await bench.add("many\(number)", from: 1) }
            for number in 0..<3 { try await bench.add("few\(number)", from: 2) }
            // The clinic has not taken them.
            try await bench.drop(of: nil, downTo: 0)
            #expect(try await bench.ids.count == 12)
            try await bench.deliverAll(to: "clinic")
            try await bench.add("raw", from: 1, kind: .undecoded)
            try await bench.add("waits", from: 1)
            // The first five are in a request that nobody has answered.
            let next = try await bench.store.next(Bench.settings, for: "dead")
            #expect(next.ids == (0..<5).map { "many\($0)" })
            let few = try await bench.bytes(of: 2)
            try await bench.drop(of: nil, downTo: bench.bytes() - 1)
            #expect(try await bench.ids.contains("raw") == false)
            #expect(try await bench.backlogDropped.isEmpty)
            try await bench.drop(of: nil, downTo: bench.bytes() - few)
            let left = try await bench.ids
            #expect(left.prefix(5) == (0..<5).map { "many\($0)" }[...])
            #expect(left.filter { $0.hasPrefix("few") }.count == 3)
            #expect(!left.contains("many5"))
            try await bench.drop(of: nil, downTo: 0)
            #expect(try await bench.ids == (0..<5).map { "many\($0)" } + ["waits"])
            let told = try await bench.backlogDropped
            #expect(Set(told.map(\.destination)) == ["dead"])
            #expect(told.map(\.count).reduce(0, +) == 7)
            #expect(try await bench.dropped.isEmpty)
            // What was dropped last is known.
            #expect(
                try await bench.store.add(try record("few2", address: Bench.address(2)))
                    == .duplicate(RecordID(text: "few2")))
        }
    }

    /// What a pinned device gave stays, whatever a destination makes of it.
    @Test func pinnedDevicesLoseNothing() async throws {
        try await Bench.run { bench in
            let raw = try record("raw", kind: .undecoded)
            try await bench.store.add(raw)
            try await bench.store.records.freeze([raw])
            try await bench.store.fill(["bad"])
            try await bench.add("stranger", from: 1)
            try await bench.refuseAll()
            try await bench.store.fill(["a"])
            try await bench.deliverAll()
            try await bench.drop(of: nil, downTo: 0)
            #expect(try await bench.ids == ["raw", "bad", "a"])
            #expect(try await bench.store.counts().destinations[0].dead == 1)
        }
    }

    @Test func whatIsForNoDestinationGoesAndWithoutDestinationsNothingDoes() async throws {
        try await Bench.run([DestinationRouting(name: "clinic", kinds: [.bloodPressure])]) { bench in
            try await bench.add("temperature", from: 1)
            try await bench.add("pressure", from: 1, kind: .bloodPressure)
            try await bench.drop(of: nil, downTo: 0)
            #expect(try await bench.ids == ["pressure"])
        }
        try await Bench.run([]) { bench in
            try await bench.add("temperature", from: 1)
            try await bench.add("raw", from: 1, kind: .undecoded)
            try await bench.drop(of: nil, downTo: 0)
            #expect(try await bench.ids == ["temperature"])
        }
    }

    /// A record in the hands of its link, or that waits for its time, is not complete.
    @Test func whatIsNotReleasedStays() async throws {
        try await Bench.run { bench in
            for kind in [RecordKind.undecoded, .bodyTemperature] {
                _ = try await bench.store.records.commit(
                    RecordSubmission(
                        record: try record("\(kind.rawValue)", kind: kind, address: Bench.address(1)),
                        repetition: .identified, received: bench.clock.now, decodeError: nil,
                        isStranger: true))
            }
            try await bench.drop(of: nil, downTo: 0)
            #expect(try await bench.ids.count == 2)
        }
    }

    /// Of equal readings without a date their number tells which is known: their ids go together, or none goes.
    @Test func idsOfReadingsWithoutADateGoTogether() async throws {
        try await Bench.run { bench in
            for ordinal in 0..<3 {
                try await bench.add("u\(ordinal)", from: 1, repetition: .storedUndated(ordinal: ordinal))
                if ordinal == 1 { try await bench.deliverAll() }
            }
            try await bench.add("dated", from: 1)
            // The third waits: the memory can still be told by what is known.
            try await bench.drop(of: nil, downTo: 0)
            #expect(try await bench.ids == ["u2", "dated"])
            #expect(try await bench.retained == ["u0", "u1"])
            try await bench.deliverAll()
            try await bench.drop(of: nil, downTo: 0)
            #expect(try await bench.ids.isEmpty)
            #expect(try await bench.retained.isEmpty)
            #expect(try await bench.bytes() == 0)
        }
    }
}
