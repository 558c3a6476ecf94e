import TestSupport
import Testing

@testable import BlueZBridge

@Suite(.timeLimit(.minutes(15)))
struct BusConnectionTests {
    /// Two programs on one bus.
    struct Bench: Sendable {
        let clock = DrivenClock(wall: DrivenClock.morning)
        let loop: RadioLoop
        let bus: PrivateBus
        let calls = Notes<BusRequest>()
        let signals = Notes<BusSignal>()
        let ends = Notes<Bool>()
        let server: BusConnection
        let client: BusConnection
        let name: String

        /// - Parameter answers: what a call gets; nothing where nil.
        init(answers: (@Sendable (BusRequest) -> [BusValue])? = { $0.arguments }) async throws {
            loop = try RadioLoop(clock: clock)
            bus = try PrivateBus()
            let parts = try await loop.perform { [loop, calls, signals, ends, address = bus.address] in
                Result {
                    let box = Box()
                    let server = try BusConnection(
                        address, loop: loop,
                        handlers: .init(
                            onSignal: { signals.add($0) },
                            onRequest: { request in
                                calls.add(request)
                                if let answers { box.connection?.answer(request, answers(request)) }
                            },
                            onEnd: { ends.add(true) }))
                    box.connection = server
                    return (server, try BusConnection(address, loop: loop, handlers: .init()))
                }
            }.get()
            (server, client) = parts
            let owned = try await server.call(
                .bus("RequestName", [.string("test.server"), .uint32(4)]), within: .seconds(10))
            #expect(owned == [.uint32(1)])
            name =
                try await server.call(
                    .bus("GetNameOwner", [.string("test.server")]), within: .seconds(10)
                ).first?.text ?? ""
        }

        func call(_ arguments: [BusValue], to destination: String = "test.server") async -> Result<
            [BusValue], BusError
        > {
            do throws(BusError) {
                return .success(
                    try await client.call(
                        BusCall(to: destination, "/a/b", "test.Interface", "Method", arguments),
                        within: .seconds(10)))
            } catch {
                return .failure(error)
            }
        }

        func close() async {
            await loop.perform { [server, client] in
                server.close()
                client.close()
            }
        }
    }

    /// So that the handlers of a connection can reach it.
    final class Box {
        weak var connection: BusConnection?
    }

    @Test func valuesOfEveryTypeArriveAsTheyWereSent() async throws {
        let bench = try await Bench()
        let values: [BusValue] = [
            .byte(255), .bool(true), .bool(false), .int16(-2), .uint16(65_535), .int32(.min), .uint32(.max),
            .int64(.min), .uint64(.max), .double(36.6), .string("Ärztin\n"), .string(""), .objectPath("/"),
            .signature("a{sv}"), .array(of: "s", []), .array(of: "ay", [.array(of: "y", [.byte(0)])]),
            .structure([.string("x"), .structure([.byte(1)])]), .variant(.variant(.uint16(7))),
            .dictionary(key: "q", value: "v", [.uint16(1): .variant(.array(of: "y", [.byte(9)]))]),
            .properties(["Address": .string("00:00:5E:00:53:00"), "Paired": .bool(false)]),
        ]
        #expect(await bench.call(values) == .success(values))
        #expect(bench.calls.all.first?.signature == values.map(\.type).joined())
        #expect(bench.calls.all.first?.path == "/a/b")
        await bench.close()
    }

    @Test func aSignalArrivesWithItsSender() async throws {
        let bench = try await Bench()
        _ = try await bench.server.call(
            .bus("AddMatch", [.string("type='signal',interface='test.Interface'")]), within: .seconds(10))
        await bench.loop.perform { [client = bench.client] in
            try? client.emit("/a", "test.Interface", "Happened", [.uint32(3)])
        }
        await bench.signals.wait { $0.contains { $0.member == "Happened" } }
        let signal = try #require(bench.signals.all.first { $0.member == "Happened" })
        #expect(signal.arguments == [.uint32(3)])
        #expect(signal.sender.hasPrefix(":") && signal.sender != bench.name)
        await bench.close()
    }

    @Test(arguments: [
        ([BusValue.objectPath("no path")], BusError.malformed), ([.string("a\0b")], .malformed),
        ([.array(of: "s", [.byte(1)])], .malformed),
    ])
    func whatIsNoMessageIsNotSent(_ arguments: [BusValue], _ error: BusError) async throws {
        let bench = try await Bench()
        #expect(await bench.call(arguments) == .failure(error))
        #expect(bench.calls.all.isEmpty)
        await bench.close()
    }

    @Test func aCallOfNobodyFailsWithItsName() async throws {
        let bench = try await Bench()
        #expect(
            await bench.call([], to: "test.nobody")
                == .failure(.remote(name: "org.freedesktop.DBus.Error.NameHasNoOwner")))
        await bench.close()
    }

    @Test func valuesNestedTooDeepAreRefused() async throws {
        let bench = try await Bench()
        let deep = (0..<20).reduce(BusValue.byte(1)) { value, _ in .variant(value) }
        #expect(await bench.call([deep]) == .failure(.remote(name: "org.freedesktop.DBus.Error.InvalidArgs")))
        await bench.close()
    }

    @Test func aCallEndsWithItsTime() async throws {
        let bench = try await Bench(answers: nil)
        async let result = bench.call([])
        await bench.calls.wait { !$0.isEmpty }
        await bench.clock.advance(by: .seconds(11), bench.loop)
        #expect(await result == .failure(.timedOut))
        await bench.close()
    }

    @Test func whoDoesNotAnswerGetsABoundedNumberOfCalls() async throws {
        let bench = try await Bench(answers: nil)
        let results = Notes<Result<[BusValue], BusError>>()
        await bench.loop.perform { [client = bench.client] in
            for _ in 0..<17 {
                client.send(BusCall(to: "test.server", "/", "a.b", "C"), within: .seconds(10)) {
                    results.add($0)
                }
            }
        }
        await results.wait { !$0.isEmpty }
        #expect(results.all == [.failure(.remote(name: "org.freedesktop.DBus.Error.LimitsExceeded"))])
        #expect(bench.calls.all.count == 16)
        await bench.close()
    }

    @Test func theEndOfTheBusEndsCallsAndIsToldOnce() async throws {
        let bench = try await Bench(answers: nil)
        async let result = bench.call([])
        await bench.calls.wait { !$0.isEmpty }
        bench.bus.stop()
        #expect(await result == .failure(.notConnected))
        await bench.ends.wait { !$0.isEmpty }
        #expect(await bench.call([]) == .failure(.notConnected))
        #expect(bench.ends.all.count == 1)
        await bench.close()
    }

    @Test func aBusThatIsNotThereIsAnError() async throws {
        let loop = try RadioLoop(clock: DrivenClock(wall: DrivenClock.morning))
        let error = await loop.perform { () -> SystemError? in
            do throws(SystemError) {
                try BusConnection(.bus("unix:path=/nonexistent"), loop: loop, handlers: .init()).close()
                return nil
            } catch {
                return error
            }
        }
        #expect(error != nil)
    }
}
