extension SimulatedRadio {
    /// Readings of the built-in peripherals that an allow-list of all but the third brings.
    package static let builtInReadings = 12

    /// The peripherals of `run --radio simulated`, which give all they have in about 15 s:
    /// - C0:00:00:00:00:01, a thermometer: 36.60 and 37.05 with a date, 36.9 without;
    /// - C0:00:00:00:00:02, a cuff: three readings with date and pulse;
    /// - C0:00:00:00:00:03, a thermometer that is meant to be on no allow-list;
    /// - C0:00:00:00:00:04, a glucose meter with four stored records, the last one from an hour ago;
    /// - C0:00:00:00:00:05, a scale: a weight, and a body composition in two packets.
    /// Beside them is C0:00:00:00:00:06, a cuff in pairing mode that gives a reading once it is paired
    /// with; its passkey is 123456.
    /// - Parameters:
    ///   - loop: a new one when nil.
    ///   - zone: where the peripherals' clocks are set.
    /// - Throws: the errno of pipe(2), pthread_create(3) or socketpair(2).
    package static func builtIn(
        clock: any GatewayClock, loop: RadioLoop? = nil, zone: TimeZoneRules = .utc
    ) throws(SystemError) -> SimulatedRadio {
        let loop = if let loop { loop } else { try RadioLoop(clock: clock) }
        let time: @Sendable () -> DeviceTime = {
            let seconds = clock.wallNanoseconds / 1_000_000_000
            // Outside of the years that Bluetooth can name only with a clock that is far off.
            return DeviceTime(wallSeconds: seconds + Int64(zone.offset(at: seconds)))
                ?? DeviceTime(year: 2000, month: 1, day: 1, hours: 0, minutes: 0, seconds: 0)
        }
        func rhythm(first: Duration, pause: Duration) -> SimulatedPeripheral.Rhythm {
            SimulatedPeripheral.Rhythm(firstWakeUp: first, pause: pause)
        }
        let thermometer = SimulatedPeripheral(
            device: .simulated(1), advert: .thermometerAdvert,
            services: SimulatedService.thermometer(serial: "T-0001"),
            readings: [
                .temperature(mantissa: 3660, exponent: -2, isDated: true),
                .temperature(mantissa: 369, exponent: -1, isDated: false),
                .temperature(mantissa: 3705, exponent: -2, isDated: true),
            ], rhythm: rhythm(first: .milliseconds(500), pause: .milliseconds(2_500)), loop: loop, time: time)
        let cuff = SimulatedPeripheral(
            device: .simulated(2), advert: .cuffAdvert, services: SimulatedService.cuff(serial: "B-0002"),
            readings: [
                .bloodPressure(systolic: 128, diastolic: 82, mean: 97, pulse: 71),
                .bloodPressure(systolic: 124, diastolic: 79, mean: 94, pulse: 68),
                .bloodPressure(systolic: 119, diastolic: 77, mean: 91, pulse: 66),
            ], rhythm: rhythm(first: .milliseconds(1_500), pause: .milliseconds(2_500)), loop: loop,
            time: time)
        let stranger = SimulatedPeripheral(
            device: .simulated(3), advert: .thermometerAdvert,
            services: SimulatedService.thermometer(serial: "T-0003"),
            readings: [.temperature(mantissa: 3812, exponent: -2, isDated: true)],
            rhythm: rhythm(first: .seconds(1), pause: .seconds(2)), loop: loop, time: time)
        let seconds = clock.wallNanoseconds / 1_000_000_000
        var meter = GlucoseMeter(serial: "G-0004")
        for (hours, concentration) in [(25, 118), (13, 97), (7, 131), (1, 104)] as [(Int64, Int16)] {
            let past = seconds - hours * 3_600
            meter.measure(
                .milligramsPerDecilitre(concentration),
                at: DeviceTime(wallSeconds: past + Int64(zone.offset(at: past))) ?? time())
        }
        let glucose = SimulatedPeripheral(
            device: .simulated(4), sensor: meter,
            rhythm: rhythm(first: .milliseconds(2_500), pause: .milliseconds(2_500)), loop: loop, time: time)
        let scale = SimulatedPeripheral(
            device: .simulated(5),
            sensor: Scale(
                [
                    .init(
                        .init(14_480),
                        .init(
                            fat: 215, metabolism: 6_900, muscle: 412, bodyWater: 7_930, impedance: 5_123,
                            isSplit: true))
                ], serial: "S-0005"),
            rhythm: rhythm(first: .milliseconds(3_500), pause: .milliseconds(2_500)), loop: loop, time: time)
        let bonding = SimulatedPeripheral(
            device: .simulated(6), advert: .cuffAdvert, services: SimulatedService.cuff(serial: "B-0006"),
            readings: [.bloodPressure(systolic: 131, diastolic: 84, mean: 100, pulse: 73)],
            rhythm: rhythm(first: .seconds(1), pause: .seconds(2)), bonding: .init(.passkey(123_456)),
            loop: loop, time: time)
        thermometer.scanResponse = .name("Thermometer T-0001")
        cuff.scanResponse = .name("Cuff B-0002")
        stranger.scanResponse = .name("Thermometer T-0003")
        glucose.scanResponse = .name("Meter G-0004")
        scale.scanResponse = .name("Scale S-0005")
        bonding.scanResponse = .name("Cuff B-0006")
        return try SimulatedRadio(
            loop: loop, clock: clock,
            adapters: [SimulatedAdapter(index: 0, address: BluetoothAddress(value: 0x0000_5E00_5300))],
            peripherals: [thermometer, cuff, stranger, glucose, scale, bonding])
    }
}

extension DeviceAddress {
    /// C0:00:00:00:00:NN, a static random address.
    package static func simulated(_ number: UInt8) -> DeviceAddress {
        DeviceAddress(BluetoothAddress(value: 0xC000_0000_0000 + UInt64(number)), .random)
    }

    /// C0:FF:00:00:00:00, a device nearby that is nobody's.
    static let simulatedNeighbour = DeviceAddress(BluetoothAddress(value: 0xC0FF_0000_0000), .random)
}

extension [UInt8] {
    /// Flags (LE only, general discoverable) and a list of up to 13 services with assigned numbers.
    static func advert(services: [UInt16]) -> [UInt8] {
        [0x02, 0x01, 0x06, UInt8(clamping: 1 + 2 * services.count), 0x03] + services.flatMap(Wire.bytes)
    }

    /// A complete local name.
    static func name(_ name: String) -> [UInt8] {
        [UInt8(clamping: 1 + name.utf8.count), 0x09] + name.utf8
    }

    /// Flags (LE only, general discoverable) and a list of services: 1809.
    package static let thermometerAdvert: [UInt8] = [0x02, 0x01, 0x06, 0x03, 0x03, 0x09, 0x18]
    /// Flags and a list of services: 1810.
    package static let cuffAdvert: [UInt8] = [0x02, 0x01, 0x06, 0x03, 0x03, 0x10, 0x18]
}

extension SimulatedService {
    /// A Health Thermometer Service with device information and battery.
    package static func thermometer(serial: String) -> [SimulatedService] {
        [
            SimulatedService(0x1809, [Characteristic(0x2A1C, .indicate)]),
            deviceInformation(model: "Simulated Thermometer", serial: serial),
            SimulatedService(0x180F, [Characteristic(0x2A19, .read, value: [87])]),
        ]
    }

    /// A Blood Pressure Service with device information and battery.
    package static func cuff(serial: String) -> [SimulatedService] {
        [
            SimulatedService(
                0x1810,
                [
                    Characteristic(0x2A35, .indicate),
                    // Blood Pressure Feature: nothing optional.
                    Characteristic(0x2A49, .read, value: [0, 0]),
                ]),
            deviceInformation(model: "Simulated Cuff", serial: serial),
            SimulatedService(0x180F, [Characteristic(0x2A19, .read, value: [64])]),
        ]
    }

    /// A Device Information Service.
    package static func deviceInformation(model: String, serial: String) -> SimulatedService {
        SimulatedService(
            0x180A,
            [
                Characteristic(0x2A29, .read, value: Array("ingestd simulator".utf8)),
                Characteristic(0x2A24, .read, value: Array(model.utf8)),
                Characteristic(0x2A25, .read, value: Array(serial.utf8)),
                Characteristic(0x2A26, .read, value: Array("1.0".utf8)),
            ])
    }
}
