import Testing

@testable import BlueZBridge

@Suite(.timeLimit(.minutes(15)))
struct AgentTests {
    struct Question: Sendable, CustomTestStringConvertible {
        let member: String
        var arguments: [BusValue] = []
        var testDescription: String { member }
    }

    private static let rejected = "\(BusError.remote(name: "org.bluez.Error.Rejected"))"
    static let questions = [
        Question(member: "RequestPasskey"), Question(member: "RequestPinCode"),
        Question(member: "RequestAuthorization"),
        Question(member: "RequestConfirmation", arguments: [.uint32(1)]),
        Question(member: "DisplayPasskey", arguments: [.uint32(1), .uint16(0)]),
        Question(member: "DisplayPinCode", arguments: [.string("1")]),
        Question(member: "AuthorizeService", arguments: [.string("00001809-0000-1000-8000-00805f9b34fb")]),
    ]

    @Test(arguments: questions) func outsideOfAPairingEveryDeviceIsRefused(_ question: Question) async throws
    {
        let bench = try BondBench()
        try await bench.run { bluetoothd in
            bluetoothd.add(BondBench.stranger)
            bluetoothd.connected(BondBench.stranger)
        } _: { bench in
            await bench.bonds { $0 != .unknown }
            await bench.perform { $0.asks(BondBench.stranger, question.member, question.arguments) }
            await bench.bluetoothd.notes.wait { $0.contains { $0.hasPrefix(question.member + ":") } }
            #expect(bench.bluetoothd.notes.all.last == "\(question.member): \(Self.rejected)")
        }
    }

    /// Another device, and one that bluetoothd does not have.
    @Test(arguments: questions, [BondBench.stranger, BondBench.masked])
    func duringAPairingEveryOtherDeviceIsRefused(_ question: Question, _ device: DeviceAddress) async throws {
        let bench = try BondBench()
        let person = Person(code: 1, says: true)
        try await bench.run { bluetoothd in
            bluetoothd.add(BondBench.cuff, .silence)
            bluetoothd.add(BondBench.stranger)
            bluetoothd.connected(BondBench.stranger)
        } _: { bench in
            let task = Task { await bench.pair(BondBench.cuff, person) }
            await bench.bluetoothd.notes.wait { $0.contains("Device1.Pair") }
            await bench.perform { $0.asks(device, question.member, question.arguments) }
            await bench.bluetoothd.notes.wait { $0.contains { $0.hasPrefix(question.member + ":") } }
            #expect(bench.bluetoothd.notes.all.last == "\(question.member): \(Self.rejected)")
            #expect(person.seen.all.isEmpty)
            task.cancel()
            #expect(await task.value == .failure(.cancelled))
        }
    }

    /// What is of BR/EDR, or gives access to what we do not have.
    @Test(arguments: questions.filter { $0.member.contains("Pin") || $0.member.contains("Service") })
    func theDeviceThatIsPairedMayNotAskForEverything(_ question: Question) async throws {
        let bench = try BondBench()
        try await bench.run { bluetoothd in
            bluetoothd.add(BondBench.cuff, .silence)
        } _: { bench in
            let task = Task { await bench.pair() }
            await bench.bluetoothd.notes.wait { $0.contains("Device1.Pair") }
            await bench.perform { $0.asks(BondBench.cuff, question.member, question.arguments) }
            await bench.bluetoothd.notes.wait { $0.contains { $0.hasPrefix(question.member + ":") } }
            #expect(bench.bluetoothd.notes.all.last == "\(question.member): \(Self.rejected)")
            task.cancel()
            _ = await task.value
        }
    }

    @Test(arguments: [
        ("/ingestd/agent", "org.bluez.Agent1", "RequestPasskey", [BusValue.string("/")], "InvalidArgs"),
        ("/ingestd/agent", "org.bluez.Agent1", "RequestConfirmation", [.objectPath("/")], "InvalidArgs"),
        ("/ingestd/agent", "org.bluez.Agent1", "Format", [], "UnknownMethod"),
        ("/ingestd/agent", "org.bluez.Profile1", "Release", [], "UnknownMethod"),
        ("/", "org.bluez.Agent1", "Release", [], "UnknownObject"),
    ])
    func callsOfBluetoothdThatMakeNoSenseAreErrors(
        _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue], _ error: String
    ) async throws {
        let bench = try BondBench()
        try await bench.run { bench in
            await bench.bonds { $0 != .unknown }
            let result = await bench.loop.perform { [bluetoothd = bench.bluetoothd] in
                bluetoothd.agentCall(path, interface, member, arguments)
            }
            #expect(await result?() == .failure(.remote(name: "org.freedesktop.DBus.Error." + error)))
        }
    }

    @Test func anotherProgramIsDenied() async throws {
        let bench = try BondBench()
        try await bench.run { bench in
            let name = try #require(await bench.agentName())
            let stranger = try await bench.stranger()
            #expect(
                await stranger.result(
                    BusCall(
                        to: name, "/ingestd/agent", "org.bluez.Agent1", "RequestPasskey", [.objectPath("/")]))
                    == .failure(.remote(name: "org.freedesktop.DBus.Error.AccessDenied")))
            await bench.loop.perform { stranger.close() }
        }
    }
}
