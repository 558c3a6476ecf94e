import TestSupport
import Testing

@testable import BlueZBridge
@testable import PeripheralSimulator

/// Answers that break the protocol, and requests that the peripheral makes of us.
@Suite(.timeLimit(.minutes(15)))
struct HostileAnswerTests {
    /// An answer to the request with this opcode.
    struct Malformed: Sendable, CustomTestStringConvertible {
        let request: UInt8
        let answer: [UInt8]

        var testDescription: String { "0x\(String(request, radix: 16)): \(answer)" }
    }

    private static let malformed: [Malformed] = [
        Malformed(request: 0x06, answer: [0x07]),
        Malformed(request: 0x06, answer: [0x07, 0x01, 0x00, 0x03]),
        Malformed(request: 0x06, answer: [0x07, 0x00, 0x00, 0x03, 0x00]),
        Malformed(request: 0x06, answer: [0x07, 0x05, 0x00, 0x01, 0x00]),
        Malformed(request: 0x06, answer: [0x01]),
        Malformed(request: 0x06, answer: [0x01, 0x06, 0x01]),
        Malformed(request: 0x08, answer: [0x09]),
        Malformed(request: 0x08, answer: [0x09, 0x00]),
        Malformed(request: 0x08, answer: [0x09, 0x07]),
        Malformed(request: 0x08, answer: [0x09, 0x06, 0x02, 0x00, 0x20, 0x03, 0x00, 0x1C]),
        // A value before its declaration, beyond the service, and a declaration before the range.
        Malformed(request: 0x08, answer: [0x09, 0x07, 0x02, 0x00, 0x20, 0x01, 0x00, 0x1C, 0x2A]),
        Malformed(request: 0x08, answer: [0x09, 0x07, 0x02, 0x00, 0x20, 0xFF, 0xFF, 0x1C, 0x2A]),
        Malformed(request: 0x08, answer: [0x09, 0x07, 0x00, 0x00, 0x20, 0x03, 0x00, 0x1C, 0x2A]),
        Malformed(request: 0x04, answer: [0x05]),
        Malformed(request: 0x04, answer: [0x05, 0x03, 0x04, 0x00, 0x02, 0x29]),
        Malformed(request: 0x04, answer: [0x05, 0x01, 0x99, 0x00, 0x02, 0x29]),
    ]

    @Test(arguments: malformed)
    func malformedAnswerIsAnError(_ malformed: Malformed) async throws {
        let bench = try LinkBench()
        let link = try await bench.connect(
            .responding { request, answer in
                [request.first == malformed.request ? malformed.answer : answer]
            })
        await #expect(throws: LinkError.malformed(opcode: malformed.request)) {
            try await link.subscribe(to: 0x2A1C, in: 0x1809)
        }
        await link.close()
    }

    @Test(arguments: 0..<200)
    func randomAnswersNeverTrap(seed: Int) async throws {
        let bench = try LinkBench()
        let link = try await bench.connect(
            .responding { request, answer in
                var random = SeededGenerator(seed: UInt64(seed * 31 + Int(request[0])))
                if Int.random(in: 0..<3, using: &random) == 0 { return [answer] }
                let count = Int.random(in: 0...24, using: &random)
                let noise = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
                // The proper opcode, so that the answer is looked into; and an end to the wait.
                return [[request[0] + 1] + noise]
            })
        do throws(LinkError) {
            try await link.ensureMTU(100)
            try await link.subscribe(to: 0x2A1C, in: 0x1809)
        } catch {}
        for (characteristic, service) in [(0x2A19, 0x180F), (0x2A29, 0x180A)]
            as [(BluetoothUUID, BluetoothUUID)]
        {
            do throws(LinkError) {
                let value = try await link.read(characteristic, in: service)
                #expect(value.count <= 512)
            } catch {}
        }
        do throws(LinkError) { try await link.checkDatabaseHash() } catch {}
        await link.close()
        await bench.linkEnded()
        #expect(await bench.peripheral.traces[0].pdus.count < 400)
    }

    // MARK: Attributes without end

    /// Answers as a service that takes all handles, with a characteristic at each second handle.
    /// - Parameter uuid: of the characteristic whose declaration has this handle.
    private static func attributes(_ uuid: @escaping @Sendable (UInt16) -> UInt16) -> LinkBehaviour {
        .responding { request, _ in
            let first = request.count > 2 ? UInt16(request[1]) | UInt16(request[2]) << 8 : 0
            switch request[0] {
            case 0x06: return [[0x07, 0x01, 0x00, 0xFF, 0xFF]]
            case 0x08 where request.suffix(2) == [0x03, 0x28]:
                let entries = (0..<3).map { first / 2 * 2 + UInt16($0) * 2 + 2 }.flatMap { handle in
                    let (value, uuid) = (handle + 1, uuid(handle))
                    return [
                        UInt8(truncatingIfNeeded: handle), UInt8(handle >> 8), 0x20,
                        UInt8(truncatingIfNeeded: value), UInt8(value >> 8),
                        UInt8(truncatingIfNeeded: uuid), UInt8(uuid >> 8),
                    ]
                }
                return [[0x09, 0x07] + entries]
            case 0x08: return [[0x09, 0x03, 0x09, 0x90, 0x41]]
            // One descriptor that means nothing at each handle.
            case 0x04: return [[0x05, 0x01, request[1], request[2], 0x04, 0x29]]
            default: return [[0x13]]
            }
        }
    }

    @Test func ofAnyNumberOfCharacteristicsTheFirst256AreLookedAt() async throws {
        let bench = try LinkBench()
        let most = AttributeLayout.mostCharacteristics
        let link = try await bench.connect(Self.attributes { $0 })
        await #expect(throws: LinkError.missing(0x2A1C)) {
            try await link.subscribe(to: 0x2A1C, in: 0x1809)
        }
        #expect(await link.layout.characteristicCount == most)
        // Find By Type Value, and three characteristics in an answer.
        let pdus = 2 * (1 + (most + 2) / 3)
        #expect(await link.pduCount == pdus)
        // Others are not looked for in vain, and a value is read, but its handle is not remembered.
        #expect(try await !link.has(0x2A35, in: 0x1809))
        #expect(await link.pduCount == pdus)
        #expect(try await link.read(0x2A29, in: 0x1809) == [0x41])
        let layout = await link.layout
        #expect(layout.characteristicCount == most)
        await link.close()
        await bench.linkEnded()

        // The next link begins where this one came to.
        let again = try await bench.connect(remembering: layout, Self.attributes { $0 })
        #expect(try await !again.has(0x2A1C, in: 0x1809))
        #expect(await again.pduCount == 0)
        await again.close()
    }

    @Test func whatIsAmongTheFirst256IsFound() async throws {
        let bench = try LinkBench()
        let link = try await bench.connect(Self.attributes { $0 == 300 ? 0x2A1C : 0x3000 + $0 })
        #expect(try await link.has(0x2A1C, in: 0x1809))
        #expect(await link.layout.characteristicCount < 160)
        await link.close()
    }

    @Test func equalCharacteristicsCountAsOthersDo() async throws {
        let bench = try LinkBench()
        let link = try await bench.connect(Self.attributes { _ in 0x2A49 })
        #expect(try await !link.has(0x2A1C, in: 0x1809))
        #expect(await link.layout.characteristicCount == 1)
        #expect(await link.pduCount < 180)
        await link.close()
    }

    @Test func descriptorsOfACharacteristicAreBounded() async throws {
        let bench = try LinkBench()
        // The characteristic that is wanted is the last that is met.
        let behaviour = LinkBehaviour.responding { request, _ in
            switch request[0] {
            case 0x06: return [[0x07, 0x01, 0x00, 0xFF, 0xFF]]
            case 0x08: return [[0x09, 0x07, 0x02, 0x00, 0x20, 0x03, 0x00, 0x1C, 0x2A]]
            default: return [[0x05, 0x01, request[1], request[2], 0x04, 0x29]]
            }
        }
        let link = try await bench.connect(behaviour)
        await #expect(throws: LinkError.missing(0x2902)) {
            try await link.subscribe(to: 0x2A1C, in: 0x1809)
        }
        #expect(await link.pduCount == 2 * (2 + 64))
        await link.close()
    }

    @Test func attributesThatMoveAgainAndAgainAreLookedForTwice() async throws {
        let bench = try LinkBench()
        // It sends from a handle that is not known whenever it is asked for a service, so that all is forgotten.
        var behaviour = Self.attributes { $0 }
        let answers = behaviour.respond
        behaviour.respond = { request, answer in
            let proper = answers?(request, answer) ?? []
            return request[0] == 0x06 ? proper + [[0x1B, 0xF0, 0xF0, 0x00]] : proper
        }
        let link = try await bench.connect(behaviour)
        for _ in 0..<20 {
            #expect(try await !link.has(0x2A1C, in: 0x1809))
            _ = try await link.nextValue(within: .zero)
        }
        #expect(await link.layout.characteristicCount <= AttributeLayout.mostCharacteristics)
        let walks = await bench.peripheral.traces[0].gatewayOpcodes.count { $0 == 0x08 }
        #expect(walks <= 2 * 86)
        await link.close()
    }

    @Test(
        arguments: [
            ([0x02, 0x17, 0x00], [0x03, 0x05, 0x02]),
            ([0x02], [0x01, 0x02, 0x00, 0x00, 0x06]),
            ([0x04, 0x01, 0x00, 0xFF, 0xFF], [0x01, 0x04, 0x01, 0x00, 0x0A]),
            ([0x06, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x28, 0x0F, 0x18], [0x01, 0x06, 0x01, 0x00, 0x0A]),
            ([0x08, 0x01, 0x00, 0xFF, 0xFF, 0x03, 0x28], [0x01, 0x08, 0x01, 0x00, 0x0A]),
            ([0x0A, 0x03, 0x00], [0x01, 0x0A, 0x03, 0x00, 0x01]),
            ([0x0C, 0x03, 0x00, 0x16, 0x00], [0x01, 0x0C, 0x03, 0x00, 0x01]),
            ([0x0E, 0x03, 0x00, 0x04, 0x00], [0x01, 0x0E, 0x00, 0x00, 0x06]),
            ([0x10, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x28], [0x01, 0x10, 0x01, 0x00, 0x0A]),
            ([0x12, 0x03, 0x00, 0x01], [0x01, 0x12, 0x03, 0x00, 0x01]),
            ([0x16, 0x03, 0x00, 0x00, 0x00, 0x01], [0x01, 0x16, 0x00, 0x00, 0x06]),
            ([0x18, 0x00], [0x01, 0x18, 0x00, 0x00, 0x06]),
            ([0x20, 0x03, 0x00], [0x01, 0x20, 0x00, 0x00, 0x06]),
        ] as [([UInt8], [UInt8])])
    func requestOfThePeripheralIsAnsweredAndTheReadingGoesOn(request: [UInt8], answer: [UInt8]) async throws {
        let bench = try LinkBench()
        var behaviour = LinkBehaviour()
        behaviour.opening = [request]
        let link = try await bench.connect(behaviour)
        try await bench.takeReading(link)
        await bench.confirmationArrived()
        let sent = await bench.peripheral.traces[0].pdus.filter(\.isFromGateway).map(\.bytes)
        #expect(sent.filter { $0 == answer }.count == 1)
        #expect(sent.last == [0x1E])
        await link.close()
    }

    @Test(
        arguments: [[0x52, 0x03, 0x00, 0x01], [0x0B, 0x01], [0x1E], [0x1B], [0x1D, 0x01], [0xD2, 0x03]]
            as [[UInt8]])
    func whatAnswersNothingAndIsNoRequestIsIgnored(pdu: [UInt8]) async throws {
        let bench = try LinkBench()
        var behaviour = LinkBehaviour()
        behaviour.opening = [pdu]
        let link = try await bench.connect(behaviour)
        try await bench.takeReading(link)
        await bench.confirmationArrived()
        #expect(await bench.peripheral.traces[0].gatewayOpcodes == [0x06, 0x08, 0x04, 0x12, 0x1E])
        await link.close()
    }
}
