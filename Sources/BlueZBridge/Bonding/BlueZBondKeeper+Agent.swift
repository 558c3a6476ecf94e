/// The agent (org.bluez.Agent1, BlueZ 5.66 doc/agent-api.txt): answers for the device of the pairing
/// under way, and refuses for every other.
extension BlueZBondKeeper {
    private enum AgentError {
        static let rejected = "org.bluez.Error.Rejected"
        static let canceled = "org.bluez.Error.Canceled"
        static let accessDenied = "org.freedesktop.DBus.Error.AccessDenied"
        static let invalidArguments = "org.freedesktop.DBus.Error.InvalidArgs"
        static let unknownObject = "org.freedesktop.DBus.Error.UnknownObject"
        static let unknownMethod = "org.freedesktop.DBus.Error.UnknownMethod"
    }

    /// What each method takes.
    private static let signatures = [
        "Release": "", "Cancel": "", "RequestPinCode": "o", "DisplayPinCode": "os", "RequestPasskey": "o",
        "DisplayPasskey": "ouq", "RequestConfirmation": "ou", "RequestAuthorization": "o",
        "AuthorizeService": "os",
    ]

    // MARK: In place for a pairing

    /// Has bluetoothd ask our object, and take pairings that last on this adapter. To be called for a
    /// pairing alone: with an agent the adapter is pairable, and the kernel then answers the security
    /// request of a device without a bond by pairing, of which the link may end.
    /// - Returns: whether the adapter was pairable without us.
    func registerAgent(
        for adapter: String, at owner: String, on bus: BusConnection
    ) async throws(PairingError) -> Bool {
        let wasPairable = isPairable(adapter)
        do throws(BusError) {
            _ = try await bus.call(
                BusCall(
                    to: owner, "/org/bluez", "org.bluez.AgentManager1", "RegisterAgent",
                    [.objectPath(Self.agentPath), .string("KeyboardDisplay")]), within: Self.answerTimeout)
        } catch .remote(name: "org.bluez.Error.AlreadyExists") {
        } catch {
            throw PairingError(error)
        }
        if !wasPairable {
            // Done already where no other agent was there; else an operator has switched it off.
            await setPairable(true, adapter, at: owner, on: bus)
        }
        return wasPairable
    }

    /// Undoes what `registerAgent` did.
    func unregisterAgent(
        wasPairable: Bool, for adapter: String, at owner: String, on bus: BusConnection
    ) async {
        // bluetoothd has gone where this fails, and all of it with it.
        _ = try? await bus.call(
            BusCall(
                to: owner, "/org/bluez", "org.bluez.AgentManager1", "UnregisterAgent",
                [.objectPath(Self.agentPath)]), within: Self.answerTimeout)
        if !wasPairable { await setPairable(false, adapter, at: owner, on: bus) }
    }

    private func isPairable(_ adapter: String) -> Bool {
        bluetoothd?.objects?.adapters[adapter]?.isPairable ?? false
    }

    private func setPairable(
        _ isPairable: Bool, _ adapter: String, at owner: String, on bus: BusConnection
    ) async {
        // Refused while bluetoothd is about to do the same by itself.
        _ = try? await bus.call(
            .set(
                "Pairable", of: BluetoothdObjects.adapterInterface, at: adapter, on: owner,
                to: .bool(isPairable)), within: Self.answerTimeout)
    }

    // MARK: Answering

    func received(_ request: BusRequest) {
        guard let bus else { return }
        guard request.path == Self.agentPath else {
            return bus.refuse(request, AgentError.unknownObject)
        }
        guard request.interface == "org.bluez.Agent1", let signature = Self.signatures[request.member] else {
            return bus.refuse(request, AgentError.unknownMethod)
        }
        guard let owner = bluetoothd?.owner, request.sender == owner else {
            return bus.refuse(request, AgentError.accessDenied)
        }
        guard request.signature == signature else {
            return bus.refuse(request, AgentError.invalidArguments)
        }
        switch request.member {
        case "Release":
            return bus.answer(request)
        case "Cancel":
            bus.answer(request)
            withdrawQuestion(AgentError.canceled)
            return
        default:
            break
        }
        guard concernsPairing(request) else { return bus.refuse(request, AgentError.rejected) }
        answer(request, on: bus)
    }

    /// Whether the device asked about is the one that is being paired.
    private func concernsPairing(_ request: BusRequest) -> Bool {
        guard let pairing, pairing.isOpen, let path = request.arguments.first?.text,
            let device = bluetoothd?.objects?.devices[path]
        else { return false }
        // Its address turns into the identity address in the middle; its path stays.
        return path == pairing.path || device.device == pairing.device && device.adapter == pairing.adapter
    }

    private func answer(_ request: BusRequest, on bus: BusConnection) {
        switch (request.member, request.arguments.dropFirst().first) {
        case ("RequestPasskey", _):
            ask(request, refusal: .refused) { responder in
                guard let passkey = await responder.passkey(), passkey <= 999_999 else { return nil }
                return [.uint32(passkey)]
            }
        case ("RequestConfirmation", .uint32(let number)) where number <= 999_999:
            ask(request, refusal: .given) { responder in await responder.confirms(number) ? [] : nil }
        case ("DisplayPasskey", .uint32(let passkey)) where passkey <= 999_999:
            bus.answer(request)
            show(passkey)
        case ("RequestAuthorization", _):
            // Just Works, begun by the device while we began it too.
            bus.answer(request)
        default:
            // A PIN code is of BR/EDR; a service is nothing that we offer.
            bus.refuse(request, AgentError.rejected)
        }
    }

    /// Puts a question to the person, off the loop: whoever answers may take a thread for it.
    /// - Parameter refusal: what it means for the pairing when there is no answer: "no" is one.
    private func ask(
        _ request: BusRequest, refusal: PairingAnswers,
        _ body: @escaping @Sendable (any PairingResponder) async -> [BusValue]?
    ) {
        withdrawQuestion(AgentError.canceled)
        guard let number = pairing?.number, let responder = pairing?.responder else { return }
        let task = Task { @concurrent [weak self] in
            let answer = await body(responder)
            await self?.answered(request, answer, refusal: refusal, in: number)
        }
        pairing?.question = (request, task)
        pairing?.answers = .awaited
        poke()
    }

    private func answered(
        _ request: BusRequest, _ answer: [BusValue]?, refusal: PairingAnswers, in number: UInt64
    ) {
        guard pairing?.number == number, pairing?.question?.request == request else { return }
        pairing?.question = nil
        if let answer {
            pairing?.answers = .given
            bus?.answer(request, answer)
        } else {
            pairing?.answers = refusal
            bus?.refuse(request, AgentError.rejected)
        }
        poke()
    }

    /// Shows a passkey, once: bluetoothd tells it anew with each digit that is typed.
    private func show(_ passkey: UInt32) {
        guard pairing?.display?.passkey != passkey, let responder = pairing?.responder else { return }
        pairing?.answers = .given
        pairing?.display?.task.cancel()
        pairing?.display = (passkey, Task { @concurrent in await responder.show(passkey) })
        poke()
    }

    /// Asks no more: bluetoothd has given it up, or the pairing is over.
    func withdrawQuestion(_ error: String = AgentError.canceled) {
        guard let (request, task) = pairing?.question else { return }
        pairing?.question = nil
        task.cancel()
        // Whoever asked does not wait any more; an answer is due to the bus all the same.
        bus?.refuse(request, error)
    }
}
