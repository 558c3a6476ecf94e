import Testing

@testable import BlueZBridge
@testable import PeripheralSimulator

/// The Write Command (Core Specification Vol 3 Part F 3.4.5.3) as a simulated peripheral takes it.
struct WriteCommandTests {
    private static let table = AttributeTable(OneTouchMeter(wallSeconds: 946_684_800).services, first: 1)

    @Test func commandIsTakenWhereItIsPermittedAndARequestIsNot() throws {
        var server = AttributeServer(table: Self.table, longestPDU: 23)
        let handle = try #require(Self.table.valueHandle(of: OneTouchMeter.command))
        let command = [0x52] + Wire.bytes(handle) + [0x81]
        #expect(server.valueWrite(command)?.characteristic == OneTouchMeter.command)
        #expect(server.valueWrite(command)?.value == [0x81])
        server.take(command: command)
        #expect(server.table.attribute(at: handle)?.value == [0x81])
        let request = [0x12] + Wire.bytes(handle) + [0x82]
        #expect(server.valueWrite(request) == nil)
        // Write Not Permitted.
        #expect(server.answer(request) == [0x01, 0x12] + Wire.bytes(handle) + [0x03])
    }

    @Test func commandElsewhereIsIgnored() throws {
        var server = AttributeServer(table: Self.table, longestPDU: 23)
        let notification = try #require(Self.table.valueHandle(of: OneTouchMeter.notification))
        for handle in [notification, notification + 1, 0xFFFF] {
            let command = [0x52] + Wire.bytes(handle) + [0x01, 0x00]
            #expect(server.valueWrite(command) == nil)
            server.take(command: command)
        }
        #expect(server.subscriptions.isEmpty)
        #expect(server.table.attributes.map(\.value) == Self.table.attributes.map(\.value))
    }

    @Test(.timeLimit(.minutes(15))) func commandHasNoAnswerAndReachesTheSensor() async throws {
        let bench = try LinkBench(sensor: OneTouchMeter(wallSeconds: 946_684_800))
        defer { bench.loop.stop() }
        let link = try await bench.connect()
        try await link.subscribe(to: OneTouchMeter.notification, in: OneTouchMeter.service)
        let body: [UInt8] = [0x02, 0x09, 0x00, 0x03, 0x27, 0x00, 0x03]
        let frame = [0x01] + body + Wire.bytes(OneTouchMeter.checksum(body))
        try await link.writeWithoutResponse(frame, to: OneTouchMeter.command, in: OneTouchMeter.service)
        let first = try await link.nextValue(within: .seconds(30))
        let second = try await link.nextValue(within: .seconds(30))
        #expect(first?.value == [0x81])
        #expect(second?.value.count == 11)
        let trace = try #require(await bench.peripheral.traces.last)
        #expect(!trace.pdus.contains { !$0.isFromGateway && $0.bytes.first == 0x53 })
    }
}
