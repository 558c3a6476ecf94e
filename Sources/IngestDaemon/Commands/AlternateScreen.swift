import ArgumentParser
import UnixSignals

/// The second screen of a terminal. What was on the first one is there again afterwards.
enum AlternateScreen {
    private static let enter = "\u{1B}[?1049h"
    private static let leave = "\u{1B}[?1049l"
    /// To the upper left, and what is below is cleared.
    private static let clear = "\u{1B}[H\u{1B}[J"

    /// Shows something until it fails or a signal ends it, and leaves the screen in any case.
    /// - Throws: what `body` throws, or `ExitCode` 130 after Ctrl-C.
    static func show(_ body: @escaping @Sendable () async throws -> Void) async throws {
        // Before the screen is entered: a signal that ended the process would leave the terminal there.
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        try StandardOutput.draw(enter)
        // A terminal that is gone needs nothing put back.
        defer { try? StandardOutput.draw(leave) }
        try await withThrowingTaskGroup { group in
            group.addTask {
                for await _ in signals { throw ExitCode(ExitStatus.interrupted.rawValue) }
            }
            group.addTask { try await body() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Replaces what the screen shows.
    static func draw(_ text: String) throws {
        try StandardOutput.draw(clear + text)
    }
}
