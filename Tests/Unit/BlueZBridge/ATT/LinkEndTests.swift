import TestSupport
import Testing

@testable import BlueZBridge
@testable import PeripheralSimulator

/// Links that end when they should not.
@Suite(.timeLimit(.minutes(15)))
struct LinkEndTests {
    /// A reading of the thermometer has ten PDUs; the last is the confirmation.
    @Test(arguments: 0...10)
    func droppedLinkEndsTheReadingAndTheNextOneHasIt(count: Int) async throws {
        let bench = try LinkBench()
        let first = try await bench.connect(.dropping(after: count))
        var wasTaken = false
        do {
            try await bench.takeReading(first)
            wasTaken = true
        } catch let error as LinkError {
            #expect(error == .ended(.byPeripheral))
        }
        await bench.linkEnded()
        #expect(wasTaken == (count == 10))
        await #expect(throws: LinkError.self) { try await first.subscribe(to: 0x2A1C, in: 0x1809) }
        await first.close()
        let confirmed = await bench.loop.perform { bench.peripheral.report.confirmed }
        #expect(confirmed == (count == 10 ? 1 : 0))
        guard count < 10 else { return }
        let second = try await bench.connect()
        try await bench.takeReading(second)
        await bench.confirmationArrived()
        await second.close()
    }

    @Test func valuesBeforeTheEndAreGivenAfterIt() async throws {
        let bench = try LinkBench(
            readings: [
                .temperature(mantissa: 3660, exponent: -2, isDated: true),
                .temperature(mantissa: 3661, exponent: -2, isDated: true),
            ], readingsPerWakeUp: 2)
        var behaviour = LinkBehaviour()
        behaviour.hangsUpAfterSending = true
        let link = try await bench.connect(behaviour)
        try await link.subscribe(to: 0x2A1C, in: 0x1809)
        await bench.linkEnded()
        // The link finds out by a request that it cannot send.
        await #expect(throws: LinkError.ended(.byPeripheral)) { try await link.read(0x2A19, in: 0x180F) }
        let first = try #require(try await link.nextValue(within: .seconds(1)))
        let second = try #require(try await link.nextValue(within: .seconds(1)))
        #expect([first.value[1], second.value[1]] == [0x4C, 0x4D])
        await #expect(throws: LinkError.ended(.byPeripheral)) {
            try await link.nextValue(within: .seconds(1))
        }
    }

    @Test func packetsBeforeAnErrorAreGivenBeforeIt() async throws {
        let loop = try RadioLoop(clock: DrivenClock(wall: DrivenClock.morning))
        let (packets, continuation) = AsyncStream<[UInt8]>.makeStream()
        let end = await loop.perform {
            Result<Void, SystemError> { () throws(SystemError) in
                let (near, far) = try PacketChannel.pair(on: loop)
                try near.send([0])
                try far.send([1])
                try far.send([2])
                // With a packet unread, the other end gets ECONNRESET.
                far.close()
                near.open(
                    onPacket: { continuation.yield(Wire.copy($0)) },
                    onEnd: { errno in
                        continuation.yield([UInt8(errno)])
                        continuation.finish()
                    })
            }
        }
        try end.get()
        var received: [[UInt8]] = []
        for await packet in packets { received.append(packet) }
        // 104 is ECONNRESET.
        #expect(received == [[1], [2], [104]])
        loop.stop()
    }

    @Test func closingEndsEveryWait() async throws {
        let bench = try LinkBench()
        let link = try await bench.connect(.responding { _, _ in [] })
        let value = Task { try await link.nextValue(within: .seconds(30)) }
        let request = Task { try await link.read(0x2A19, in: 0x180F) }
        while await bench.peripheral.traces[0].pdus.isEmpty { await bench.loop.turned() }
        await link.close()
        await #expect(throws: LinkError.ended(.byGateway)) { try await value.value }
        await #expect(throws: LinkError.ended(.byGateway)) { try await request.value }
        await bench.linkEnded()
        await link.close()
    }

    /// A link, and its other end as it is.
    private static func raw(
        _ clock: DrivenClock = DrivenClock(wall: DrivenClock.morning)
    ) async throws -> (AttributeLink, PacketChannel, RadioLoop) {
        let loop = try RadioLoop(clock: clock)
        let (near, far) = try await loop.perform {
            Result<(PacketChannel, PacketChannel), SystemError> { () throws(SystemError) in
                try PacketChannel.pair(on: loop)
            }
        }.get()
        let link = AttributeLink(
            device: .simulated(9), channel: near, loop: loop, clock: clock, remembered: nil)
        await link.open()
        return (link, far, loop)
    }

    @Test(arguments: [0x1B, 0x1D] as [UInt8])
    func aValueLongerThanAnyAttributeEndsTheLink(opcode: UInt8) async throws {
        let (link, far, loop) = try await Self.raw()
        await loop.perform { try? far.send([opcode, 0x03, 0x00] + [UInt8](repeating: 1, count: 513)) }
        // 90 is EMSGSIZE.
        await #expect(throws: LinkError.ended(.other(errno: 90))) {
            _ = try await link.nextValue(within: .seconds(30))
        }
        loop.stop()
    }

    /// Each of them is asked about, and none makes the wait longer.
    @Test func valuesThatNobodyKnowsDoNotProlongAWait() async throws {
        let clock = DrivenClock(wall: DrivenClock.morning)
        let (link, far, loop) = try await Self.raw(clock)
        let asked = Notes<UInt8>()
        await loop.perform {
            far.open(
                onPacket: { packet in
                    asked.add(packet[0])
                    // Attribute Not Found.
                    try? far.send([0x01, 0x04, packet[1], packet[2], 0x0A])
                }, onEnd: { _ in })
        }
        let ended = Notes<Bool>()
        let waiting = Task {
            let value = try await link.nextValue(within: .seconds(30))
            ended.add(value == nil)
        }
        for count in 1...3 {
            await loop.perform { try? far.send([0x1B, 0xF0, 0x00, 0x01]) }
            await asked.wait { $0.count == count }
            while await link.pduCount < 3 * count { await loop.turned() }
            await clock.advance(by: .seconds(10), loop)
        }
        try await waiting.value
        #expect(ended.all == [true])
        await link.close()
        loop.stop()
    }

    /// A peripheral can let many come at once, and take its time to say what each is.
    @Test func valuesThatWaitAndThatNobodyKnowsDoNotProlongAWait() async throws {
        let clock = DrivenClock(wall: DrivenClock.morning)
        let (link, far, loop) = try await Self.raw(clock)
        let asked = Notes<[UInt8]>()
        await loop.perform {
            far.open(onPacket: { asked.add([$0[0], $0[1], $0[2]]) }, onEnd: { _ in })
            for handle in UInt8(0xF0)...0xF3 { try? far.send([0x1B, handle, 0x00, 0x01]) }
        }
        let waiting = Task { try await link.nextValue(within: .seconds(30)) }
        for count in 1...2 {
            await asked.wait { $0.count == count }
            await clock.advance(by: .seconds(16), loop)
            // Attribute Not Found.
            await loop.perform {
                guard let packet = asked.all.last else { return }
                try? far.send([0x01, 0x04, packet[1], packet[2], 0x0A])
            }
        }
        #expect(try await waiting.value == nil)
        #expect(asked.all.count == 2)
        await link.close()
        loop.stop()
    }

    @Test func moreUnreadValuesThanTheBoundEndTheLink() async throws {
        let (link, far, loop) = try await Self.raw()
        for _ in 0...AttributeBearer.longestQueue {
            await loop.perform { try? far.send([0x1B, 0x03, 0x00, 0x01]) }
        }
        let (end, continuation) = AsyncStream<Void>.makeStream()
        await loop.perform { far.open(onPacket: { _ in }, onEnd: { _ in continuation.finish() }) }
        while await link.ended == nil { await loop.turned() }
        // 105 is ENOBUFS.
        await #expect(throws: LinkError.ended(.other(errno: 105))) { try await link.ensureMTU(100) }
        // The peripheral learns of it when the link is closed, so that its end falls into no other connection.
        await link.close()
        for await _ in end {}
        loop.stop()
    }
}
