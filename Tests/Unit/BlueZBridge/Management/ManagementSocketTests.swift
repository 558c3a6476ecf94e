import Testing

@testable import BlueZBridge
@testable import IngestCore
@testable import TestSupport

@Suite(.timeLimit(.minutes(5)))
struct ManagementSocketTests {
    /// The kernel answers some commands by an error of send(2), as those that come while an adapter is switched off. Here
    /// the error is EMSGSIZE, of a packet that no socket takes.
    @Test func aCommandThatTheKernelDoesNotTakeIsNoEndOfTheSocket() async throws {
        let loop = try RadioLoop(clock: DrivenClock(wall: DrivenClock.morning))
        let outcome = await Commands(loop: loop).run()
        #expect(outcome.refused == .system(SystemError(call: "send", errno: 90)))
        #expect(outcome.answer == [7])
        #expect(!outcome.hasEnded)
        loop.stop()
    }

    private actor Commands {
        private let loop: RadioLoop
        private var hasEnded = false

        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

        init(loop: RadioLoop) { self.loop = loop }

        func run() async -> (refused: ManagementError?, answer: [UInt8]?, hasEnded: Bool) {
            guard let (near, far) = try? PacketChannel.pair(on: loop) else { return (nil, nil, true) }
            let socket = ManagementSocket(channel: near, loop: loop)
            socket.open(onEvent: { _, _, _ in }, onEnd: { self.assumeIsolated { $0.hasEnded = true } })
            far.open(
                onPacket: { packet in
                    // Command Complete of the same opcode and index: success, and one octet.
                    try? far.send([1, 0, packet[2], packet[3], 4, 0, packet[0], packet[1], 0, 7])
                }, onEnd: { _ in })
            var refused: ManagementError?
            do throws(ManagementError) {
                _ = try await socket.send(
                    1, index: 0, [UInt8](repeating: 0, count: 4_000_000), isolation: self)
            } catch {
                refused = error
            }
            let answer = try? await socket.send(2, index: 0, isolation: self)
            defer { socket.close() }
            return (refused, answer, hasEnded)
        }
    }
}
