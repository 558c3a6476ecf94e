/// Six peripherals that have new readings for as long as they are told to, no two of which are equal, and
/// some of whose links break:
/// - C0:00:00:00:00:11, a thermometer whose readings have no date, two on a link;
/// - C0:00:00:00:00:12, a thermometer with dates;
/// - C0:00:00:00:00:13, a cuff with dates;
/// - C0:00:00:00:00:14, a scale: weights and, every second time, a body composition, most in two packets,
///   without dates;
/// - C0:00:00:00:00:15, a glucose meter with stored records, some with a context;
/// - C0:00:00:00:00:16, a continuous glucose sensor with stored records.
package actor BusyPeripherals {
    /// A reading that a peripheral has made, and has to be rid of.
    package struct Made: Sendable, Equatable {
        package let device: BluetoothAddress
        package let characteristic: BluetoothUUID
        /// What it sends, in this order.
        package let packets: [[UInt8]]
        /// Whether it is stored and reported on request, so that nothing confirms it alone.
        package let isStored: Bool
    }

    private enum Model: UInt8, CaseIterable {
        case undatedThermometer = 0x11
        case thermometer
        case cuff
        case scale
        case meter
        case sensor

        var isStored: Bool { self == .meter || self == .sensor }
    }

    /// Between two looks at whether somebody has measured.
    private static let pace = Duration.milliseconds(50)
    /// Readings that a peripheral may have left before it makes none.
    private static let mostWaiting = 3

    package nonisolated let peripherals: [SimulatedPeripheral]
    private let clock: any GatewayClock
    private let made: @Sendable (Made) -> Void
    private var random: SplitMix
    private var counts: [Model: Int] = [:]
    private var isResting = false

    /// - Parameters:
    ///   - seed: of what is measured when, and of which links break.
    ///   - made: told of each reading before it can be read.
    package init(
        seed: UInt64, loop: RadioLoop, clock: any GatewayClock, made: @escaping @Sendable (Made) -> Void
    ) {
        random = SplitMix(state: seed)
        self.clock = clock
        self.made = made
        let start = clock.wallNanoseconds / 1_000_000_000
        peripherals = Model.allCases.map { Self.peripheral($0, loop: loop, clock: clock, start: start) }
    }

    /// Measures and wakes up until the task is cancelled.
    package func run() async throws {
        while true {
            for (model, peripheral) in zip(Model.allCases, peripherals) { await live(model, peripheral) }
            try await clock.sleep(until: clock.now + Self.pace)
        }
    }

    /// Measures nothing any more, and breaks no links. What was measured is still given.
    package func rest() {
        isResting = true
    }

    private func live(_ model: Model, _ peripheral: SimulatedPeripheral) async {
        let waiting = await peripheral.waiting
        if !isResting, waiting < Self.mostWaiting, Int.random(in: 0..<4, using: &random) == 0 {
            await measure(model, peripheral)
        } else if waiting == 0, !model.isStored || Int.random(in: 0..<10, using: &random) > 0 {
            // A memory is offered now and then all the same: that a record was sent does not say that it
            // was kept.
            return
        }
        if !isResting, Int.random(in: 0..<40, using: &random) == 0 {
            await peripheral.script([.dropping(after: Int.random(in: 0..<16, using: &random))])
        }
        await peripheral.wakeUp()
    }

    private func measure(_ model: Model, _ peripheral: SimulatedPeripheral) async {
        let number = counts[model, default: 0]
        counts[model] = number + 1
        let time = Self.time(clock.wallNanoseconds / 1_000_000_000)
        switch model {
        case .undatedThermometer, .thermometer:
            // 30.0000 °C and up.
            let reading = SimulatedReading.temperature(
                mantissa: 300_000 + Int32(clamping: number), exponent: -4, isDated: model == .thermometer)
            await give(reading, at: time, peripheral)
        case .cuff:
            let reading = SimulatedReading.bloodPressure(
                systolic: 90 + UInt16(number % 100), diastolic: 50 + UInt16(number / 100 % 40), mean: 70,
                pulse: 40 + UInt16(number / 4_000 % 200))
            await give(reading, at: time, peripheral)
        case .scale: await weigh(number, peripheral)
        case .meter: await store(glucose: number, at: time, peripheral)
        case .sensor: await store(continuousGlucose: number, peripheral)
        }
    }

    private func give(
        _ reading: SimulatedReading, at time: DeviceTime, _ peripheral: SimulatedPeripheral
    ) async {
        let payload = reading.payload(time)
        tell(peripheral, reading.characteristic, [payload])
        await peripheral.measure([SimulatedReading(reading.characteristic, payload: payload)])
    }

    /// 50 kg and up, in 5 g.
    private func weigh(_ number: Int, _ peripheral: SimulatedPeripheral) async {
        let weight = Scale.Weight(10_000 + UInt16(number % 50_000))
        tell(peripheral, Scale.weightMeasurement, [weight.payload])
        var weighing = Scale.Weighing(weight)
        if number % 2 == 0 {
            let composition = Scale.Composition(
                fat: 200, metabolism: 5_000 + UInt16(number % 50_000),
                impedance: 4_000 + UInt16(number % 50_000), isSplit: number % 3 > 0)
            tell(peripheral, Scale.compositionMeasurement, composition.packets)
            weighing.composition = composition
        }
        await peripheral.change(Scale.self) { [weighing] in $0.add(weighing) }
    }

    private func store(glucose number: Int, at time: DeviceTime, _ peripheral: SimulatedPeripheral) async {
        let record = GlucoseMeter.Record(
            sequence: UInt16(truncatingIfNeeded: number), time: time,
            concentration: .milligramsPerDecilitre(Int16(60 + number % 400)),
            context: number % 3 == 0 ? GlucoseMeter.Context(meal: 1) : nil)
        tell(peripheral, GlucoseMeter.measurement, [record.payload], isStored: true)
        if let context = record.contextPayload {
            tell(peripheral, GlucoseMeter.measurementContext, [context], isStored: true)
        }
        await peripheral.change(GlucoseMeter.self) { $0.add(record) }
    }

    private func store(continuousGlucose number: Int, _ peripheral: SimulatedPeripheral) async {
        let record = ContinuousGlucoseSensor.Record(
            UInt16(truncatingIfNeeded: number), Int16(60 + number % 300))
        let payload = record.payload(checksum: nil)
        tell(peripheral, ContinuousGlucoseSensor.measurement, [payload], isStored: true)
        await peripheral.change(ContinuousGlucoseSensor.self) { $0.measure(record) }
    }

    private func tell(
        _ peripheral: SimulatedPeripheral, _ characteristic: BluetoothUUID, _ packets: [[UInt8]],
        isStored: Bool = false
    ) {
        made(
            Made(
                device: peripheral.device.address, characteristic: characteristic, packets: packets,
                isStored: isStored))
    }

    private static func peripheral(
        _ model: Model, loop: RadioLoop, clock: any GatewayClock, start: Int64
    ) -> SimulatedPeripheral {
        let device = DeviceAddress.simulated(model.rawValue)
        let serial = "K-\(model.rawValue)"
        // It wakes up when it is told to; before that it is silent for longer than the shortest
        // `quiet_period`, 100 ms.
        let rhythm = SimulatedPeripheral.Rhythm(
            shortestSleep: .milliseconds(250), patience: .seconds(5), advertInterval: .milliseconds(30),
            linger: .milliseconds(30), idle: .milliseconds(300))
        let time: @Sendable () -> DeviceTime = { Self.time(clock.wallNanoseconds / 1_000_000_000) }
        func simple(
            _ advert: [UInt8], _ services: [SimulatedService], readingsPerWakeUp: Int = 1
        ) -> SimulatedPeripheral {
            SimulatedPeripheral(
                device: device, advert: advert, services: services, readings: [],
                readingsPerWakeUp: readingsPerWakeUp, rhythm: rhythm, loop: loop, time: time)
        }
        func sensing(_ sensor: some SimulatedSensor) -> SimulatedPeripheral {
            SimulatedPeripheral(device: device, sensor: sensor, rhythm: rhythm, loop: loop, time: time)
        }
        switch model {
        case .undatedThermometer:
            return simple(
                .thermometerAdvert, SimulatedService.thermometer(serial: serial), readingsPerWakeUp: 2)
        case .thermometer: return simple(.thermometerAdvert, SimulatedService.thermometer(serial: serial))
        case .cuff: return simple(.cuffAdvert, SimulatedService.cuff(serial: serial))
        case .scale:
            var script = Scale.Script()
            script.hangsUp = true
            return sensing(Scale(script: script, serial: serial))
        case .meter: return sensing(GlucoseMeter(serial: serial))
        case .sensor:
            // Its records are a minute apart; so that none of some ten thousand is from the future, and the
            // session, of 14 days, is not over.
            return sensing(
                ContinuousGlucoseSensor(sessionStart: Self.time(start - 12 * 86_400), serial: serial))
        }
    }

    /// A moment that a device can name.
    private static func time(_ seconds: Int64) -> DeviceTime {
        DeviceTime(wallSeconds: seconds)
            ?? DeviceTime(year: 2000, month: 1, day: 1, hours: 0, minutes: 0, seconds: 0)
    }
}

/// SplitMix64 (Steele, Lea and Flood, 2014): the same numbers from the same seed.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
