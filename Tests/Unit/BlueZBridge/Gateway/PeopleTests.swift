import BlueZBridge
import PeripheralSimulator
import Testing

@testable import IngestRecords

/// Whose a reading is: never the wrong person's.
@Suite(.timeLimit(.minutes(15)))
struct PeopleTests {
    private static let twoUsers = [1: "patient-17", 2: "patient-18"]

    /// A weight of 70 kg (2A9D) with this date; with a user if there is one.
    private static func weight(at time: DeviceTime, user: UInt8?) -> SimulatedReading {
        let hasUser: UInt8 = user == nil ? 0 : 0x04
        let year = UInt16(time.year)
        var payload: [UInt8] = [
            0x02 | hasUser, 0xB0, 0x36, UInt8(truncatingIfNeeded: year), UInt8(year >> 8),
        ]
        payload += [time.month, time.day, time.hours, time.minutes, time.seconds].map { UInt8($0) }
        if let user { payload.append(user) }
        return SimulatedReading(0x2A9D, payload: payload)
    }

    /// So many minutes and seconds after the gateway came to know the scale.
    private static func time(_ minutes: Int, _ seconds: Int = 1) -> DeviceTime {
        DeviceTime(year: 2026, month: 11, day: 20, hours: 9, minutes: 15 + minutes, seconds: seconds)
    }

    /// Runs the gateway on a scale that gives one of these weights on each link.
    private func withScale(
        _ readings: [SimulatedReading], entry: GatewayBench.Entry,
        _ body: (GatewayBench) async throws -> Void
    ) async throws {
        var setup = GatewayBench.Setup(
            peripheral: { loop, _ in
                SimulatedPeripheral(
                    device: DeviceAddress(RadioBench.pinned, .random),
                    advert: [0x02, 0x01, 0x06, 0x03, 0x03, 0x1D, 0x18],
                    services: [SimulatedService(0x181D, [.init(0x2A9D, .indicate)])], readings: readings,
                    loop: loop, time: { GatewayBench.deviceTime })
            }, profile: "weight-scale", service: 0x181D)
        setup.entry = entry
        try await GatewayBench.run(setup, body)
    }

    private func subjects(_ bench: GatewayBench) -> [String?] {
        bench.noted.releases.all.flatMap(\.records).map(\.subject)
    }

    @Test(
        arguments: [
            // The scale's slot; whom the entry names, by slot or at all; whose it is.
            (1, twoUsers, nil, "patient-17"), (2, twoUsers, nil, "patient-18"),
            // A slot that is not listed, and none.
            (3, twoUsers, nil, nil), (nil, twoUsers, nil, nil),
            // A guest, whom the scale does not know.
            (255, twoUsers, nil, nil), (255, [:], "patient-17", nil),
            // One person for all slots.
            (nil, [:], "patient-17", "patient-17"), (4, [:], "patient-17", "patient-17"),
            (1, [:], nil, nil),
        ] as [(UInt8?, [Int: String], String?, String?)])
    func aSlotDecides(
        user: UInt8?, users: [Int: String], subject: String?, whose: String?
    ) async throws {
        let entry = GatewayBench.Entry(subject: subject, users: users)
        try await withScale([Self.weight(at: Self.time(0), user: user)], entry: entry) { bench in
            try await bench.readOnce()
            #expect(subjects(bench) == [whose])
        }
    }

    @Test func aDeviceThatIsHandedOnTakesNothingWithIt() async throws {
        let readings = [
            Self.weight(at: Self.time(0), user: nil),
            // Measured before it was handed on, and sent after.
            Self.weight(at: Self.time(0, 30), user: nil), Self.weight(at: Self.time(4), user: nil),
            // Handed back: what came in between is not the first person's either.
            Self.weight(at: Self.time(4, 30), user: nil), Self.weight(at: Self.time(8), user: nil),
        ]
        try await withScale(readings, entry: .init(subject: "patient-17")) { bench in
            try await bench.readOnce()
            await bench.longPause(.seconds(200))
            await bench.apply(.init(subject: "patient-18"))
            try await bench.readOnce()
            await bench.pause(.seconds(40))
            try await bench.readOnce()
            await bench.pause(.seconds(60))
            await bench.pause(.seconds(60))
            await bench.apply(.init(subject: "patient-17"))
            try await bench.readOnce()
            await bench.pause(.seconds(60))
            await bench.pause(.seconds(60))
            try await bench.readOnce()
            #expect(subjects(bench) == ["patient-17", nil, "patient-18", nil, "patient-17"])
        }
    }

    @Test func aSlotThatGoesToAnotherPersonTakesNothingWithIt() async throws {
        let readings = [
            Self.weight(at: Self.time(0), user: 1), Self.weight(at: Self.time(0, 30), user: 1),
            Self.weight(at: Self.time(0, 30), user: 2), Self.weight(at: Self.time(4), user: 1),
        ]
        try await withScale(readings, entry: .init(users: Self.twoUsers)) { bench in
            try await bench.readOnce()
            await bench.longPause(.seconds(200))
            await bench.apply(.init(users: [1: "patient-19", 2: "patient-18"]))
            for _ in 0..<2 {
                try await bench.readOnce()
                await bench.pause(.seconds(40))
            }
            try await bench.readOnce()
            #expect(subjects(bench) == ["patient-17", nil, "patient-18", "patient-19"])
        }
    }

    @Test func aNeighboursDeviceOfTheSameModelIsNotConnectedTo() async throws {
        let other = BluetoothAddress(value: 0xC000_0000_0002)
        let entry = GatewayBench.Entry(address: other, subject: "patient-17")
        try await withScale([Self.weight(at: Self.time(0), user: nil)], entry: entry) { bench in
            await bench.peripheral.wakeUp()
            for _ in 0..<60 { await bench.clock.advance(by: .milliseconds(250), bench.loop) }
            #expect(await bench.radio.report().peripherals.map(\.linksAccepted) == [0])
            #expect(bench.count(of: "discovered") == 0)
        }
    }

    @Test func aNeighboursDeviceUnderAnEntryForAllOfItsModelIsNobodys() async throws {
        // The configuration refuses a subject without an address; this holds even so.
        let entry = GatewayBench.Entry(address: nil, subject: "patient-17")
        try await withScale([Self.weight(at: Self.time(0), user: 1)], entry: entry) { bench in
            try await bench.readOnce()
            #expect(subjects(bench) == [nil])
        }
    }

    @Test func twoGatewaysGiveAReadingTheSameName() async throws {
        var names: [[RecordID]] = []
        for subject in ["patient-17", nil] {
            let readings = [Self.weight(at: Self.time(0), user: 2), Self.weight(at: Self.time(0), user: 1)]
            try await withScale(readings, entry: .init(subject: subject)) { bench in
                try await bench.readOnce()
                await bench.pause(subject == nil ? .seconds(47) : .seconds(40))
                try await bench.readOnce()
                names.append(bench.noted.releases.all.flatMap(\.records).map(\.id))
            }
        }
        #expect(names.map(\.count) == [2, 2])
        #expect(names.first == names.last)
    }
}
