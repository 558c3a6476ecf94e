import BlueZBridge
import IngestKit

struct Simulation: Sendable {
    let radio: any Radio
    init(loop: RadioLoop, clock: any GatewayClock) async throws { throw CommandFailure(.unavailable, "no") }
    func run() async throws {}
    func summary() async -> String { "" }
}
