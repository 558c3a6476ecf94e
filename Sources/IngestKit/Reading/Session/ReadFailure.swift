/// Why a session ended before its time.
package enum SessionError: Error, Equatable {
    case link(LinkError)
    /// The peripheral took the subscription and sent nothing.
    case noMeasurement
    /// The peripheral did not report its stored records; our words for why.
    case noReport(String)
    /// The profile is not one that is read over a link.
    case notReadable
    /// The queue did not take the record: nothing was confirmed. `fatal` where the queue is of no
    /// further use.
    case store(String, fatal: StoreError?)
    /// The queue has no room for what unpinned devices give: nothing was confirmed.
    case strangersFull
    /// More than is taken of one device in a day, which ends then: what it offered was not confirmed.
    case dayIsFull(until: MonotonicInstant)

    /// Whether what was not committed before it is not to be committed now.
    var isCommitFailure: Bool {
        switch self {
        case .store, .strangersFull, .dayIsFull: true
        case .link, .noMeasurement, .noReport, .notReadable: false
        }
    }

    /// Whether it came in the middle of what the device was about to give: what came before it came whole.
    var isInterruption: Bool {
        switch self {
        case .link, .strangersFull, .dayIsFull: true
        // A report that the device has ended may lack any of its records.
        case .noReport, .noMeasurement, .notReadable, .store: false
        }
    }

    /// Whether the queue did not take what the device gave.
    var isOfStore: Bool { if case .store = self { true } else { false } }

    /// What happened: our words, nothing that a peer said.
    var message: String {
        switch self {
        case .link(let error): error.message
        case .noMeasurement: "the peripheral sent no measurement within 30 s"
        case .noReport(let words): words
        case .notReadable: "this version cannot read the model's profile"
        case .strangersFull:
            "there is no room for readings of devices without an address in the allow-list: ingestd status says why"
        case .dayIsFull: DailyAllowance.message
        case .store(let words, _): "the reading could not be committed and was not confirmed: \(words)"
        }
    }
}

/// Why a read came to nothing.
package struct ReadFailure: Sendable, Equatable {
    package enum Cause: Sendable, Equatable {
        /// The link could not be made, or ended the session.
        case session(SessionError)
        /// The model's profile is one of a later version.
        case profileUnknown(String)
        /// Our words for why.
        case queueUnreadable(String)
        /// Nobody waits for the device any more.
        case withdrawn
        /// The queue's disk does not answer.
        case diskHangs
        /// The queue is full.
        case queueFull
        /// Another read has the adapter.
        case adapterInUse
    }

    package let cause: Cause
    /// What may help: our words.
    package var advice: String?

    static func session(_ error: SessionError) -> Self { Self(cause: .session(error)) }
    static func link(_ error: LinkError) -> Self { .session(.link(error)) }
    static let withdrawn = Self(cause: .withdrawn)
    static let diskHangs = Self(cause: .diskHangs)

    /// Whether the peripheral gave nothing over a link without encryption.
    var isForWantOfBond: Bool { cause == .session(.link(.notEncrypted)) }

    /// What happened and what to do, for the journal: our words, nothing that a peer said.
    package var message: String {
        let words =
            switch cause {
            case .session(let error): error.message
            case .profileUnknown(let name): "this version cannot read the profile \(name)"
            case .queueUnreadable(let words): "the queue could not be read: \(words)"
            case .withdrawn: "the attempt was withdrawn"
            case .diskHangs: "the disk does not answer"
            case .queueFull: "there is no room for readings: ingestd status says why"
            case .adapterInUse: "its adapter is in use"
            }
        return advice.map { "\(words); \($0)" } ?? words
    }
}
