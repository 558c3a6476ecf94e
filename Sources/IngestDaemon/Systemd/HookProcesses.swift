import CSystemd
import Dispatch
import FoundationEssentials
import Glibc
import Synchronization

/// Runs hooks as processes, which get nothing of this one but its user and its sandbox, and which the kernel ends before
/// it when memory runs short.
///
/// What a program leaves running ends with it: its process group at once, and what has left the group,
/// which becomes a child of this process (PR_SET_CHILD_SUBREAPER), when no other hook runs.
struct HookProcesses: HookPrograms {
    /// The whole environment. The directories are systemd's own for services (systemd.exec(5)).
    private static let environment = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin"

    /// How many run now. Held while one starts, and while strays are ended, which must meet no other.
    private static let running = Mutex(0)

    init() {
        // Without it strays would live on: an inconvenience of the operator's making.
        _ = CSystemd_adopt_orphans()
    }

    func start(_ path: String, argument: String) async throws(HookFailure) -> any HookProcess {
        // Starting waits for the file's disk; so this, and waiting for the end, have a thread of their own.
        let queue = DispatchQueue(label: "ingestd.hook")
        let result = await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(returning: Self.running.withLock { Self.spawn(path, argument, &$0) })
            }
        }
        return Running(id: try result.get(), queue: queue)
    }

    private static func spawn(
        _ path: String, _ argument: String, _ running: inout Int
    ) -> Result<pid_t, HookFailure> {
        var id: pid_t = 0
        switch unsafe CSystemd_spawn(path, argument, environment, &id) {
        case 0: break
        case ENOENT: return .failure(.missing)
        case EACCES, EPERM: return .failure(.notAllowed)
        case ENOEXEC: return .failure(.notAProgram)
        case let errno: return .failure(.system(errno: errno))
        }
        running += 1
        return .success(id)
    }

    /// A program that was started, the leader of its process group.
    private final class Running: HookProcess {
        /// How often the end of a killed program is looked for, and the time between two looks, in microseconds. What a
        /// call of the kernel holds, or another process traces, does not end.
        private static let mostLooks = 100
        private static let pause: UInt32 = 10_000

        let id: pid_t
        let queue: DispatchQueue
        private let wasKilled = Mutex(false)

        init(id: pid_t, queue: DispatchQueue) {
            self.id = id
            self.queue = queue
        }

        func ended() async {
            await withCheckedContinuation { continuation in
                queue.async { [self] in
                    var looks = 0
                    while !hasEnded, looks < Self.mostLooks {
                        usleep(Self.pause)
                        if wasKilled.withLock({ $0 }) { looks += 1 }
                    }
                    continuation.resume()
                }
            }
        }

        /// Left as it is, so that its ID, which is its group's, is given to no other.
        private var hasEnded: Bool {
            var info = unsafe siginfo_t()
            let result = unsafe waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT | WNOHANG)
            return unsafe result == 0 ? info.si_signo != 0 : errno != EINTR
        }

        func signal(_ signal: HookSignal) {
            if signal == .kill { wasKilled.withLock { $0 = true } }
            kill(-id, signal == .terminate ? SIGTERM : SIGKILL)
        }

        func release() async -> HookEnd {
            await withCheckedContinuation { continuation in
                queue.async { [self] in
                    signal(.kill)
                    let status = HookProcesses.status(of: id)
                    HookProcesses.endGroup(id)
                    HookProcesses.running.withLock { running in
                        running -= 1
                        if running == 0 { HookProcesses.endStrays() }
                    }
                    continuation.resume(returning: HookEnd(waitStatus: status ?? SIGKILL))
                }
            }
        }
    }

    /// Takes the status of a child that has ended or does so soon; nil if it does not.
    private static func status(of id: pid_t) -> Int32? {
        var status: Int32 = 0
        for _ in 0..<1_000 {
            switch unsafe waitpid(id, &status, WNOHANG) {
            case id: return status
            case ..<0 where errno != EINTR: return nil
            default: usleep(1_000)
            }
        }
        return nil
    }

    /// How often processes are signalled that do not end, a millisecond apart. What is left then is held by a call of the
    /// kernel, and is left behind.
    private static let mostSignals = 2_000

    /// Kills a process group until none of its members is our child. Members may leave the group and return meanwhile.
    private static func endGroup(_ id: pid_t) {
        for _ in 0..<mostSignals {
            switch waitpid(-id, nil, WNOHANG) {
            case 0:
                // A child that is still there keeps the number of the group in use.
                kill(-id, SIGKILL)
                usleep(1_000)
            case ..<0 where errno != EINTR: return
            default: break
            }
        }
    }

    /// Kills what has left its program's process group. Hooks are the only children of this process. Who starts more of
    /// itself than this kills is left to the unit's TasksMax=.
    private static func endStrays() {
        for _ in 0..<mostSignals {
            let strays = children
            guard !strays.isEmpty else { return }
            for stray in strays { kill(stray, SIGKILL) }
            usleep(1_000)
            // What they leave in turn is found in the next round.
            for stray in strays { waitpid(stray, nil, WNOHANG) }
        }
    }

    /// The children of this process, by thread (proc(5): children).
    private static var children: [pid_t] {
        let tasks = "/proc/self/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
        return threads.flatMap { thread in
            let list = try? String(contentsOfFile: "\(tasks)/\(thread)/children", encoding: .utf8)
            return (list ?? "").split(whereSeparator: \.isWhitespace).compactMap { pid_t($0) }
        }
    }
}

extension HookEnd {
    /// From what waitpid(2) gives of a child that has ended.
    fileprivate init(waitStatus: Int32) {
        let signal = waitStatus & 0x7F
        self = signal == 0 ? .exited(status: waitStatus >> 8 & 0xFF) : .signalled(signal)
    }
}
