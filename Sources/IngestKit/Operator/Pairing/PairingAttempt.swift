/// One attempt to pair: answers what the bond keeper asks with the passkey of the entry, or asks the operator.
actor PairingAttempt: PairingResponder {
    /// Who answers.
    enum Answerer: Sendable {
        case theOperator(OperatorJob)
        /// Nobody looks on. The closure says whether the passkey of the entry may be given now.
        case nobody(mayGivePasskey: @Sendable () async -> Bool)
    }

    private let answerer: Answerer
    /// Of the entry's credential.
    private let known: UInt32?
    /// Whether the device has asked for `known` and got it.
    private(set) var hasGivenPasskey = false
    /// Whether the device had a bond that it takes.
    private(set) var hasKeptBond = false

    init(_ answerer: Answerer, passkey: UInt32?) {
        self.answerer = answerer
        known = passkey
    }

    package func passkey() async -> UInt32? {
        switch (known, answerer) {
        case (let known?, .nobody(let mayGivePasskey)):
            guard await mayGivePasskey() else { return nil }
            hasGivenPasskey = true
            return known
        case (let known?, .theOperator):
            hasGivenPasskey = true
            return known
        case (nil, .nobody): return nil
        case (nil, .theOperator(let job)):
            let step = OperatorStep(
                .passkeyWanted, "The device wants its passkey: six digits that it shows, or its manual.")
            guard case .passkey(let passkey) = await job.ask(step) else { return nil }
            return passkey
        }
    }

    package func confirms(_ number: UInt32) async -> Bool {
        guard case .theOperator(let job) = answerer else { return false }
        let step = OperatorStep(.confirmNumber, "Does the device show this number?", code: number)
        return await job.ask(step) == .sameNumber(true)
    }

    package func show(_ passkey: UInt32) async {
        guard case .theOperator(let job) = answerer else { return }
        await job.prompt(OperatorStep(.typeOnDevice, "Type this code on the device.", code: passkey))
    }

    package func keepsBond() { hasKeptBond = true }
}

/// What an operator answers to a step that asks.
package enum PairingAnswer: Sendable, Equatable {
    /// 0 to 999999; nil refuses.
    case passkey(UInt32?)
    /// Whether the device shows the same number.
    case sameNumber(Bool)
}
