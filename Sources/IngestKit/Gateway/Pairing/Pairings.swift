/// Drives pairing beside passive reading (docs/notes/decisions.md, "Pairing"): one at a time, begun by the
/// operator or, where the allow-list says so, by the gateway.
package actor Pairings {
    /// How long the steps of a pairing are awaited at once.
    package static let longestPoll = Duration.seconds(10)
    /// A pairing whose operator has not asked for its steps for so long is cancelled.
    static let lease = Duration.seconds(25)
    /// How long reads under way may take to end before a pairing: a link without a stream.
    static let readingTimeout = Duration.seconds(200)
    /// The same before bonds are removed.
    static let unpairPatience = Duration.seconds(10)
    /// Between two looks at the clock. Nothing is searched for when nobody pairs.
    static let pace = Duration.milliseconds(250)

    struct Order: Sendable {
        let job: PairingJob
        let target: PairingTarget
        let entries: [AllowedPeripheral]
        /// What was heard already of a device that is paired without being asked.
        let heard: Advertisement?
    }

    enum Input: Sendable {
        case heard(Advertisement)
        case tick
    }

    let gateway: PassiveGateway
    let ports: PassiveGateway.Ports
    let passkey: PasskeySource
    private var desk = JobDesk<PairingJob>()
    private var isUnpairing = false
    private let orders: AsyncStream<Order>
    private let ordersContinuation: AsyncStream<Order>.Continuation

    /// - Parameter ports: those of the gateway.
    package init(gateway: PassiveGateway, ports: PassiveGateway.Ports, passkey: @escaping PasskeySource) {
        self.gateway = gateway
        self.ports = ports
        self.passkey = passkey
        (orders, ordersContinuation) = AsyncStream.makeStream()
    }

    /// Pairs what is asked for, until the task is cancelled; a pairing under way is stopped then.
    package func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await wish in await self.gateway.pairing.wishes { await self.consider(wish) }
            }
            for await order in orders {
                group.addTask { await self.perform(order) }
            }
            group.cancelAll()
        }
        // What was not taken up never will be.
        desk.close()
        ended()
    }

    /// Has reading wait, and `body` run when nothing is read any more.
    func whileNothingIsRead(
        _ body: () async throws(UnpairFailure) -> Void
    ) async throws(UnpairFailure) {
        guard !isPairing, !isUnpairing, gateway.turn.take() else { throw .busy }
        isUnpairing = true
        await gateway.beginPairing { _ in false }
        var result = Result<Void, UnpairFailure>.failure(.busy)
        let end = ports.clock.now + Self.unpairPatience
        while await gateway.isReading, ports.clock.now < end,
            (try? await ports.clock.sleep(for: Self.pace)) != nil
        {}
        if await !gateway.isReading {
            do throws(UnpairFailure) {
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
        }
        await gateway.endPairing()
        isUnpairing = false
        gateway.turn.giveBack()
        try result.get()
    }

    /// Whether a pairing is under way.
    var isPairing: Bool { desk.current != nil }

    // MARK: Requests

    /// Takes up a pairing.
    /// - Returns: its name.
    package func begin(_ target: PairingTarget) async throws(PairingRefusal) -> String {
        guard ports.bondKeeper != nil else { throw .noKeeper }
        let entries = try await gateway.allowList.pairable(target)
        guard await gateway.bonds.all != nil else { throw .noKeeper }
        return try take(target, entries, heard: nil).id
    }

    /// The steps after number `after`, once there are any; none when `longestPoll` passes without.
    package func steps(of id: String, after: Int) async throws(PairingRefusal) -> [PairingStep] {
        try await job(id).steps(after: after, within: Self.longestPoll)
    }

    /// Answers the question that the pairing asks.
    /// - Parameter step: the number of the step that asked; nil: the one that is open.
    package func answer(
        _ answer: PairingAnswer, to id: String, step: Int? = nil
    ) async throws(PairingRefusal) {
        try await job(id).answered(answer, to: step)
    }

    /// Stops a pairing; returns when it has ended.
    package func cancel(_ id: String) async throws(PairingRefusal) {
        guard try job(id) === desk.current else { return }
        desk.stop()
        await withCheckedContinuation { desk.whenEnded($0) }
    }

    private func job(_ id: String) throws(PairingRefusal) -> PairingJob {
        guard let job = desk.job(id) else { throw .unknown }
        return job
    }

    private func take(
        _ target: PairingTarget, _ entries: [AllowedPeripheral], heard: Advertisement?
    ) throws(PairingRefusal) -> PairingJob {
        guard desk.current == nil, !isUnpairing, !desk.isClosed, gateway.turn.take() else { throw .busy }
        // Not counted: who asks for one of an earlier run of the gateway must not get another's.
        let id = String(UInt64.random(in: .min ... .max), radix: 16)
        let job = PairingJob(id: id, isAutomatic: heard != nil, clock: ports.clock)
        desk.take(job)
        ordersContinuation.yield(Order(job: job, target: target, entries: entries, heard: heard))
        return job
    }

    /// A device wants to be paired that may be without being asked.
    private func consider(_ wish: PairingHold.Wish) async {
        // It may have been paired since it was heard.
        guard await gateway.pairsUnasked(wish.advertisement.device, as: wish.entry),
            await !gateway.isReadingAtOnce, await gateway.mayPair(wish.entry), desk.current == nil
        else { return }
        _ = try? take(.device(wish.advertisement.device.address), [wish.entry], heard: wish.advertisement)
    }

    // MARK: Orders

    private func perform(_ order: Order) async {
        let task = Task { await carryOut(order) }
        desk.began(task)
        await order.job.attend(task, lease: order.heard == nil ? Self.lease : nil, by: ports.clock)
        ended()
    }

    private func ended() {
        if desk.current != nil { gateway.turn.giveBack() }
        desk.end()
    }
}
