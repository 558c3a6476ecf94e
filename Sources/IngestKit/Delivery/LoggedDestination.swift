package import IngestEvents
import IngestRecords
import Logging

/// A destination whose requests are in the program's log.
package struct LoggedDestination: Destination {
    private let name: String
    private let destination: any Destination
    private let clock: any GatewayClock
    private let log: Logger

    package init(
        _ destination: any Destination, name: String, clock: any GatewayClock, log: SubsystemLog
    ) {
        self.name = name
        self.destination = destination
        self.clock = clock
        self.log = log[.delivery]
    }

    package var takesImages: Bool { destination.takesImages }

    package func deliver(_ batch: OutgoingBatch) async -> DeliveryAnswer {
        let start = clock.now
        log.trace("\(name): sends \(batch.records.count) record(s)")
        let answer = await destination.deliver(batch)
        let milliseconds = Int(clock.now.since(start) / .milliseconds(1))
        log.debug("\(name): \(batch.records.count) record(s), \(answer.outcome) after \(milliseconds) ms")
        return answer
    }

    package func renew() async -> Bool { await destination.renew() }

    package func failedSubmission(of batch: OutgoingBatch) -> FailedSubmission? {
        destination.failedSubmission(of: batch)
    }
}

extension DeliveryAnswer {
    /// Without what the server said.
    fileprivate var outcome: String {
        func with(_ status: Int?, _ error: String? = nil) -> String {
            [status.map { "status \($0)" }, error].compactMap(\.self).map { " (\($0))" }.joined()
        }
        return switch self {
        case .taken(let status, _): "taken" + with(status)
        case .inProgress(let status, _): "in progress" + with(status)
        case .refused(let status, let error, _): "refused" + with(status, error)
        case .unfit(let reason): "not sent" + with(nil, reason.text)
        case .tooLarge(let status): "too large" + with(status)
        case .unauthorized(let status, let error): "not authorized" + with(status, error)
        case .sessionEnded(let status): "session ended" + with(status)
        case .misplaced(let status, let error): "not the place" + with(status, error)
        case .busy(let status, let error, _): "busy" + with(status, error)
        case .unavailable(let status, let error, _): "unavailable" + with(status, error)
        case .failing(let error): "failing" + with(nil, error)
        }
    }
}
