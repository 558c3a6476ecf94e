/// Scans and reads for an operator, beside passive reading: one at a time, and not beside a pairing
/// (docs/notes/control-socket.md, "Scans and reads of an operator").
package actor OperatorOrders {
    /// How long the steps of an order are awaited at once.
    package static let longestPoll = Duration.seconds(10)
    /// An order whose operator has not asked for its steps for so long is cancelled.
    static let lease = Duration.seconds(25)
    /// How long reads under way may take to end before an order: a link without a stream.
    static let readingTimeout = Duration.seconds(200)
    /// Between two looks at the clock, while an order is carried out.
    static let pace = Duration.milliseconds(250)

    /// What is asked for.
    package enum Order: Sendable, Equatable {
        /// What is in the air, listened to for so long.
        case scan(Duration)
        case read(OperatorRead)
    }

    struct Work: Sendable {
        let job: OperatorJob
        let order: Order
    }

    let gateway: PassiveGateway
    let ports: PassiveGateway.Ports
    let scanner: any ActiveScanner
    private var desk = JobDesk<OperatorJob>()
    private let works: AsyncStream<Work>
    private let worksContinuation: AsyncStream<Work>.Continuation

    /// - Parameter ports: those of the gateway.
    package init(gateway: PassiveGateway, ports: PassiveGateway.Ports, scanner: any ActiveScanner) {
        self.gateway = gateway
        self.ports = ports
        self.scanner = scanner
        (works, worksContinuation) = AsyncStream.makeStream()
    }

    /// Carries out what is asked for, until the task is cancelled; what is under way is stopped then.
    package func run() async {
        await withDiscardingTaskGroup { group in
            for await work in works {
                group.addTask { await self.perform(work) }
            }
            group.cancelAll()
        }
        // What was not taken up never will be.
        desk.close()
        ended()
    }

    // MARK: Requests

    /// Takes up an order.
    /// - Returns: its name.
    package func begin(_ order: Order) async throws(OrderRefusal) -> String {
        if case .read(let read) = order {
            do throws(PairingRefusal) {
                _ = try await gateway.allowList.pairable(read.target)
            } catch {
                throw error == .onlyBroadcasts(read.target)
                    ? .onlyBroadcasts(read.target) : .notAllowed(read.target)
            }
        }
        // The one before tells its end a moment before it gives its turn back.
        if let before = desk.current, await before.isOver, before === desk.current {
            await withCheckedContinuation { desk.whenEnded($0) }
        }
        guard desk.current == nil, !desk.isClosed, gateway.turn.take() else { throw .busy }
        // Not counted: who asks for one of an earlier run of the gateway must not get another's.
        let id = String(UInt64.random(in: .min ... .max), radix: 16)
        let job = OperatorJob(id: id, clock: ports.clock)
        desk.take(job)
        worksContinuation.yield(Work(job: job, order: order))
        return id
    }

    /// The steps after number `after`, once there are any; none when `longestPoll` passes without.
    package func steps(of id: String, after: Int) async throws(OrderRefusal) -> [OperatorStep] {
        try await job(id).steps(after: after, within: Self.longestPoll)
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

    private func perform(_ work: Work) async {
        let task = Task { await carryOut(work) }
        desk.began(task)
        await work.job.attend(task, lease: Self.lease, by: ports.clock)
        ended()
    }

    private func ended() {
        if desk.current != nil { gateway.turn.giveBack() }
        desk.end()
    }

    private func carryOut(_ work: Work) async {
        switch work.order {
        case .scan(let duration): await scan(duration, work.job)
        case .read(let read): await self.read(read, work.job)
        }
        // It has been told already, unless it was stopped.
        await work.job.add(OperatorStep(.failed, "it was stopped", reason: .cancelled))
    }

    /// Waits until nothing is read any more. Reading is paused already.
    /// - Returns: the step that tells of it where that does not come.
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

/// Why an order is not taken up at all.
package enum OrderRefusal: Error, Sendable, Equatable {
    /// No entry of the allow-list allows it.
    case notAllowed(PairingTarget)
    /// Its readings are in its adverts: there is nothing to connect to.
    case onlyBroadcasts(PairingTarget)
    /// Another order or a pairing is under way.
    case busy
    /// There is no order of this name, or it has ended.
    case unknown

    /// One sentence that says what to do.
    package var words: String {
        switch self {
        case .notAllowed(let target): PairingRefusal.notAllowed(target).words
        case .onlyBroadcasts(let target):
            "\(target) sends its readings to whoever listens, and each is read as it comes: ingestd records"
        case .busy: "a pairing, a scan or a read is under way: try again when it has ended"
        case .unknown: "there is no such scan or read, or it has ended"
        }
    }

    /// As the control socket tells it.
    package var reason: FailureReason {
        switch self {
        case .notAllowed: .notAllowed
        case .onlyBroadcasts: .onlyBroadcasts
        case .busy: .busy
        case .unknown: .unknownOrder
        }
    }
}
