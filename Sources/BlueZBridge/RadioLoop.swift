import Glibc
import Synchronization

/// The one thread on which everything to do with Bluetooth happens: it waits for descriptors and
/// deadlines (poll(2)) and runs the jobs of the actors that name it as their executor.
///
/// Nothing on it blocks, so that no lock and no hand-over is needed between the management socket
/// and the links.
///
/// Sendable is checked by hand: `shared` is behind its mutex; `watched` and `timers` are touched on
/// the loop's own thread only, which every method that does so asserts.
package final class RadioLoop: SerialExecutor, @unchecked Sendable {
    /// A deadline that can be called off.
    package struct Timer: Hashable {
        fileprivate let number: UInt64
    }

    private enum Work {
        case job(UnownedJob)
        case body(@Sendable () -> Void)
    }

    private struct Shared {
        var work: [Work] = []
        var isStopping = false
        var thread: pthread_t?
    }

    private struct Watch {
        let events: Int16
        let body: () -> Void
    }

    private struct Deadline {
        let timer: Timer
        let instant: MonotonicInstant
        let body: () -> Void
    }

    private let shared = Mutex(Shared())
    private let clock: any GatewayClock
    /// A pipe(2) that ends the wait when another thread has work for this one: its end for
    /// reading, and that for writing.
    private let wakeUp: (read: Int32, write: Int32)
    private var watched: [Int32: Watch] = [:]
    /// What poll(2) gets, the wake-up pipe first; empty when `watched` has changed since.
    private var polled: [pollfd] = []
    private var timers: [Deadline] = []
    private var lastTimer: UInt64 = 0

    /// Starts the thread. It lives until `stop`, or as long as the process.
    package init(clock: any GatewayClock) throws(SystemError) {
        self.clock = clock
        var ends: (Int32, Int32) = (0, 0)
        try system("pipe") {
            unsafe withUnsafeMutableBytes(of: &ends) { bytes in
                unsafe pipe(bytes.assumingMemoryBound(to: Int32.self).baseAddress)
            }
        }
        wakeUp = (ends.0, ends.1)
        for end in [ends.0, ends.1] {
            try system("fcntl") { fcntl(end, F_SETFD, FD_CLOEXEC) }
            try system("fcntl") { fcntl(end, F_SETFL, O_NONBLOCK) }
        }
        try startThread()
    }

    private func startThread() throws(SystemError) {
        var thread = pthread_t()
        // The thread keeps the loop alive; it gives it back when it ends.
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        let result = unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context else { return nil }
                let loop = unsafe Unmanaged<RadioLoop>.fromOpaque(context).takeRetainedValue()
                loop.turn()
                return nil
            }, context)
        guard result == 0 else {
            unsafe Unmanaged<RadioLoop>.fromOpaque(context).release()
            throw SystemError(call: "pthread_create", errno: result)
        }
        pthread_detach(thread)
    }

    /// Ends the thread after the work at hand. No actor may use the loop afterwards.
    package func stop() {
        shared.withLock { $0.isStopping = true }
        signal()
    }

    // MARK: Executor

    package func enqueue(_ job: consuming ExecutorJob) {
        let unowned = UnownedJob(job)
        add(.job(unowned))
    }

    /// Runs `body` on the loop's thread soon.
    package func run(_ body: @escaping @Sendable () -> Void) {
        add(.body(body))
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    package func isIsolatingCurrentContext() -> Bool? {
        isCurrent
    }

    package func checkIsolated() {
        precondition(isCurrent, "this belongs on the radio's thread")
    }

    private var isCurrent: Bool {
        guard let thread = shared.withLock({ $0.thread }) else { return false }
        return pthread_equal(thread, pthread_self()) != 0
    }

    /// Runs `body` on the loop's thread and returns what it returns.
    package func perform<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            run { continuation.resume(returning: body()) }
        }
    }

    /// Returns once the loop has taken a turn: for the watchdog.
    package func turned() async {
        await perform {}
    }

    private func add(_ work: Work) {
        let wasIdle = shared.withLock { shared in
            shared.work.append(work)
            return shared.work.count == 1
        }
        if wasIdle { signal() }
    }

    private func signal() {
        // EAGAIN means that the pipe is full of signals not yet seen, which wakes it as well.
        var byte: UInt8 = 0
        _ = unsafe write(wakeUp.write, &byte, 1)
    }

    // MARK: Descriptors and deadlines, on the loop's thread only

    /// What to wait for on a descriptor.
    package enum Readiness {
        case toRead
        case toWrite
        case toReadOrWrite

        fileprivate var events: Int16 {
            switch self {
            case .toRead: Int16(POLLIN)
            case .toWrite: Int16(POLLOUT)
            case .toReadOrWrite: Int16(POLLIN | POLLOUT)
            }
        }
    }

    /// Calls `body` whenever `descriptor` is ready, or has an error, until `ignore`. A second call
    /// replaces the first.
    package func watch(_ descriptor: Int32, for readiness: Readiness, body: @escaping () -> Void) {
        checkIsolated()
        watched[descriptor] = Watch(events: readiness.events, body: body)
        polled.removeAll(keepingCapacity: true)
    }

    /// Watches `descriptor` no more. To be called before it is closed.
    func ignore(_ descriptor: Int32) {
        checkIsolated()
        watched[descriptor] = nil
        polled.removeAll(keepingCapacity: true)
    }

    /// Calls `body` once when `duration` has passed.
    @discardableResult
    package func after(_ duration: Duration, _ body: @escaping () -> Void) -> Timer {
        checkIsolated()
        lastTimer += 1
        let timer = Timer(number: lastTimer)
        let deadline = Deadline(timer: timer, instant: clock.now + duration, body: body)
        let place = timers.firstIndex { $0.instant > deadline.instant } ?? timers.endIndex
        timers.insert(deadline, at: place)
        return timer
    }

    /// Calls off a deadline; one that has passed is none any more.
    package func cancel(_ timer: Timer) {
        checkIsolated()
        timers.removeAll { $0.timer == timer }
    }

    // MARK: The thread

    private func turn() {
        shared.withLock { $0.thread = pthread_self() }
        while true {
            let (work, isStopping) = shared.withLock { shared in
                defer { shared.work.removeAll(keepingCapacity: true) }
                return (shared.work, shared.isStopping)
            }
            for item in work {
                switch item {
                case .job(let job): unsafe job.runSynchronously(on: asUnownedSerialExecutor())
                case .body(let body): body()
                }
            }
            if isStopping { break }
            runDueTimers()
            wait()
        }
        close(wakeUp.read)
        close(wakeUp.write)
    }

    private func wait() {
        if polled.isEmpty {
            polled = [pollfd(fd: wakeUp.read, events: Int16(POLLIN), revents: 0)]
            polled += watched.map { pollfd(fd: $0.key, events: $0.value.events, revents: 0) }
        }
        let count = unsafe poll(&polled, nfds_t(polled.count), waitMilliseconds())
        guard count > 0 else { return }
        if polled[0].revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 64)
            while unsafe read(wakeUp.read, &bytes, bytes.count) == bytes.count {}
        }
        for ready in polled.dropFirst() where ready.revents != 0 {
            // A handler before it in this turn may have closed it.
            watched[ready.fd]?.body()
        }
    }

    private func runDueTimers() {
        let now = clock.now
        while let first = timers.first, first.instant <= now {
            timers.removeFirst()
            first.body()
        }
    }

    /// How long poll(2) may sleep: to the next deadline, rounded up so that it is due then; -1
    /// without one.
    private func waitMilliseconds() -> Int32 {
        if shared.withLock({ !$0.work.isEmpty || $0.isStopping }) { return 0 }
        guard let first = timers.first else { return -1 }
        let wait = first.instant.since(clock.now)
        guard wait > .zero else { return 0 }
        return Int32(clamping: Int64(wait / .milliseconds(1)) + 1)
    }
}
