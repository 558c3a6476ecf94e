package import ArgumentParser

/// A command that suspends. Unlike `AsyncParsableCommand` it begins on the main thread, before the
/// process has another: `run` drops its capabilities there.
package protocol AsynchronousCommand: ParsableCommand, Sendable {
    func serve() async throws
}
