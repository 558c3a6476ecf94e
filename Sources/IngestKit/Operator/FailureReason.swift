/// Why what an operator asked for was refused, or failed: `reason` of the control socket and of `--json`.
package enum FailureReason: String, Sendable, Hashable, CaseIterable, Codable {
    /// A request that is not understood, or that names what is not there.
    case badRequest = "bad-request"
    case badTarget = "bad-target"
    /// Of what only root and the service's own user may see.
    case noPermission = "no-permission"
    /// Of records that are set aside.
    case unknownRecord = "unknown-record"
    case ambiguousRecord = "ambiguous-record"
    case undecoded
    case damaged
    case notConfigured = "not-configured"
    case unassigned
    case notUnassigned = "not-unassigned"
    case controlSolution = "control-solution"
    case anotherPerson = "another-person"
    case anotherSession = "another-session"
    /// Of scans, reads and pairings that are not taken up.
    case notAllowed = "not-allowed"
    case onlyBroadcasts = "only-broadcasts"
    case busy
    case readingUnderWay = "reading-under-way"
    case unknownOrder = "unknown-order"
    case notAsked = "not-asked"
    case noKeeper = "no-keeper"
    case adapterUnavailable = "adapter-unavailable"
    case noAdapter = "no-adapter"
    /// Of reads.
    case notSeen = "not-seen"
    case givenOnce = "given-once"
    case readFailed = "read-failed"
    case noBond = "no-bond"
    /// Of pairings and bonds.
    case notHeard = "not-heard"
    case notReachable = "not-reachable"
    case alreadyPaired = "already-paired"
    case otherDevice = "other-device"
    case passkeyNotAsked = "passkey-not-asked"
    case badPasskey = "bad-passkey"
    case refused
    case wrongPasskey = "wrong-passkey"
    case noAnswer = "no-answer"
    case timedOut = "timed-out"
    case notBonded = "not-bonded"
    case whichDevice = "which-device"
    /// Of sign-ins.
    case badToken = "bad-token"
    case tokenOfAnotherPlace = "token-of-another-place"
    case tokenOfAnotherUser = "token-of-another-user"
    case tokenRefused = "token-refused"
    case anotherUser = "another-user"
    case unreachable
    /// It takes longer than one request waits: ask again.
    case underWay = "under-way"
    /// Of a reload.
    case rejected
    /// Of anything.
    case cancelled
    case storeError = "store-error"
    /// Of entries: the clock is not known to be right, or an import has to wait.
    case noTime = "no-time"
    case queueFull = "queue-full"
    /// What bluetoothd says beside these, or another version of the program.
    case other

    /// A reason that only a later version knows is another one.
    package init(from decoder: any Decoder) throws {
        self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .other
    }
}
