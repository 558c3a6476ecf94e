import Testing

@testable import PeripheralSimulator

/// The simulated sensors as state machines: what they do, given what is subscribed to and written.
struct SensorTests {
    private static let time = DeviceTime(year: 2026, month: 11, day: 20, hours: 8, minutes: 0, seconds: 0)
    private static let date: [UInt8] = [0xEA, 0x07, 11, 20, 8, 0, 0]

    /// The next steps, until there is none.
    private static func steps(
        _ sensor: inout some SimulatedSensor, _ subscriptions: Set<BluetoothUUID>, most: Int = 10
    ) -> [SensorStep] {
        var steps: [SensorStep] = []
        while steps.count < most, let step = sensor.next(subscriptions) { steps.append(step) }
        return steps
    }

    // MARK: Pulse oximeter

    @Test func oximeterSendsAValueEachSecondWhileItIsWornAndWanted() {
        var oximeter = PulseOximeter(values: [.init(97, 61), .init(98, 62)])
        oximeter.linked()
        #expect(Self.steps(&oximeter, []) == [])
        let second = SensorStep.wait(.seconds(1))
        let first = SensorStep.send(PulseOximeter.continuous, [0x00, 97, 0, 61, 0])
        let other = SensorStep.send(PulseOximeter.continuous, [0x00, 98, 0, 62, 0])
        #expect(
            Self.steps(&oximeter, [PulseOximeter.continuous], most: 6)
                == [second, first, second, other, second, first])
        oximeter.values = []
        #expect(Self.steps(&oximeter, [PulseOximeter.continuous]) == [])
    }

    @Test func oximeterIndicatesASpotCheckUntilItIsConfirmed() {
        var oximeter = PulseOximeter(spotChecks: [.init(.init(97, 61), at: Self.time)])
        let indication = SensorStep.send(PulseOximeter.spotCheck, [0x01, 97, 0, 61, 0] + Self.date)
        oximeter.linked()
        #expect(oximeter.next([PulseOximeter.spotCheck]) == indication)
        oximeter.linked()
        #expect(oximeter.next([PulseOximeter.spotCheck]) == indication)
        #expect(oximeter.tally.confirmed == 0)
        #expect(oximeter.next([PulseOximeter.spotCheck]) == nil)
        #expect(oximeter.tally == SensorTally(readings: 1, offered: 2, confirmed: 1))
    }

    @Test(
        arguments: [
            ([0x01, 0x01], 3), ([0x01, 0x06], 1), ([0x01, 0x03, 0x01, 0x00, 0x00], 1), ([0x04, 0x01], 1),
        ] as [([UInt8], Int)])
    func oximeterReportsItsStoredSpotChecksAllOrNone(request: [UInt8], count: Int) {
        var oximeter = PulseOximeter(stored: [.init(.init(97, 61)), .init(.init(96, 60))])
        let both: Set = [PulseOximeter.spotCheck, PulseOximeter.controlPoint]
        #expect(oximeter.written(request, to: PulseOximeter.controlPoint, subscriptions: both) == nil)
        let steps = Self.steps(&oximeter, both)
        #expect(steps.count == count)
        let end: [UInt8] =
            switch request {
            case [0x01, 0x01]: [0x06, 0x00, 0x01, 0x01]
            case [0x04, 0x01]: [0x05, 0x00, 0x02, 0x00]
            default: [0x06, 0x00, 0x01, 0x04]
            }
        #expect(steps.last == .send(PulseOximeter.controlPoint, end))
    }

    // MARK: Heart rate

    @Test func strapSendsRateAndIntervals() {
        var strap = HeartRateStrap(values: [.init(72, intervals: [853, 848]), .init(260, energy: 300)])
        strap.linked()
        #expect(
            Self.steps(&strap, [HeartRateStrap.measurement], most: 4) == [
                .wait(.seconds(1)),
                .send(HeartRateStrap.measurement, [0x16, 72, 0x55, 0x03, 0x50, 0x03]),
                .wait(.seconds(1)),
                // 16 bits, contact, energy.
                .send(HeartRateStrap.measurement, [0x0F, 0x04, 0x01, 0x2C, 0x01]),
            ])
        strap.isWorn = false
        #expect(Self.steps(&strap, [HeartRateStrap.measurement]) == [])
    }

    // MARK: Scale

    private static let weight = Scale.Weight(15_000, at: time, user: 2)
    private static let composition = Scale.Composition(
        fat: 215, at: time, metabolism: 6_900, bodyWater: 8_400, impedance: 5_123, weight: 15_000)
    private static let weightStep = SensorStep.send(Scale.weightMeasurement, [0x06, 0x98, 0x3A] + date + [2])
    private static let compositionStep = SensorStep.send(
        Scale.compositionMeasurement,
        [0x0A, 0x07, 215, 0] + date + [0xF4, 0x1A, 0xD0, 0x20, 0x03, 0x14, 0x98, 0x3A])
    private static let both: Set = [Scale.weightMeasurement, Scale.compositionMeasurement]

    @Test func scaleSendsItsPartsInTheOrderAndWithThePausesOfItsScript() {
        var script = Scale.Script()
        script.pause = .seconds(40)
        for isCompositionFirst in [false, true] {
            script.isCompositionFirst = isCompositionFirst
            var scale = Scale([.init(Self.weight, Self.composition)], script: script)
            scale.linked()
            let parts = [Self.weightStep, .wait(.seconds(40)), Self.compositionStep]
            #expect(Self.steps(&scale, Self.both) == (isCompositionFirst ? parts.reversed() : parts))
            #expect(scale.tally == SensorTally(readings: 2, offered: 2, confirmed: 2))
        }
    }

    @Test func scaleGivesWhatIsWantedOfAWeighing() {
        var script = Scale.Script()
        script.pause = .seconds(40)
        var scale = Scale([.init(Self.weight, Self.composition)], script: script)
        scale.linked()
        #expect(Self.steps(&scale, []) == [])
        #expect(Self.steps(&scale, [Scale.weightMeasurement]) == [Self.weightStep])
        #expect(scale.weighings.isEmpty)
        scale.script.isCompositionFirst = true
        scale.add(.init(Self.weight, Self.composition))
        scale.linked()
        // It waits for the other subscription first.
        let patience = SensorStep.waitForSubscription(atMost: .seconds(10))
        #expect(Self.steps(&scale, [Scale.weightMeasurement]) == [patience, Self.weightStep])
    }

    @Test(arguments: [false, true])
    func scaleGoesOnWithAWeighingThatWasBrokenOffOrRepeatsIt(repeatsWhole: Bool) {
        var script = Scale.Script()
        script.pause = .seconds(40)
        script.breaksBetween = true
        script.repeatsWhole = repeatsWhole
        var scale = Scale([.init(Self.weight, Self.composition)], script: script)
        scale.linked()
        #expect(Self.steps(&scale, Self.both, most: 2) == [Self.weightStep, .hangUp])
        scale.linked()
        #expect(
            Self.steps(&scale, Self.both)
                == (repeatsWhole
                    ? [Self.weightStep, .wait(.seconds(40)), Self.compositionStep] : [Self.compositionStep]))
        #expect(scale.weighings.isEmpty)
    }

    @Test func splitCompositionHasFlagsAndFatInBothPackets() {
        var composition = Self.composition
        composition.isSplit = true
        #expect(
            composition.packets == [
                [0x0A, 0x10, 215, 0] + Self.date + [0xF4, 0x1A],
                [0x00, 0x17, 215, 0, 0xD0, 0x20, 0x03, 0x14, 0x98, 0x3A],
            ])
    }

    // MARK: Continuous glucose

    @Test func checksumsAreThoseOfTheirCatalogue() {
        // CRC-16/MCRF4XX and CRC-16/CCITT-FALSE of "123456789".
        #expect(endToEndChecksum(Array("123456789".utf8)) == 0x6F91)
        #expect(OneTouchMeter.checksum(Array("123456789".utf8)) == 0x29B1)
    }

    @Test func glucoseSensorReportsSeveralRecordsInANotification() {
        var sensor = ContinuousGlucoseSensor(
            sessionStart: Self.time, [.init(5, 101), .init(10, 104), .init(15, 108)])
        sensor.script.recordsPerNotification = 2
        let both: Set = [ContinuousGlucoseSensor.measurement, ContinuousGlucoseSensor.controlPoint]
        let request: [UInt8] = [0x01, 0x03, 0x01, 0x06, 0x00]
        #expect(sensor.written(request, to: ContinuousGlucoseSensor.controlPoint, subscriptions: both) == nil)
        #expect(
            Self.steps(&sensor, both) == [
                .send(
                    ContinuousGlucoseSensor.measurement,
                    [0x06, 0x00, 104, 0x00, 10, 0x00, 0x06, 0x00, 108, 0x00, 15, 0x00]),
                .send(ContinuousGlucoseSensor.controlPoint, [0x06, 0x00, 0x01, 0x01]),
            ])
        #expect(sensor.recordsSent == 2)
        sensor.measure(.init(20, 111, trend: -1, quality: 90, status: 1))
        #expect(
            Self.steps(&sensor, both) == [
                .send(
                    ContinuousGlucoseSensor.measurement,
                    [0x0B, 0x83, 111, 0x00, 20, 0x00, 0x01, 0xFF, 0x0F, 90, 0x00])
            ])
    }

    @Test func checksumStandsAtTheEndAndCanBeWrong() {
        let record = ContinuousGlucoseSensor.Record(5, 101)
        let good = record.payload(checksum: true)
        #expect(good.count == 8)
        #expect(good[0] == 8)
        #expect(Wire.number(good, at: 6) == endToEndChecksum(Array(good.prefix(6))))
        let bad = record.payload(checksum: false)
        #expect(good.prefix(6) == bad.prefix(6))
        #expect(good != bad)
        var sensor = ContinuousGlucoseSensor(sessionStart: Self.time)
        sensor.script.hasChecksums = true
        for characteristic in sensor.services[0].characteristics where !characteristic.value.isEmpty {
            let value = characteristic.value
            #expect(Wire.number(value, at: value.count - 2) == endToEndChecksum(value.dropLast(2)))
        }
    }

    // MARK: Generic health sensor

    @Test func healthSensorSendsItsObservationsInSegmentsOnceItIsTold() {
        // ST's example, without its supplemental information.
        let observation = HealthSensor.Observation.numeric(
            type: 150_456, unit: 544, value: 98, seconds: 0x292B_9D72)
        let body: [UInt8] = [
            0x01, 0x16, 0x00, 0x23, 0x00, 0xB8, 0x4B, 0x02, 0x00, 0x22, 0x72, 0x9D, 0x2B, 0x29, 0x00, 0x00,
            0x06, 0x00, 0x01, 0x20, 0x02, 0x62, 0x00, 0x00, 0x00,
        ]
        #expect(observation.body == body)
        var sensor = HealthSensor([observation])
        sensor.linked()
        let both: Set = [HealthSensor.liveObservations, HealthSensor.controlPoint]
        #expect(Self.steps(&sensor, both) == [])
        #expect(
            sensor.written([0x01], to: HealthSensor.controlPoint, subscriptions: [HealthSensor.controlPoint])
                == ControlPointError.notSubscribed)
        #expect(
            sensor.written([0x09], to: HealthSensor.controlPoint, subscriptions: both)
                == ControlPointError.valueNotAllowed)
        #expect(sensor.written([0x01], to: HealthSensor.controlPoint, subscriptions: both) == nil)
        #expect(
            Self.steps(&sensor, both) == [
                .send(HealthSensor.controlPoint, [0x80]),
                .send(HealthSensor.liveObservations, [0x01] + body.prefix(19)),
                .send(HealthSensor.liveObservations, [0x06] + body.dropFirst(19)),
            ])
        #expect(sensor.tally.confirmed == 1)
    }

    @Test(
        arguments: [
            // All; from the second on; the count; an operation of the other services; a deletion.
            ([0x07, 0x01], 3, [0x08, 0, 3, 0, 0, 0]),
            ([0x07, 0x03, 0x01, 8, 0, 0, 0], 2, [0x08, 0, 2, 0, 0, 0]),
            ([0x07, 0x03, 0x01, 10, 0, 0, 0], 0, [0x06, 0, 0x07, 0x06]),
            ([0x04, 0x01], 0, [0x05, 0, 3, 0, 0, 0]),
            ([0x01, 0x01], 0, [0x06, 0, 0x01, 0x02]),
            ([0x02, 0x01], 0, [0x06, 0, 0x02, 0x02]),
        ] as [([UInt8], Int, [UInt8])])
    func healthSensorReportsWhatItHasStored(request: [UInt8], count: Int, answer: [UInt8]) {
        let stored = (0..<3).map {
            HealthSensor.Observation.numeric(type: 150_456, unit: 544, value: 95 + $0, seconds: 0)
        }
        var sensor = HealthSensor(stored: stored, firstNumber: 7)
        sensor.segmentLength = 200
        let both: Set = [HealthSensor.storedObservations, HealthSensor.recordAccess]
        #expect(
            sensor.written(request, to: HealthSensor.recordAccess, subscriptions: [HealthSensor.recordAccess])
                == ControlPointError.notSubscribed)
        #expect(sensor.written(request, to: HealthSensor.recordAccess, subscriptions: both) == nil)
        let first = UInt8(10 - count)
        #expect(
            Self.steps(&sensor, both)
                == (0..<UInt8(count)).map { place in
                    .send(
                        HealthSensor.storedObservations,
                        [0x03 | place << 2, first + place, 0, 0, 0]
                            + stored[3 - count + Int(place)].body)
                } + [.send(HealthSensor.recordAccess, answer)])
        #expect(sensor.deletions == (request[0] == 0x02 ? 2 : 0))
    }

    // MARK: OneTouch Verio

    @Test(
        arguments: [
            // The clock; the highest number; the count; records 7 and 8; 9 is not there.
            ([0x20, 0x02], [0x06, 0x01, 0x00, 0x00, 0x00]),
            ([0x0A, 0x02, 0x06], [0x06, 0x08, 0x00, 0x00, 0x00]),
            ([0x27, 0x00], [0x06, 0x02, 0x00]),
            ([0xB3, 0x07, 0x00], [0x06, 0x3C, 0x00, 0x00, 0x00, 0x66, 0x00, 0, 0, 0, 0, 0]),
            ([0xB3, 0x08, 0x00], [0x06, 0x78, 0x00, 0x00, 0x00, 0x2C, 0x01, 0, 0, 0, 0, 0]),
            ([0xB3, 0x09, 0x00], [0x09]),
            ([0x55], [0x07]),
        ] as [([UInt8], [UInt8])])
    func verioAnswersAFramedCommand(command: [UInt8], answer: [UInt8]) {
        var meter = OneTouchMeter(
            [.init(at: 946_684_859, 102), .init(at: 946_684_919, 300)], firstNumber: 7,
            wallSeconds: 946_684_800)
        func framed(_ payload: [UInt8]) -> [UInt8] {
            let body = [0x02, UInt8(payload.count + 7), 0x00, 0x03] + payload + [0x03]
            return [0x01] + body + Wire.bytes(OneTouchMeter.checksum(body))
        }
        meter.linked()
        let subscriptions: Set = [OneTouchMeter.notification]
        #expect(
            meter.written(framed(command), to: OneTouchMeter.command, subscriptions: subscriptions) == nil)
        #expect(
            Self.steps(&meter, subscriptions) == [
                .send(OneTouchMeter.notification, [0x81]), .send(OneTouchMeter.notification, framed(answer)),
            ])
        #expect(meter.commands == [command])
        _ = meter.written([0x81], to: OneTouchMeter.command, subscriptions: subscriptions)
        #expect(meter.acknowledged == 1)
    }

    @Test(
        arguments: [
            [], [0x01], [0x01, 0x02, 0x09, 0x00, 0x03, 0x20, 0x02, 0x03, 0x00, 0x00],
            [0x01, 0x02, 0x0A, 0x00, 0x03, 0x20, 0x02, 0x03, 0x55, 0x4E],
        ] as [[UInt8]])
    func verioIgnoresWhatIsNoFrame(frame: [UInt8]) {
        var meter = OneTouchMeter(wallSeconds: 946_684_800)
        _ = meter.written(frame, to: OneTouchMeter.command, subscriptions: [OneTouchMeter.notification])
        #expect(Self.steps(&meter, [OneTouchMeter.notification]) == [])
        #expect(meter.faults == 1)
    }

    // MARK: Intermediate values

    @Test func intermediateValuesComeWhenTheyAreWantedOrUnasked() {
        var cuff = IntermediateValues.cuff(pressures: [80, 120])
        let values: [[UInt8]] = [
            [0x00, 80, 0, 0xFF, 0x07, 0xFF, 0x07], [0x00, 120, 0, 0xFF, 0x07, 0xFF, 0x07],
        ]
        cuff.linked()
        #expect(Self.steps(&cuff, [0x2A35]) == [])
        #expect(
            Self.steps(&cuff, [0x2A36])
                == [.send(0x2A36, values[0]), .wait(.milliseconds(250)), .send(0x2A36, values[1])])
        cuff.areUnasked = true
        cuff.linked()
        #expect(Self.steps(&cuff, []) == [])
        #expect(
            Self.steps(&cuff, [0x2A35]) == [
                .notifyUnasked(0x2A36, values[0]), .wait(.milliseconds(250)),
                .notifyUnasked(0x2A36, values[1]),
            ])
        var thermometer = IntermediateValues.thermometer(temperatures: [361])
        thermometer.linked()
        #expect(Self.steps(&thermometer, [0x2A1E]) == [.send(0x2A1E, [0x00, 0x69, 0x01, 0x00, 0xFF])])
    }
}
