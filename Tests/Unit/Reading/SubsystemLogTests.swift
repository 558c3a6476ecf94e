import Logging
import Synchronization
import TestSupport
import Testing

@testable import IngestCore
@testable import IngestDelivery
@testable import IngestReading
@testable import IngestRecords
@testable import IngestStorage

@Suite struct SubsystemLogTests {
    private let lines = Lines()

    private func log(_ configured: LogSettings) -> SubsystemLog {
        SubsystemLog(configured) { [lines] level, subsystem, words in
            lines.add("\(level.rawValue) \(subsystem.rawValue): \(words)")
        }
    }

    @Test func eachSubsystemHasItsLevelOrTheOneOfAll() {
        let log = log(.init(level: .warning, subsystems: [.bluetooth: .debug]))
        for subsystem in Subsystem.allCases {
            log[subsystem].trace("trace")
            log[subsystem].debug("debug")
            log[subsystem].warning("warning")
        }
        #expect(lines.all.filter { $0.contains("debug") } == ["debug bluetooth: debug"])
        #expect(lines.all.filter { $0.contains("warning") }.count == Subsystem.allCases.count)
        #expect(!lines.all.contains { $0.contains("trace") })
    }

    /// Whoever has taken a logger keeps it over a reload.
    @Test func aReloadChangesTheLevelsOfLoggersInUse() {
        let log = log(.init(level: .info, subsystems: [:]))
        let delivery = log[.delivery]
        delivery.debug("before")
        log.apply(.init(level: .info, subsystems: [.delivery: .trace]))
        delivery.trace("meanwhile")
        log[.queue].debug("of another")
        log.apply(.init(level: .error, subsystems: [:]))
        delivery.warning("after")
        #expect(lines.all == ["trace delivery: meanwhile"])
    }

    @Test func aMessageThatIsNotLoggedIsNotMade() {
        let log = log(.init(level: .info, subsystems: [:]))
        log[.passive].debug("\(lines.made())")
        #expect(lines.all.isEmpty)
        log[.passive].info("\(lines.made())")
        #expect(lines.all == ["made", "info passive: made"])
    }

    @Test func aLineNamesARecordByItsTag() throws {
        let id = "212439d9-1b6a-5d07-8092-9420fec8b57f"
        let key = try #require(TagKey(Array(0..<32)))
        let plain = log(.init(level: .debug, subsystems: [:]))
        let entry = AllowedPeripheral(model: .sample(id: 1001), alias: "kitchen cuff")
        for log in [plain, plain.tagging(by: key)] {
            log.committed(
                [try record(id), try record(id)],
                [.committed(RecordID(text: id)), .duplicate(RecordID(text: id))], of: entry, took: .zero)
        }
        let named = lines.all.filter { $0.contains("records:") }
        #expect(
            named == [
                "debug records: 1001 (kitchen cuff): body-temperature is new, live",
                "debug records: 1001 (kitchen cuff): body-temperature was there",
                "debug records: 1001 (kitchen cuff): body-temperature f3a666602a585c57 is new, live",
                "debug records: 1001 (kitchen cuff): body-temperature f3a666602a585c57 was there",
            ])
    }

    @Test(arguments: [
        (DeliveryAnswer.taken(httpStatus: 200), "taken (status 200)"),
        (
            .refused(httpStatus: 422, error: "it does not accept the record", reply: "138 is too high"),
            "refused (status 422) (it does not accept the record)"
        ),
        (
            .unavailable(httpStatus: nil, error: "no connection", retryAfter: nil),
            "unavailable (no connection)"
        ),
    ])
    func aRequestIsLoggedWithoutTheServersWords(answer: DeliveryAnswer, words: String) async {
        let clock = DrivenClock()
        let destination = LoggedDestination(
            Answering(answer: answer, clock: clock), name: "clinic", clock: clock,
            log: log(.init(level: .info, subsystems: [.delivery: .debug])))
        #expect(await destination.deliver(OutgoingBatch(gateway: "box", records: ["{}", "{}"])) == answer)
        #expect(lines.all == ["debug delivery: clinic: 2 record(s), \(words) after 120 ms"])
    }

    private struct Answering: Destination {
        let answer: DeliveryAnswer
        let clock: DrivenClock

        func deliver(_ batch: OutgoingBatch) async -> DeliveryAnswer {
            clock.advance(by: .milliseconds(120))
            return answer
        }
    }
}

/// Keeps lines.
private final class Lines: Sendable {
    private let kept = Mutex<[String]>([])

    var all: [String] { kept.withLock { $0 } }

    func add(_ line: String) {
        kept.withLock { $0.append(line) }
    }

    func made() -> String {
        add("made")
        return "made"
    }
}
