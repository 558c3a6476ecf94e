import TestSupport
import Testing

@testable import IngestSupervision

/// What the metrics count since the start, and the moments that they give.
@Suite struct ActivityTests {
    private let clock = DrivenClock(wall: DrivenClock.morning)
    private let cuff = PeripheralReference(peripheralID: 1001, alias: "kitchen cuff")

    private func metrics(of sink: CountingSink, started: MonotonicInstant? = nil) -> [Substring] {
        var status = GatewayStatus(
            version: "1.2.3", gateway: "box", uptime: 1, isClockRight: true, undated: 0, adapters: [],
            peripherals: [], destinations: [], queue: .init(bytes: 1, maximumBytes: 2, level: "normal"))
        status.activity = sink.activity
        status.clocks = clock.reading
        status.startedAt = started
        return Metrics(status).description.split(separator: "\n")
    }

    @Test func readingsFailuresAndReloadsAreCounted() {
        let sink = CountingSink(RecordingSink(), clock: clock)
        let log = EventLog(sink: sink)
        let id = RecordID(text: "a")
        let events: [Event] = [
            .started(version: "1.2.3"),
            .read(recordID: id, kind: .bloodPressure, cuff),
            .read(recordID: id, kind: .bloodPressure, cuff),
            .read(recordID: id, kind: .weight, .entry),
            .duplicateIgnored(recordID: id, kind: .bloodPressure, cuff),
            .readFailed(cuff, error: "the link ended", attempt: 1),
            .decodeError(recordID: id, cuff, error: "too short"),
            .decodeError(recordID: nil, cuff, error: "the bind key is wrong"),
            .configReloaded,
            .configReloaded,
            .configRejected(error: "c.yaml:1:1: pasive"),
        ]
        for event in events { log.emit(event) }
        let lines = metrics(of: sink)
        for line in [
            "ingestd_readings_total 2", "ingestd_read_failures_total 1", "ingestd_decode_errors_total 2",
            #"ingestd_config_reloads_total{result="taken"} 2"#,
            #"ingestd_config_reloads_total{result="rejected"} 1"#,
            "# TYPE ingestd_readings_total counter",
        ] {
            #expect(lines.contains { $0 == line }, "\(line)")
        }
    }

    /// An outbox that is told again after a journal that was away gives what was not taken once more.
    @Test func onlyWhatTheJournalHasTakenIsCounted() async {
        let sink = CountingSink(Reluctant(taking: 2), clock: clock)
        let entry = Event.read(recordID: RecordID(text: "a"), kind: .bloodPressure, cuff).entry()
        #expect(await sink.deliver([entry, entry, entry]) == 2)
        #expect(sink.activity.readings.count == 2)
    }

    @Test func momentsFollowTheSystemClock() {
        let morning = DrivenClock.morning / 1_000_000_000
        let sink = CountingSink(RecordingSink(), clock: clock)
        let started = clock.now
        func moment(_ name: String) -> Int64? {
            let line = metrics(of: sink, started: started).first { $0.hasPrefix("ingestd_\(name) ") }
            return line.flatMap { Int64($0.split(separator: " ")[1]) }
        }
        #expect(moment("start_time_seconds") == morning)
        #expect(moment("config_last_reload_success_timestamp_seconds") == morning)
        #expect(moment("last_reading_timestamp_seconds") == 0)
        clock.advance(by: .seconds(60))
        let log = EventLog(sink: sink)
        log.emit(.read(recordID: RecordID(text: "a"), kind: .bloodPressure, cuff))
        log.emit(.configReloaded)
        clock.advance(by: .milliseconds(3_500))
        #expect(moment("start_time_seconds") == morning)
        #expect(moment("last_reading_timestamp_seconds") == morning + 60)
        #expect(moment("config_last_reload_success_timestamp_seconds") == morning + 60)
        #expect(moment("last_read_failure_timestamp_seconds") == 0)
        #expect(moment("last_decode_error_timestamp_seconds") == 0)
        clock.step(by: .seconds(1_000))
        #expect(moment("start_time_seconds") == morning + 1_000)
        #expect(moment("last_reading_timestamp_seconds") == morning + 1_060)
        // A reload that was rejected changes nothing that is in force.
        log.emit(.configRejected(error: "c.yaml:1:1: pasive"))
        #expect(moment("config_last_reload_success_timestamp_seconds") == morning + 1_060)
    }
}

/// A journal that takes so many entries and no more.
private final class Reluctant: EventSink {
    private let limit: Int

    init(taking limit: Int) { self.limit = limit }

    func write(_ entry: JournalEntry) {}

    func deliver(_ entries: [JournalEntry]) async -> Int { min(limit, entries.count) }
}
