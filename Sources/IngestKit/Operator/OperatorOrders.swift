/// Carries out orders beside passive reading, one at a time: an operator's scans, reads and pairings
/// (docs/notes/control-socket.md, "Orders"), and the pairings that the gateway begins by itself where the allow-list says
/// so (docs/notes/decisions.md, "Pairing").
package actor OperatorOrders {
    /// How long the steps of an order are awaited at once.
    package static let longestPoll = Duration.seconds(10)
    /// An order whose operator has not asked for its steps for so long is cancelled.
    static let lease = Duration.seconds(25)
    /// How long reads under way may take to end before an order: a link without a stream.
    static let readingTimeout = Duration.seconds(200)
    /// The same before bonds are removed.
    private static let unpairPatience = Duration.seconds(10)
    /// Between two looks at the clock, while an order is carried out.
    static let pace = Duration.milliseconds(250)

    /// What is asked for.
    package enum Order: Sendable, Equatable {
        /// What is in the air, listened to for so long.
        case scan(Duration)
        case read(OperatorRead)
        /// A bond with a device that the allow-list allows.
        case pair(PairingTarget)
    }

    private enum Work: Sendable {
        case scan(Duration)
        case read(OperatorRead)
        case pair(PairingOrder)

        var hasOperator: Bool {
            if case .pair(let order) = self { order.heard == nil } else { true }
        }
    }

    private struct Assignment: Sendable {
        let job: OperatorJob
        let work: Work
    }

    let gateway: PassiveGateway
    let ports: PassiveGateway.Ports
    let scanner: any ActiveScanner
    let passkey: PasskeySource
    private var desk = OrderDesk()
    private var isUnpairing = false
    private let assignments: AsyncStream<Assignment>
    private let assignment: AsyncStream<Assignment>.Continuation

    /// - Parameter ports: those of the gateway.
    package init(
        gateway: PassiveGateway, ports: PassiveGateway.Ports, scanner: any ActiveScanner,
        passkey: @escaping PasskeySource
    ) {
        self.gateway = gateway
        self.ports = ports
        self.scanner = scanner
        self.passkey = passkey
        (assignments, assignment) = AsyncStream.makeStream()
    }

    /// Carries out what is asked for, until the task is cancelled; what is under way is stopped then.
    package func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await wish in self.gateway.wishes { await self.consider(wish) }
            }
            for await assignment in assignments {
                group.addTask { await self.perform(assignment) }
            }
            group.cancelAll()
        }
        // What was not taken up never will be.
        desk.close()
        desk.end()
    }

    /// Whether an order is under way.
    var isUnderWay: Bool { desk.current != nil }

    // MARK: Requests

    /// Takes up an order.
    /// - Returns: its name.
    package func begin(_ order: Order) async throws(OrderRefusal) -> String {
        let work: Work
        switch order {
        case .scan(let duration): work = .scan(duration)
        case .read(let read):
            do throws(OrderRefusal) {
                _ = try await gateway.allowList.pairable(read.target)
            } catch {
                throw error == .needsNoPairing(read.target) ? .onlyBroadcasts(read.target) : error
            }
            work = .read(read)
        case .pair(let target):
            guard ports.bondKeeper != nil else { throw .noKeeper }
            let entries = try await gateway.allowList.pairable(target)
            guard await keptBonds() != nil else { throw .noKeeper }
            work = .pair(PairingOrder(target: target, entries: entries, heard: nil))
        }
        await lastHasEnded()
        return try take(work).id
    }

    /// Nil where nobody keeps bonds, or bluetoothd does not run.
    func keptBonds() async -> Set<Bond>? {
        if let all = await gateway.bonds.all { return all }
        guard case .known(let bonds) = await ports.bondKeeper?.current() else { return nil }
        return bonds
    }

    /// An order tells its end a moment before it has ended.
    private func lastHasEnded() async {
        guard let last = desk.current, await last.isOver, last === desk.current else { return }
        await withCheckedContinuation { desk.whenEnded($0) }
    }

    private func take(_ work: Work) throws(OrderRefusal) -> OperatorJob {
        guard desk.current == nil, !isUnpairing, !desk.isClosed else { throw .busy }
        // Not counted: who asks for one of an earlier run of the gateway must not get another's.
        let id = String(UInt64.random(in: .min ... .max), radix: 16)
        let job = OperatorJob(id: id, clock: ports.clock)
        desk.take(job)
        assignment.yield(Assignment(job: job, work: work))
        return job
    }

    /// A device wants to be paired that may be without being asked.
    private func consider(_ wish: PassiveGateway.Wish) async {
        // It may have been paired since it was heard.
        guard await gateway.pairsUnasked(wish.advertisement.device, as: wish.entry),
            await !gateway.isReadingAtOnce, await gateway.mayPair(wish.entry)
        else { return }
        _ = try? take(
            .pair(
                PairingOrder(
                    target: .device(wish.advertisement.device.address), entries: [wish.entry],
                    heard: wish.advertisement)))
    }

    /// The steps after number `after`, once there are any; none when `longestPoll` passes without.
    package func steps(of id: String, after: Int) async throws(OrderRefusal) -> [OperatorStep] {
        try await job(id).steps(after: after, within: Self.longestPoll)
    }

    /// Answers the question that the order asks.
    /// - Parameter step: the number of the step that asked; nil: the one that is open.
    package func answer(
        _ answer: PairingAnswer, to id: String, step: Int? = nil
    ) async throws(OrderRefusal) {
        try await job(id).answered(answer, to: step)
    }

    /// Stops an order; returns when it has ended.
    package func cancel(_ id: String) async throws(OrderRefusal) {
        guard try job(id) === desk.current else { return }
        desk.stop()
        await withCheckedContinuation { desk.whenEnded($0) }
    }

    private func job(_ id: String) throws(OrderRefusal) -> OperatorJob {
        guard let job = desk.job(id) else { throw .unknown }
        return job
    }

    // MARK: Orders

    private func perform(_ assignment: Assignment) async {
        let job = assignment.job
        let task = Task { await carryOut(assignment.work, job) }
        desk.began(task)
        await job.attend(task, lease: assignment.work.hasOperator ? Self.lease : nil)
        desk.end()
    }

    private func carryOut(_ work: Work, _ job: OperatorJob) async {
        switch work {
        case .scan(let duration): await scan(duration, job)
        case .read(let read): await self.read(read, job)
        case .pair(let order): await pair(order, job)
        }
        // It has been told already, unless it was stopped.
        await job.add(OperatorStep(.failed, "it was stopped", reason: .cancelled))
    }

    /// Has reading wait, and `body` run when nothing is read any more.
    func whileNothingIsRead(
        _ body: () async throws(UnpairFailure) -> Void
    ) async throws(UnpairFailure) {
        await lastHasEnded()
        guard desk.current == nil, !isUnpairing, !desk.isClosed else { throw .busy }
        isUnpairing = true
        await gateway.hold { _ in false }
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
        await gateway.release()
        isUnpairing = false
        try result.get()
    }

    /// Waits until nothing is read any more. Reading is paused already.
    /// - Returns: the step that ends the order if a read goes on for too long; nil if none runs any more.
    func readsEnded(_ job: OperatorJob) async -> OperatorStep? {
        let end = ports.clock.now + Self.readingTimeout
        var isTold = false
        while await gateway.isReading {
            guard ports.clock.now < end else {
                return OperatorStep(
                    .failed, "a reading goes on: try again when it has ended", reason: .readingUnderWay)
            }
            if !isTold {
                await job.add(
                    OperatorStep(.readingUnderWay, "A reading is under way; its end is waited for."))
            }
            isTold = true
            guard (try? await ports.clock.sleep(for: Self.pace)) != nil else { break }
        }
        return nil
    }
}
