import Synchronization
import Testing

@testable import BlueZBridge
@testable import PeripheralSimulator

/// The real ATT client against a simulated peripheral, over a socket pair.
@Suite(.timeLimit(.minutes(15)))
struct AttributeLinkTests {
    private static let datedTemperature: [UInt8] = [
        0x02, 0x4C, 0x0E, 0x00, 0xFE, 0xEA, 0x07, 11, 20, 9, 14, 57,
    ]

    @Test func firstReadingTakesTenPDUsAndTheSecondFour() async throws {
        let bench = try LinkBench(readings: [
            .temperature(mantissa: 3660, exponent: -2, isDated: true),
            .temperature(mantissa: 3661, exponent: -2, isDated: true),
        ])
        let first = try await bench.connect()
        #expect(try await bench.takeReading(first) == Self.datedTemperature)
        await bench.confirmationArrived()
        #expect(await first.pduCount == 10)
        let layout = await first.layout
        await first.close()
        await bench.linkEnded()

        let second = try await bench.connect(remembering: layout)
        try await bench.takeReading(second)
        await bench.confirmationArrived()
        #expect(await second.pduCount == 4)
        let traces = await bench.peripheral.traces
        #expect(traces.map(\.pdusToConfirmation) == [10, 4])
        // Find By Type Value, Read By Type, Find Information, Write, Confirmation: no MTU exchange.
        #expect(traces.map(\.gatewayOpcodes) == [[0x06, 0x08, 0x04, 0x12, 0x1E], [0x12, 0x1E]])
        await second.close()
    }

    @Test(arguments: [(23, [UInt8](repeating: 0x41, count: 18)), (247, [UInt8](repeating: 0x42, count: 200))])
    func valuesLongerThanAPDUAreReadWhole(longestPDU: Int, value: [UInt8]) async throws {
        let long = value + value + [0x43]
        let bench = try LinkBench(
            services: [SimulatedService(0x180A, [.init(0x2A29, .read, value: long)])],
            longestPDU: longestPDU)
        let link = try await bench.connect()
        #expect(try await link.read(0x2A29, in: 0x180A) == long)
        try await link.ensureMTU(100)
        #expect(try await link.read(0x2A29, in: 0x180A) == long)
        // The second reading goes by the handle, and after the exchange of MTUs.
        let opcodes = await bench.peripheral.traces[0].gatewayOpcodes
        #expect(opcodes.prefix(3) == [0x06, 0x08, 0x0C])
        #expect(opcodes.contains(0x0A))
        #expect(opcodes.filter { $0 == 0x02 }.count == 1)
        await link.close()
    }

    @Test func valueOfExactlyOnePDUIsWhole() async throws {
        let value = [UInt8](repeating: 0x44, count: 19)
        let bench = try LinkBench(services: [SimulatedService(0x180A, [.init(0x2A29, .read, value: value)])])
        let link = try await bench.connect()
        #expect(try await link.read(0x2A29, in: 0x180A) == value)
        await link.close()
    }

    @Test func aServiceIsWalkedOnceForWhatItHasAndLacks() async throws {
        let bench = try LinkBench(
            services: [
                SimulatedService(
                    0x180A, [0x2A29, 0x2A24].map { .init($0, .read, value: [0x45]) })
            ])
        let first = try await bench.connect()
        #expect(try await first.has(0x2A29, in: 0x180A))
        #expect(try await first.has(0x2A26, in: 0x180A) == false)
        let walked = await first.pduCount
        #expect(try await first.has(0x2A24, in: 0x180A))
        #expect(try await first.has(0x2A25, in: 0x180A) == false)
        #expect(await first.pduCount == walked)
        let layout = await first.layout
        await first.close()
        await bench.linkEnded()

        let second = try await bench.connect(remembering: layout)
        #expect(try await second.has(0x2A26, in: 0x180A) == false)
        #expect(await second.pduCount == 0)
        await second.close()
    }

    @Test func mtuIsExchangedOnlyForLongerPDUs() async throws {
        let bench = try LinkBench()
        let link = try await bench.connect()
        try await link.ensureMTU(23)
        #expect(await link.pduCount == 0)
        try await link.ensureMTU(24)
        #expect(await link.pduCount == 2)
        try await link.ensureMTU(247)
        #expect(await link.pduCount == 2)
        await link.close()
    }

    /// Also where the server says that the client is out of sync with it.
    @Test(arguments: [LinkBehaviour(), refusingOnce()])
    func movedHandlesAreFoundAnew(_ behaviour: LinkBehaviour) async throws {
        let bench = try LinkBench(readings: [
            .temperature(mantissa: 3660, exponent: -2, isDated: true),
            .temperature(mantissa: 3661, exponent: -2, isDated: true),
        ])
        let first = try await bench.connect()
        try await bench.takeReading(first)
        await bench.confirmationArrived()
        let layout = await first.layout
        await first.close()
        await bench.linkEnded()
        await bench.peripheral.relayOut(firstHandle: 0x0040)

        let second = try await bench.connect(remembering: layout, behaviour)
        try await bench.takeReading(second)
        await bench.confirmationArrived()
        // The refused write, then everything from the beginning.
        #expect(await bench.peripheral.traces[1].gatewayOpcodes == [0x12, 0x06, 0x08, 0x04, 0x12, 0x1E])
        #expect(await second.layout.services["1809"]??.firstHandle == 0x0040)
        await second.close()
    }

    @Test func whoIsOutOfSyncAsksAgainForWhatIsThere() async throws {
        let bench = try LinkBench()
        let link = try await bench.connect(Self.refusingOnce())
        #expect(try await link.has(0x2A1C, in: 0x1809))
        #expect(await bench.peripheral.traces[0].gatewayOpcodes == [0x06, 0x06, 0x08])
        await link.close()
    }

    /// A server with robust caching, which refuses the first request of a client that does not know its new attributes.
    private static func refusingOnce() -> LinkBehaviour {
        let hasRefused = Mutex(false)
        return .responding { request, answer in
            let isFirst = hasRefused.withLock { hasRefused in
                defer { hasRefused = true }
                return !hasRefused
            }
            return [isFirst ? [0x01, request[0], 0x00, 0x00, 0x12] : answer]
        }
    }

    /// A device under this address had other services: it was listed as another model, or its firmware was renewed.
    @Test func whatStoodWhereAServiceIsFoundNowIsForgotten() async throws {
        let bench = try LinkBench()
        let table = AttributeTable(SimulatedService.thermometer(serial: "T-1"), first: 1)
        let handle = try #require(table.valueHandle(of: 0x2A1C))
        var layout = AttributeLayout.unknown
        // Several, since the order in which they are looked through is left to chance.
        let others = (0..<8).map { BluetoothUUID(0x1810 + $0).description }
        for other in others {
            layout.services[other] = AttributeLayout.Service(
                firstHandle: 1, lastHandle: 0x00FF,
                characteristics: [
                    "2A37": .init(properties: 0x10, valueHandle: handle, configurationHandle: handle + 1)
                ])
        }
        let link = try await bench.connect(remembering: layout)
        try await link.subscribe(to: 0x2A1C, in: 0x1809)
        let value = try #require(try await link.nextValue(within: .seconds(30)))
        #expect(value.characteristic == 0x2A1C)
        let known = await link.layout.services
        #expect(others.allSatisfy { known[$0] == nil })
        await link.close()
    }

    /// Somebody who shows itself under the address of a meter without a bond can have its layout remembered.
    @Test(arguments: [true, false])
    func nothingIsWrittenToAHandleThatIsAnotherThanItWas(isWrite: Bool) async throws {
        let meter = SimulatedService(
            0x1808, [.init(0x2A18, .notify), .init(0x2A52, [.write, .indicate], value: [])])
        let impostor = SimulatedService(
            0x1808,
            [.init(0x2A34, .read, value: [])] + [
                .init(0x2A18, .notify), .init(0x2A52, [.write, .indicate], value: []),
            ])
        let shown = try LinkBench(services: [impostor])
        let first = try await shown.connect()
        try await first.subscribe(to: 0x2A18, in: 0x1808)
        try await first.subscribe(to: 0x2A52, in: 0x1808)
        let layout = await first.layout
        await first.close()

        let bench = try LinkBench(services: [meter])
        let second = try await bench.connect(remembering: layout)
        if isWrite {
            try await second.write([0x01, 0x01], to: 0x2A52, in: 0x1808)
        } else {
            try await second.subscribe(to: 0x2A18, in: 0x1808)
        }
        let table = AttributeTable([meter], first: 1)
        let point = try #require(table.valueHandle(of: 0x2A52))
        let right = isWrite ? point : try #require(table.valueHandle(of: 0x2A18)) + 1
        let writes = await bench.peripheral.traces[0].pdus.filter {
            $0.isFromGateway && $0.bytes.first == 0x12
        }
        #expect(writes.map { Array($0.bytes[1...2]) } == [Wire.bytes(right)])
        await second.close()
    }

    /// One that is a value may be remembered as the configuration of another, too.
    @Test func aHandleThatWasFoundToBeOneAttributeIsNotWrittenToAsAnother() async throws {
        let bench = try LinkBench(services: [
            SimulatedService(
                0x1808, [.init(0x2A18, .notify), .init(0x2A52, [.write, .indicate], value: [])])
        ])
        let first = try await bench.connect()
        try await first.subscribe(to: 0x2A18, in: 0x1808)
        try await first.subscribe(to: 0x2A52, in: 0x1808)
        var layout = await first.layout
        await first.close()
        await bench.linkEnded()
        let name = BluetoothUUID(0x1808).description
        var service = try #require(layout.services[name] ?? nil)
        let point = try #require(service.characteristics[BluetoothUUID(0x2A52).description]).valueHandle
        service.characteristics[BluetoothUUID(0x2A18).description]?.configurationHandle = point
        layout.services[name] = service

        let second = try await bench.connect(remembering: layout)
        try await second.write([0x01, 0x01], to: 0x2A52, in: 0x1808)
        try await second.subscribe(to: 0x2A18, in: 0x1808)
        let written = await bench.peripheral.traces[1].pdus.filter {
            $0.isFromGateway && $0.bytes.first == 0x12 && Array($0.bytes[1...2]) == Wire.bytes(point)
        }
        #expect(written.map { Array($0.bytes.dropFirst(3)) } == [[0x01, 0x01]])
        await second.close()
    }

    @Test func serviceChangedForgetsTheLayout() async throws {
        let services =
            SimulatedService.thermometer(serial: "T-1")
            + [SimulatedService(0x1801, [.init(0x2A05, .indicate)])]
        let bench = try LinkBench(services: services)
        let first = try await bench.connect()
        try await first.subscribe(to: 0x2A1C, in: 0x1809)
        let layout = await first.layout
        await first.close()
        await bench.linkEnded()

        let table = AttributeTable(services, first: 1)
        let handle = try #require(table.valueHandle(of: 0x2A05))
        var behaviour = LinkBehaviour()
        behaviour.opening = [[0x1D] + Wire.bytes(handle) + [0x01, 0x00, 0xFF, 0xFF]]
        let second = try await bench.connect(remembering: layout, behaviour)
        // Comes before the subscription is answered, is confirmed, and brings no value.
        let waiting = Task { try await second.nextValue(within: .seconds(30)) }
        for await occurrence in bench.peripheral.occurrences where occurrence == .connected { break }
        while await !bench.peripheral.traces[1].gatewayOpcodes.contains(0x1E) { await bench.loop.turned() }
        #expect(await second.layout == .unknown)
        await bench.clock.advance(by: .seconds(30), bench.loop)
        #expect(try await waiting.value == nil)
        await second.close()
    }

    @Test func anotherDatabaseHashForgetsTheLayout() async throws {
        func services(_ hash: UInt8) -> [SimulatedService] {
            SimulatedService.thermometer(serial: "T-1")
                + [SimulatedService(0x1801, [.init(0x2B2A, .read, value: .init(repeating: hash, count: 16))])]
        }
        let bench = try LinkBench(services: services(1))
        let first = try await bench.connect()
        try await first.subscribe(to: 0x2A1C, in: 0x1809)
        try await first.checkDatabaseHash()
        let layout = await first.layout
        #expect(layout.databaseHash == String(repeating: "01", count: 16))
        await first.close()
        await bench.linkEnded()

        let same = try await bench.connect(remembering: layout)
        try await same.checkDatabaseHash()
        #expect(await same.layout == layout)
        await same.close()
        await bench.linkEnded()

        await bench.peripheral.relayOut(firstHandle: 1, services: services(2))
        let changed = try await bench.connect(remembering: layout)
        try await changed.checkDatabaseHash()
        #expect(await changed.layout.services.isEmpty)
        #expect(await changed.layout.databaseHash == String(repeating: "02", count: 16))
        await changed.close()
    }

    @Test func whatIsKnownToBeAbsentCostsNothingAndForgetsNothing() async throws {
        let services = SimulatedService.thermometer(serial: "T-1").filter { $0.uuid != 0x180F }
        let bench = try LinkBench(services: services)
        let first = try await bench.connect()
        try await first.subscribe(to: 0x2A1C, in: 0x1809)
        await #expect(throws: LinkError.missing(0x180F)) { try await first.read(0x2A19, in: 0x180F) }
        let layout = await first.layout
        await first.close()
        await bench.linkEnded()

        let second = try await bench.connect(remembering: layout)
        await #expect(throws: LinkError.missing(0x180F)) { try await second.read(0x2A19, in: 0x180F) }
        #expect(await second.pduCount == 0)
        #expect(await second.layout == layout)
        await second.close()
    }

    @Test func peripheralThatWantsEncryptionIsToldApart() async throws {
        let bench = try LinkBench(services: [
            SimulatedService(0x1809, [.init(0x2A1C, .indicate, requiresEncryption: true)]),
            SimulatedService(0x180F, [.init(0x2A19, .read, value: [50], requiresEncryption: true)]),
        ])
        let link = try await bench.connect()
        await #expect(throws: LinkError.notEncrypted) { try await link.subscribe(to: 0x2A1C, in: 0x1809) }
        await #expect(throws: LinkError.notEncrypted) { try await link.read(0x2A19, in: 0x180F) }
        await link.close()
    }

    @Test func unansweredRequestEndsTheLinkAfterThirtySeconds() async throws {
        let bench = try LinkBench()
        let link = try await bench.connect(.responding { _, _ in [] })
        let subscription = Task { try await link.subscribe(to: 0x2A1C, in: 0x1809) }
        while await bench.peripheral.traces[0].pdus.isEmpty { await bench.loop.turned() }
        await bench.clock.advance(by: .seconds(29), bench.loop)
        #expect(await bench.peripheral.traces[0].hasEnded == false)
        await bench.clock.advance(by: .seconds(1), bench.loop)
        await #expect(throws: LinkError.noAnswer(opcode: 0x06)) { try await subscription.value }
        await link.close()
        await bench.linkEnded()
        await #expect(throws: LinkError.ended(.byGateway)) { try await link.read(0x2A19, in: 0x180F) }
    }

    @Test func lateAnswersAreWaitedFor() async throws {
        let bench = try LinkBench()
        var behaviour = LinkBehaviour()
        behaviour.answerDelay = .seconds(5)
        let link = try await bench.connect(behaviour)
        let reading = Task { try await bench.takeReading(link) }
        for answered in 1...4 {
            while await bench.peripheral.traces[0].pdus.count < answered * 2 - 1 {
                await bench.loop.turned()
            }
            await bench.clock.advance(by: .seconds(5), bench.loop)
        }
        #expect(try await reading.value == Self.datedTemperature)
        await link.close()
    }
}
