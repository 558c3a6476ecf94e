import IngestKit
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
