import FoundationEssentials
import IngestOperator
import Synchronization
import TestSupport
import Testing

@testable import IngestDaemon

/// A terminal at which the answers are typed in order, and which ends then.
final class ScriptedTerminal: Terminal {
    private struct State {
        var answers: [String]
        var lines: [String] = []
        var prompts: [String] = []
        var secrets = 0
    }

    private let state: Mutex<State>

    init(_ answers: [String]) {
        state = Mutex(State(answers: answers))
    }

    var lines: [String] { state.withLock { $0.lines } }
    var prompts: [String] { state.withLock { $0.prompts } }
    /// How many lines were typed without being shown.
    var secrets: Int { state.withLock { $0.secrets } }
    var left: [String] { state.withLock { $0.answers } }
    var text: String { lines.joined(separator: "\n") }

    func write(_ line: String) throws { state.withLock { $0.lines.append(line) } }
    func prompt(_ text: String) throws { state.withLock { $0.prompts.append(text) } }

    func line() async throws -> String? {
        state.withLock { $0.answers.isEmpty ? nil : $0.answers.removeFirst() }
    }

    func secret(_ question: String) async throws -> String? {
        state.withLock { $0.secrets += 1 }
        try prompt(question)
        return try await line()
    }
}

/// A service that answers what it was given.
final class FakeService: SetupService {
    struct State {
        /// One for each question; the last one stays. Nil: no service runs.
        var statuses: [GatewayStatus?]
        /// What each scan hears; the last one stays.
        var air: [[AirDevice]] = [[]]
        /// The steps of each pairing, of which the last one may be a failure.
        var pairings: [[OperatorStep]] = []
        var records: [FoundRecord?] = [nil]
        var isInstalled = true
        var orders: [String] = []
        var answers: [ControlMessage.Answer] = []
    }

    let state: Mutex<State>

    init(_ state: State) {
        self.state = Mutex(state)
    }

    var orders: [String] { state.withLock { $0.orders } }
    var isRoot: Bool { true }
    var isInstalled: Bool { state.withLock { $0.isInstalled } }

    private static func next<Value>(_ values: inout [Value]) -> Value {
        values.count > 1 ? values.removeFirst() : values[0]
    }

    func status() async throws -> GatewayStatus? { state.withLock { Self.next(&$0.statuses) } }

    func enable() async -> Bool {
        state.withLock { $0.orders.append("enable") }
        return true
    }

    func restart() async -> Bool {
        state.withLock { $0.orders.append("restart") }
        return true
    }

    func reload() async throws -> Bool {
        state.withLock { $0.orders.append("reload") }
        return true
    }

    func scan(seconds: Int) async throws -> [AirDevice] {
        state.withLock {
            $0.orders.append("scan")
            return Self.next(&$0.air)
        }
    }

    func pair(
        _ target: PairingTarget,
        _ show: @escaping @Sendable (OperatorStep, @escaping ServiceOrder.Answer) throws -> Void
    ) async throws {
        let steps = state.withLock {
            $0.orders.append("pair \(target)")
            return $0.pairings.removeFirst()
        }
        for step in steps {
            try show(step) { [self] answer in state.withLock { $0.answers.append(answer) } }
            if step.step == .failed { throw CommandFailure(.badData, step.text ?? "") }
            guard step.step == .passkeyWanted || step.step == .confirmNumber else { continue }
            // The service waits for the answer.
            while state.withLock({ $0.answers.isEmpty }) { await Task.yield() }
        }
    }

    func newestNumber() async -> Int64? { 7 }

    func newestRecord(after number: Int64, of device: SetupDevice) async -> FoundRecord? {
        state.withLock { Self.next(&$0.records) }
    }
}

extension GatewayStatus {
    static func sample(
        adapters: [Adapter] = [Adapter(name: "hci0", isListening: true)], isClockRight: Bool = true,
        peripherals: [Peripheral] = [], destinations: [Destination] = []
    ) -> Self {
        GatewayStatus(
            version: "1.0", gateway: "box", uptime: 1, isClockRight: isClockRight, undated: 0,
            adapters: adapters, peripherals: peripherals, destinations: destinations,
            queue: Queue(bytes: 0, maximumBytes: 1, level: "normal"))
    }
}

/// A test of destinations that fails at some.
struct FixedTest: DestinationTest {
    /// URLs of those at which it fails.
    var failing: Set<String> = []

    func findings(of settings: DestinationSettings, in configuration: Configuration) async -> [Finding] {
        guard failing.contains(settings.form.url ?? "") else { return [.ok(.request, "it was asked")] }
        return [.error(.tcp, "nobody answers", remedy: "mend it")]
    }
}

/// Calls `body` with the path of a configuration without destinations and devices.
func withConfiguration(
    _ text: String = "gateway: {id: box}\n", _ body: (String) async throws -> Void
) async throws {
    try await withTemporaryDirectory { directory in
        try Data(text.utf8).write(to: URL(fileURLWithPath: directory + "/ingestd.yaml"))
        try await body(directory + "/ingestd.yaml")
    }
}

func loaded(_ path: String) throws -> Configuration {
    try #require(ConfigurationPiece(at: path + ".none", of: path).check(nil).configuration)
}

/// A clock at which every sleep is over at once.
final class JumpingClock: GatewayClock {
    private let instant = Mutex(MonotonicInstant(nanoseconds: 1_000_000_000))

    var now: MonotonicInstant { instant.withLock { $0 } }
    var wallNanoseconds: Int64 { DrivenClock.morning }

    func sleep(until deadline: MonotonicInstant) async throws {
        try Task.checkCancellation()
        instant.withLock { $0 = max($0, deadline) }
    }
}
