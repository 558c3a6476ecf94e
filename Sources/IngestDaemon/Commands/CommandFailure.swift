/// Exit codes of sysexits(3), as the commands use them.
package enum ExitStatus: Int32, Sendable {
    case usage = 64
    case badData = 65
    case noInput = 66
    case unavailable = 69
    case cannotCreate = 73
    /// EX_IOERR.
    case outputFailed = 74
    case tryAgain = 75
    case noPermission = 77
    case configuration = 78
    /// Not of sysexits: what a shell says of a command that SIGINT ended.
    case interrupted = 130
}

/// Ends a command: what to say on standard error, and how to exit.
package struct CommandFailure: Error {
    let status: ExitStatus
    let message: String
    /// The same for an event, where the message may name devices or persons.
    var event: String?

    package init(_ status: ExitStatus, _ message: String, event: String? = nil) {
        self.status = status
        self.message = message
        self.event = event
    }

    /// What is missing for the radio, and what to do about it.
    init(_ error: ManagementError) {
        switch error {
        case .noBluetooth:
            self.init(
                .unavailable,
                "this kernel offers no Bluetooth: load its module (modprobe bluetooth), and do not use "
                    + "PrivateNetwork= or another network namespace")
        case .noPermission:
            self.init(
                .noPermission,
                "CAP_NET_ADMIN is missing: run it as the service ingestd.service, which has it "
                    + "(AmbientCapabilities=CAP_NET_ADMIN, without PrivateUsers=), or as root")
        case .ended:
            self.init(.tryAgain, "the kernel's management socket has ended: start again")
        case .threadsRunning, .system, .status, .noAnswer, .malformed:
            self.init(.unavailable, "the kernel's Bluetooth cannot be used: \(error)")
        }
    }

    /// A file that is not to be trusted is looked at by the process that starts next; what is in the
    /// way otherwise needs somebody.
    init(_ error: StoreError) {
        switch error.kind {
        case .ioError, .corrupt, .replaced, .busy, .full: self.init(.tryAgain, error.description)
        case .missing, .olderVersion: self.init(.unavailable, error.description)
        default: self.init(.cannotCreate, error.description)
        }
    }

    /// What an event says of it.
    var eventText: String {
        event ?? message.split(separator: "\n").first.map(String.init) ?? ""
    }
}
