import FlyingSocks
import IngestKit
import Logging

/// What the control socket's server has to say, in the program's log.
struct ControlLog: FlyingSocks.Logging {
    private let log: Logger

    init(_ log: SubsystemLog) {
        self.log = log[.control]
    }

    func logDebug(_ debug: @autoclosure () -> String) {
        log.trace("\(debug())")
    }

    // Requests and connections: of no interest unless somebody asks.
    func logInfo(_ info: @autoclosure () -> String) {
        log.debug("\(info())")
    }

    func logWarning(_ warning: @autoclosure () -> String) {
        log.warning("\(warning())")
    }

    // A client that goes away in the middle of a request is an error there, and our stop is critical. What ends
    // the server against our will is thrown too, and told by who runs it.
    func logError(_ error: @autoclosure () -> String) {
        log.debug("\(error())")
    }

    func logCritical(_ critical: @autoclosure () -> String) {
        log.debug("\(critical())")
    }
}
