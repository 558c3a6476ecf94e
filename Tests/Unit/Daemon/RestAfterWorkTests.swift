import Testing

@testable import IngestDaemon

@Suite struct RestAfterWorkTests {
    private func status(bytes: UInt64?, submitted: Int = 0) -> GatewayStatus {
        GatewayStatus(
            version: "1", gateway: "box", uptime: 0, isClockRight: true, undated: 0, adapters: [],
            peripherals: [],
            destinations: [
                GatewayStatus.Destination(
                    name: "clinic", state: "up", pending: 0, submitted: submitted, failed: 0)
            ], queue: GatewayStatus.Queue(bytes: bytes, maximumBytes: 1 << 30, level: "normal"))
    }

    /// The start is work, too.
    @Test func aRestBeginsOnceAfterWork() {
        var rest = RestAfterWork()
        var seen: [Bool] = []
        for (bytes, submitted) in [(1, 0), (1, 0), (1, 0), (2, 0), (3, 0), (3, 1), (3, 1), (3, 1)] {
            seen.append(rest.begins(with: status(bytes: UInt64(bytes), submitted: submitted)))
            #expect((rest.nextLook == nil) == ([2, 3, 7, 8].contains(seen.count)), "\(seen.count)")
        }
        #expect(seen == [false, true, false, false, false, false, true, false])
    }

    /// The service manager's line and the backends are told that the disk does not answer, until it is asked again.
    @Test func aQueueThatAnswersLateIsAskedAgainSoonAndIsNoWork() {
        var rest = RestAfterWork()
        var begun: [Bool] = []
        var looks: [Duration?] = []
        for bytes: UInt64? in [1, 1, nil, nil, 1] {
            begun.append(rest.begins(with: status(bytes: bytes)))
            looks.append(rest.nextLook)
        }
        #expect(begun == [false, true, false, false, false])
        #expect(looks == [.seconds(20), nil, .seconds(5), .seconds(5), nil])
    }
}
