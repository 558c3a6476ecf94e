/// Starts the operator's programs: the system's processes in the daemon, made-up ones in tests.
package protocol HookPrograms: Sendable {
    /// Starts a program with one argument, in a process group of its own, with nothing of ours but what
    /// docs/configuration.md names.
    /// - Parameter path: absolute.
    func start(_ path: String, argument: String) async throws(HookFailure) -> any HookProcess
}

/// A program that was started. `release` has to follow `ended`.
package protocol HookProcess: Sendable {
    /// Returns when the program has ended. Until `release` its process ID is nobody else's.
    func ended() async
    /// Signals its process group; does nothing where that is no more.
    func signal(_ signal: HookSignal)
    /// Ends what the program has left running, and tells how it ended itself.
    func release() async -> HookEnd
}

package enum HookSignal: Sendable, Equatable {
    /// Asks it to end (SIGTERM).
    case terminate
    /// Ends it (SIGKILL).
    case kill
}

/// How a program ended.
package enum HookEnd: Sendable, Equatable {
    case exited(status: Int32)
    case signalled(Int32)
}

/// Why a program could not be started.
package enum HookFailure: Error, Sendable, Equatable {
    case missing
    /// It is not executable, or its directory is closed to the service.
    case notAllowed
    /// Neither a binary of this machine nor a script that names its interpreter.
    case notAProgram
    case system(errno: Int32)
}

extension HookFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .missing: "there is no such file, or not the interpreter that its first line names"
        case .notAllowed: "the service may not execute it"
        case .notAProgram:
            "it is no program; the first line of a script names its interpreter, such as #!/bin/sh"
        case .system(let errno): "it could not be started (errno \(errno))"
        }
    }
}
