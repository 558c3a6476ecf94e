import Logging

// What passive reading logs. Devices without an alias share their model's name: their addresses stay out of it.
extension SubsystemLog {
    func heard(_ advertisement: Advertisement, as entry: AllowedPeripheral) {
        let signal = advertisement.rssi.map { " at \($0) dBm" } ?? ""
        self[.passive].trace("\(entry.logName): heard by \(advertisement.adapter)\(signal)")
    }

    func decided(_ action: ReadScheduler.Action) {
        switch action {
        case .discovered(let entry, _):
            self[.passive].debug("\(entry.logName): has woken up")
        case .read(_, let entry, let adapter, let attempt):
            self[.passive].debug("\(entry.logName): is read over \(adapter), attempt \(attempt)")
        case .attempt(_, let entry, let adapter, let attempt):
            self[.passive].debug("\(entry.logName): is waited for on \(adapter), attempt \(attempt)")
        case .withdraw(_, let adapter):
            self[.passive].debug("who was waited for on \(adapter) is not any more")
        case .giveWay(_, let why):
            self[.passive].debug("a link ends for another device: \(why.message)")
        }
    }

    func ended(_ request: PassiveGateway.Request, _ outcome: ReadSession.Outcome) {
        self[.passive].debug("\(request.entry.logName): reading \(outcome.message)")
    }

    func adapters(_ states: [AdapterState]) {
        for state in states {
            let how = state.reason.map { "does not listen: \($0)" } ?? "listens"
            self[.bluetooth].debug("\(state.id) \(how)")
        }
    }

    func connects(_ request: PassiveGateway.Request, isEncrypted: Bool) {
        self[.bluetooth].debug(
            "\(request.entry.logName): connecting over \(request.adapter)\(isEncrypted ? ", encrypted" : "")")
    }

    func connected(_ request: PassiveGateway.Request, error: LinkError?, took: Duration) {
        let outcome = error?.message ?? "connected"
        let milliseconds = Int(took / .milliseconds(1))
        self[.bluetooth].debug("\(request.entry.logName): \(outcome), after \(milliseconds) ms")
    }

    func closed(_ request: PassiveGateway.Request, pduCount: Int) {
        self[.bluetooth].debug("\(request.entry.logName): closed after \(pduCount) ATT PDUs")
    }
}

extension ReadScheduler.GivingWay {
    fileprivate var message: String {
        switch self {
        case .turn: "its turn is over"
        case .silence: "it sent nothing"
        case .connection: "it did not connect"
        }
    }
}

extension ReadSession.Outcome {
    fileprivate var message: String {
        switch self {
        case .succeeded: "succeeded"
        case .failed(let failure): "failed: \(failure.message)"
        case .gaveWay(let why): "ended for another device: \(why.message)"
        case .noMoreLinks: "not begun: the controller makes no further link"
        case .refused: "not begun: a bond is missing or refused"
        case .dayIsFull: "ended: the device gave more than is taken of one in a day"
        case .storeUnusable(let error): "given up: \(error)"
        }
    }
}
