import Glibc
import TestSupport
import Testing

@testable import BlueZBridge

@Suite struct KernelDefectTests {
    private static func banner(_ version: String) -> String {
        "Linux version 6.1.0-56-amd64 (debian-kernel@lists.debian.org) (gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0, GNU ld "
            + "(GNU Binutils for Debian) 2.40) #1 SMP PREEMPT_DYNAMIC Debian \(version) (2026-11-16)\n"
    }

    @Test(arguments: ["6.1.187-1", "6.1.190-1", "6.1.192-1", "6.1.192-2"])
    func debiansKernelsThatCrashAreKnown(_ version: String) {
        let defect = KernelDefect(procVersion: Self.banner(version))
        #expect(defect?.version == version)
        #expect(defect?.message.contains("Linux \(version) ") == true)
    }

    @Test(arguments: [
        banner("6.1.176-1"), banner("6.1.186-1"), banner("6.1.193-1"), banner("6.12.190-1"),
        banner("6.1.1870-1"),
        "Linux version 6.1.190 (builder@example) (gcc 12.2.0) #1 SMP", "#1 SMP Debian", "Debian", "",
    ])
    func othersAreNot(_ banner: String) {
        #expect(KernelDefect(procVersion: banner) == nil)
    }
}

@Suite struct LinkSocketsTests {
    private static let defect = KernelDefect(procVersion: "Debian 6.1.192-2")

    /// One end of a connection. The other end is still there, though the connection has ended if that is wanted.
    private static func socket(ended: Bool) throws -> (ours: Int32, theirs: Int32) {
        var ends: (Int32, Int32) = (0, 0)
        let result = unsafe withUnsafeMutableBytes(of: &ends) { bytes in
            unsafe socketpair(
                AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0,
                bytes.assumingMemoryBound(to: Int32.self).baseAddress)
        }
        try #require(result == 0)
        if ended { shutdown(ends.1, Int32(SHUT_RDWR)) }
        return ends
    }

    @Test func aSocketWhoseLinkEndedBeforeAFrameIsKeptAboveAllOthers() throws {
        let sockets = LinkSockets(Self.defect)
        let (ours, theirs) = try Self.socket(ended: true)
        defer { close(theirs) }
        sockets.close(ours, shortestPacket: nil)
        let kept = try #require(sockets.keptDescriptors.first)
        defer { close(kept) }
        #expect(sockets.keptDescriptors.count == 1)
        #expect(fcntl(kept, F_GETFD) >= 0)
        // Unless the limit of descriptors is in the way.
        #expect(kept >= 1_024 || kept == ours)
    }

    /// A longer packet may have come in several frames, which leave the kernel's count right: closing would crash it.
    @Test(arguments: [(nil, true), (23, false), (1, false), (24, true)] as [(Int?, Bool)])
    func whatIsKeptDependsOnWhatArrived(_ shortest: Int?, _ isKept: Bool) throws {
        let sockets = LinkSockets(Self.defect)
        let (ours, theirs) = try Self.socket(ended: true)
        defer { close(theirs) }
        sockets.close(ours, shortestPacket: shortest)
        #expect(sockets.keptDescriptors.isEmpty == !isKept)
        for kept in sockets.keptDescriptors { close(kept) }
    }

    @Test(arguments: [(KernelDefect?.none, true), (defect, false)])
    func withoutADefectOrWithALinkThatIsUpItIsClosed(_ defect: KernelDefect?, _ hasEnded: Bool) throws {
        let sockets = LinkSockets(defect)
        let (ours, theirs) = try Self.socket(ended: hasEnded)
        sockets.close(ours, shortestPacket: nil)
        #expect(sockets.keptDescriptors.isEmpty)
        var asked = pollfd(fd: theirs, events: 0, revents: 0)
        let count = unsafe poll(&asked, 1, 0)
        #expect(count == 1)
        #expect(asked.revents & Int16(POLLHUP) != 0)
        close(theirs)
    }

    @Test func aChannelClosesItsSocketInThisWay() async throws {
        let loop = try RadioLoop(clock: DrivenClock(wall: DrivenClock.morning))
        let sockets = LinkSockets(Self.defect)
        let (ours, theirs) = try Self.socket(ended: true)
        defer { close(theirs) }
        let channel = PacketChannel(descriptor: ours, loop: loop) { sockets.close($0, shortestPacket: $1) }
        await loop.perform { channel.close() }
        #expect(sockets.keptDescriptors.count == 1)
        for kept in sockets.keptDescriptors { close(kept) }
    }
}
